"""No mask of a transfer serves twice: in whole runs of each kind, and over all sessions of runs that are killed.

Who goes on makes new transfers under new names, even where a machine that is put back draws as it did before.
`tests/integration/test_simulation.py` looks in the same way at whatever it lets happen.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.jobs import Align, Job, Train
from protocols.two_party.inputs import PartyInputs
from tests.party.node.test_going_on import CASES, Killed, Meeting
from tests.party.node.test_order_of_effects import JOBS, of_other_people
from tests.protocols.ciphers.paillier.chance import Chance
from tests.support import offering, sessions
from tests.support.examples import few
from tests.support.mask_recorder import ALONE, ONCE, MaskRecorder
from tests.support.offering import Offering
from tests.support.parties import Case, make_local
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, with_terms

Killing = Callable[[str, int], list[int]]
"""Plays a session in which a party is killed before its n-th message; returns how many messages each has sent."""


@pytest.mark.parametrize(
    "job", [name for name in JOBS if "dot products" not in name and not {"randomized", "mined"} & set(name.split())]
)
def test_no_mask_serves_twice_in_a_whole_run(monkeypatch: pytest.MonkeyPatch, job: str) -> None:
    recorder = MaskRecorder(monkeypatch)
    JOBS[job]()
    assert 1 <= recorder.offsets <= 2  # one for each direction that is used
    assert recorder.times() == ONCE


def meeting(own: Sessions, job: Job) -> Killing:
    def play(killed: str, at: int) -> list[int]:
        one = Meeting(own, killed, at, job=job)
        ends = one.play()
        assert not killed or isinstance(ends[killed], Killed)
        return [len(one.sent[name]) for name in NAMES]

    return play


def predicting(folder: Path) -> Killing:
    pair = Offering(folder)

    def play(killed: str, at: int) -> list[int]:
        pair.killed, pair.at = killed, at
        ends = dict(zip(NAMES, pair.play(), strict=True))
        assert not killed or isinstance(ends[killed], offering.Killed)
        return [pair.sent[name] for name in NAMES]

    return play


def training(folder: Path, way: str) -> Killing:
    case = with_terms(CASE, **CASES[way])
    return meeting(Sessions(folder, case, ANY_ODDS), Train(case.terms))


class OfOtherPeople(Sessions):
    """Each lists a person whom the other does not."""

    def local(self, party: str) -> PartyInputs:
        return replace(super().local(party), records=of_other_people(self.case, party).records)


RUNS: dict[str, Callable[[Path], Killing]] = {
    "hybrid": lambda folder: training(folder, "windows"),
    "smc": lambda folder: training(folder, "smc"),
    "naive Bayes": lambda folder: training(folder, "naive Bayes"),
    "an alignment": lambda folder: meeting(OfOtherPeople(folder, CASE, 'least_overlap = "1/2"\n'), Align()),
    "a prediction": predicting,
}


def draw_as_before(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these parties' chance be the same in each session, as that of machines that are put back."""
    bring = make_local

    def brought(case: Case, party: str) -> PartyInputs:
        local = bring(case, party)
        if party not in names:
            return local
        return replace(local, secrets=replace(local.secrets, randomness=Chance(NAMES.index(party))))

    monkeypatch.setattr(sessions, "make_local", brought)


def kill_twice_and_go_on(folder: Path, run: str) -> None:
    for name in ("rehearsal", "run"):
        (folder / name).mkdir()
    alice, bob = RUNS[run](folder / "rehearsal")("", -1)
    play = RUNS[run](folder / "run")
    play("alice", alice * 2 // 3)
    play("bob", bob * 2 // 3)
    play("", -1)


@pytest.mark.parametrize("run", few([*RUNS], 2))
def test_no_mask_serves_twice_where_a_run_is_killed_and_goes_on_from_a_machine_that_was_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    recorder = MaskRecorder(monkeypatch)
    draw_as_before(monkeypatch, "alice")
    kill_twice_and_go_on(tmp_path, run)
    assert recorder.offsets >= 2
    assert recorder.times() <= ONCE | ALONE


@pytest.mark.parametrize("run", few([*RUNS], 2))
def test_were_both_put_back_masks_would_serve_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str) -> None:
    """The control, with names of sessions that come again; one party alone cannot bring it about."""
    recorder = MaskRecorder(monkeypatch)
    draw_as_before(monkeypatch, *NAMES)
    kill_twice_and_go_on(tmp_path, run)
    assert not recorder.times() <= ONCE | ALONE
