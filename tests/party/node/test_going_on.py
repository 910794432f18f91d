"""A run that is interrupted goes on from the last thing that both remember, and ends with the same model."""

import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from party.errors import PausedError, PeerCancelledError, PeerPausedError, RunCancelledError
from party.files import locked_folder
from party.models.any_file import KeptModel
from party.node import runs
from party.node.players import Host
from party.node.session import Report, run_session
from party.records.journal import JOURNAL_FILE, Journal, RunRecord, RunState, cancel_run, open_journal, recorded_runs
from party.records.run_entries import RunEntries
from party.records.tally import Revealed, dealings
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from protocols.errors import CotallyError, DisagreementError
from protocols.facts import CopyFact
from protocols.jobs import Job, Train
from protocols.messages import (
    BaseOffer,
    ClassCounts,
    CountShares,
    DisguisedPage,
    ExactCounts,
    MaskedPage,
    ModelDigest,
    OpenedPage,
)
from protocols.noise.both import TreeNoise
from protocols.oblivious.extension import Chooser
from protocols.role import Fact, Message, Part
from protocols.terms import Impurity, Learner, Method, Reveal, RuleTerms, Terms
from protocols.two_party.bounds import most_counts
from protocols.two_party.noise import tree_noise_of
from tests.support import sessions as played
from tests.support.channels import memory_channels
from tests.support.examples import few
from tests.support.parties import Case
from tests.support.processes import wait_for
from tests.support.sessions import ANY_ODDS, NAMES, Sessions, contents, of_kind, trained, with_terms

CASE = with_terms(played.CASE, max_depth=1)


class Killed(BaseException):
    """Ends a party's session as a kill does: the peer hears nothing."""


@dataclass
class Meeting:
    """A session of both in one process, in which one of them may be killed before its n-th message of a kind."""

    sessions: Sessions
    killed: str = ""
    at: int = -1
    fresh: bool = False
    terms: Terms | None = None
    job: Job | None = None
    kind: type[Message] = Message
    heard: bool = False  # it waits for as many of the peer's first
    withheld: Message | None = None
    sent: dict[str, list[Message]] = field(default_factory=lambda: {name: [] for name in NAMES})

    def play(self) -> dict[str, Report | BaseException]:
        ours, theirs = memory_channels()
        ends = dict(zip(NAMES, (ours, theirs), strict=True))
        with ThreadPoolExecutor(2) as pool:
            parts = {name: pool.submit(self._part, name, channel) for name, channel in ends.items()}
            return {name: part.exception() or part.result() for name, part in parts.items()}

    def _part(self, name: str, channel: PagedChannel) -> Report:
        folder, case = self.sessions.folder / name, self.sessions.case
        config = read_party_config(folder / "party.toml", case.terms.key_bits)
        send = channel.send

        def counted(message: Message) -> None:
            alike = [each for each in self.sent[name] if isinstance(each, self.kind)]
            if name == self.killed and len(alike) == self.at and isinstance(message, self.kind):
                self.withheld = message
                if self.heard:
                    (peer,) = set(NAMES) - {name}
                    wait_for(lambda: sum(isinstance(each, self.kind) for each in self.sent[peer]) > self.at)
                raise Killed
            self.sent[name].append(message)
            send(message)

        channel.send = counted  # type: ignore[method-assign]
        job = (self.job or Train(self.terms or case.terms)) if name == "bob" else None
        host = Host(kept=KeptModel(lambda _: folder / "model.json"), fresh=self.fresh)
        with locked_folder(folder) as held, channel:
            return run_session(self.sessions.local(name), config, held, channel, job, host)


def models(sessions: Sessions) -> set[bytes]:
    return {(sessions.folder / name / "model.json").read_bytes() for name in NAMES}


def states(sessions: Sessions) -> dict[str, list[RunState]]:
    return {
        name: [each.state for each in recorded_runs(sessions.folder / name, sessions.local(name).secrets.coins)]
        for name in NAMES
    }


SOUGHT = RuleTerms(Fraction(1, 3), 2, 60)
RULES: dict[str, Any] = {"learner": Learner.RULES, "method": "smc", "rules": SOUGHT}
CASES: dict[str, dict[str, Any]] = {
    "a tree alone in windows": {"reveal": Reveal.TREE, "omega": 1, "max_depth": 2},
    "windows": {},
    "windows by dot products": {"counting": "paillier"},
    "all candidates": {"omega": None},
    "naive Bayes": {"method": "smc", "learner": Learner.NAIVE_BAYES, "test": Fraction(1, 5)},
    "smc by dot products": {"method": "smc", "counting": "paillier"},
    "mined": {"method": "randomized"},
    "smc": {"method": "smc"},
    "rules by sets": {**RULES, "reveal": Reveal.SETS, "rules": replace(SOUGHT, min_threshold=Fraction(1, 3))},
    "rules": RULES,
    "noise": {"method": "smc", "noise": Fraction(5), "max_depth": 2, "omega": 1},
}


def begun(folder: Path, case: Case) -> Sessions:
    folder.mkdir()
    return Sessions(folder, case, ANY_ODDS + "most_runs = 1\n")


def assert_done(sessions: Sessions, ends: dict[str, Report | BaseException]) -> None:
    assert all(isinstance(end, Report) for end in ends.values()), ends
    assert len(models(sessions)) == 1


def until(sessions: Sessions, name: str, kind: type[Message]) -> Meeting:
    """Kill a party before it sends its first message of a kind."""
    meeting = Meeting(sessions, name, 0, kind=kind)
    assert isinstance(meeting.play()[name], Killed)
    return meeting


def kinds(meeting: Meeting) -> set[type[Message]]:
    return {type(message) for name in NAMES for message in meeting.sent[name]}


@pytest.mark.parametrize("way", few(list(CASES), 4))
def test_killed_before_any_message_a_run_goes_on_and_ends_with_the_same_model(tmp_path: Path, way: str) -> None:
    """Every seventh message at most; `scripts/kill` kills at any moment."""
    case = with_terms(CASE, **CASES[way])
    whole = Meeting(begun(tmp_path / "whole", case))
    assert_done(whole.sessions, whole.play())
    moments = [(name, at) for name in NAMES for at in range(len(whole.sent[name]))]
    for name, at in few(moments[len(way) % 7 :: 7], 12):
        sessions = begun(tmp_path / f"{name}-{at}", case)
        assert isinstance(Meeting(sessions, name, at).play()[name], Killed)
        assert_done(sessions, Meeting(sessions).play())
        assert models(sessions) == models(whole.sessions)
        assert [each[-1] for each in states(sessions).values()] == [RunState.DONE] * 2


@pytest.mark.parametrize("keyed", [True, False], ids=["keyed noise", "fresh noise"])
def test_a_partner_that_kills_itself_at_every_opening_hears_one_answer_and_epsilon_is_spent_once(
    tmp_path: Path, keyed: bool
) -> None:
    """It has heard our share, and we not its own: the level is opened again. Fresh noise would give other answers."""
    noisy = with_terms(
        CASE, method=Method.SMC, reveal=Reveal.TREE, max_depth=2, noise=Fraction(1, 10), impurity=Impurity.GINI
    )
    sessions, heard = Sessions(tmp_path, noisy, ANY_ODDS), list[set[bytes]]()

    def fresh(*arguments: Any) -> TreeNoise:
        drawn = tree_noise_of(*arguments)
        assert drawn is not None
        return TreeNoise(secrets.token_bytes(32), b"anything", drawn.spending)

    with patch("protocols.two_party.secret.tree_noise_of", tree_noise_of if keyed else fresh):
        for passed in (0, 1) if keyed else (0, 1, 1):
            heard.append(set())
            for sent in (passed, 0):
                meeting = Meeting(sessions, "bob", sent, kind=OpenedPage, heard=True)
                assert isinstance(meeting.play()["bob"], Killed)
                (*_, ours) = [message.words for message in meeting.sent["alice"] if isinstance(message, OpenedPage)]
                assert isinstance(meeting.withheld, OpenedPage)
                heard[-1].add(bytes(one ^ other for one, other in zip(ours, meeting.withheld.words, strict=True)))
        assert (max(map(len, heard)) == 1) == keyed
        if keyed:
            assert_done(sessions, Meeting(sessions).play())
            spent = [entry["spent"] for entry in of_kind(contents(sessions, "alice"), "release") if entry["spent"]]
            assert len(spent) == 1
            assert list(spent[0].values()) == ["1/2"]  # of the held-out table


OPENED = [(Fraction(1), 3), (Fraction(1), 4), (None, 3)]  # 4: the bound taken out


@pytest.mark.parametrize(("noise", "most"), few(OPENED, 2))
def test_what_has_noise_is_opened_three_times_and_no_more(tmp_path: Path, noise: Fraction | None, most: int) -> None:
    kind, impurity = (OpenedPage, Impurity.GINI) if noise else (CountShares, Impurity.INFORMATION_GAIN)
    case = with_terms(CASE, method=Method.SMC, reveal=Reveal.TREE, max_depth=1, noise=noise, impurity=impurity)
    sessions, heard = Sessions(tmp_path, case, ANY_ODDS), list[bool]()
    with patch("party.node.policy.MOST_OPENINGS", most):
        for more in range(4):  # in runs on other terms too: the noise is the same
            other: dict[str, Any] = {"key_bits": case.terms.key_bits + more} if noise else {"most_bits": 1000 + more}
            terms = replace(case.terms, **other)
            meeting = Meeting(sessions, "bob", 0, kind=kind, heard=True, terms=terms, fresh=True)
            ends = meeting.play()
            heard.append(isinstance(ends["bob"], Killed))
            assert heard[-1] or getattr(ends["alice"], "field", None) == "budget", ends
    assert sum(heard) == most


def test_a_run_that_goes_on_makes_new_transfers_and_reveals_nothing_again(tmp_path: Path) -> None:
    sessions, whole = Sessions(tmp_path, CASE, ANY_ODDS), begun(tmp_path / "rehearsal", CASE)
    first, second = until(sessions, "bob", ModelDigest), Meeting(sessions)
    assert_done(sessions, second.play())
    assert not kinds(second) & {DisguisedPage, ClassCounts, MaskedPage, OpenedPage}
    assert len([m for m in second.sent["alice"] + second.sent["bob"] if isinstance(m, ExactCounts)]) == 1  # accuracy
    Meeting(whole).play()
    for name in NAMES:
        before, after = ([m for m in each.sent[name] if isinstance(m, BaseOffer)] for each in (first, second))
        assert len(before) == len(after) == 1
        assert before[0].nonce != after[0].nonce
        assert before[0].point != after[0].point
        amounts = []
        for each in (sessions, whole):
            with each.ledger(name) as ledger:
                (dealing,) = dealings(ledger.entries())
            counts = [Revealed.of(side).counts for side in (dealing.told, dealing.learned)]
            amounts.append((counts, len(dealing.runs), dealing.told.windows))
        assert amounts[0] == amounts[1]


def test_another_job_waits_for_a_run_that_has_not_ended_unless_one_side_wants_to_begin_again(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "alice", OpenedPage)
    other = with_terms(CASE, omega=2).terms
    ends = Meeting(sessions, terms=other).play()
    assert all(isinstance(end, DisagreementError) and end.field == "run" for end in ends.values())
    assert "on other terms (omega) has not ended" in str(ends["bob"])
    assert states(sessions) == {name: [RunState.OPEN] for name in NAMES}
    assert_done(sessions, Meeting(sessions, terms=other, fresh=True).play())
    assert states(sessions) == {name: [RunState.CANCELLED, RunState.DONE] for name in NAMES}


def test_a_fresh_run_sends_the_copies_of_the_first(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    first = until(sessions, "bob", ModelDigest)
    second = Meeting(sessions, fresh=True)
    assert_done(sessions, second.play())
    for name in NAMES:
        copies = [[m.codes for m in each.sent[name] if isinstance(m, DisguisedPage)] for each in (first, second)]
        assert copies[0] == copies[1] != []


def test_other_data_under_a_known_run_are_refused_and_the_run_stays_open(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "alice", OpenedPage)
    codes = CASE.codes.copy()
    codes[0, 2] ^= 1
    changed = Sessions(tmp_path, replace(CASE, codes=codes))
    ends = Meeting(changed).play()
    assert all(isinstance(end, DisagreementError) for end in ends.values()), ends
    assert_done(sessions, Meeting(sessions).play())


def test_a_cancelled_run_ends_on_both_sides_and_may_begin_again(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "alice", OpenedPage)
    secret = sessions.local("alice").secrets.coins
    with open_journal(tmp_path / "alice", secret) as journal:
        (record,) = journal.runs()
        cancel_run(journal, record.run, "2026-01-01T00:00:00Z")
        assert not list(journal.recall(record.run, Part.COPY))
    assert_done(sessions, Meeting(sessions).play())
    assert states(sessions) == {name: [RunState.CANCELLED, RunState.DONE] for name in NAMES}


def test_a_run_that_is_cancelled_while_it_is_played_stops_at_once_and_the_peer_hears_of_it(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    meeting = Meeting(sessions)
    note = RunEntries.note

    def cancelling(pages: RunEntries, fact: Fact) -> None:
        note(pages, fact)
        if pages.local.party == "alice" and isinstance(fact, CopyFact):
            with open_journal(tmp_path / "alice", pages.local.secrets.coins) as journal:
                if journal.runs()[-1].state is RunState.OPEN:
                    cancel_run(journal, pages.run, "2026-01-01T00:00:00Z")

    with patch.object(RunEntries, "note", cancelling):
        ends = meeting.play()
    assert isinstance(ends["alice"], RunCancelledError)
    assert isinstance(ends["bob"], PeerCancelledError)
    assert states(sessions) == {name: [RunState.CANCELLED] for name in NAMES}


def test_a_run_that_is_still_being_written_down_is_not_taken_for_a_cancelled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk may take longer than the time between two looks at whether the run was cancelled."""
    begin = Journal.begin

    def begin_slowly(journal: Journal, record: RunRecord) -> None:
        time.sleep(0.2)
        begin(journal, record)

    monkeypatch.setattr(runs, "CANCEL_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Journal, "begin", begin_slowly)
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    assert_done(sessions, Meeting(sessions).play())


def test_a_run_that_is_given_up_for_another_does_not_end_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "bob", ModelDigest)
    (tmp_path / "bob" / JOURNAL_FILE).unlink()
    change = Journal.change

    def change_slowly(journal: Journal, run: str, now: str, **changes: object) -> RunRecord:
        changed = change(journal, run, now, **changes)
        time.sleep(0.2 if changed.state is RunState.CANCELLED else 0)
        return changed

    monkeypatch.setattr(runs, "CANCEL_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Journal, "change", change_slowly)
    assert_done(sessions, Meeting(sessions).play())
    assert states(sessions) == {"alice": [RunState.CANCELLED, RunState.DONE], "bob": [RunState.DONE]}


def test_an_older_journal_put_back_costs_time_and_nothing_else(tmp_path: Path) -> None:
    """What one side remembers and the other has lost is asked again, and is the same."""
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "bob", OpenedPage)
    shutil.copy(tmp_path / "bob" / JOURNAL_FILE, tmp_path / "older")
    later = Meeting(begun(tmp_path / "again", CASE))
    later.play()
    end = len(later.sent["alice"]) - 3
    assert isinstance(Meeting(sessions, "alice", end - 4).play()["alice"], Killed)
    shutil.copy(tmp_path / "older", tmp_path / "bob" / JOURNAL_FILE)
    assert_done(sessions, Meeting(sessions).play())
    assert models(sessions) == models(later.sessions)


@pytest.mark.parametrize("lost", NAMES)
def test_a_lost_journal_lets_the_run_begin_again(tmp_path: Path, lost: str) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    until(sessions, "alice", OpenedPage)
    (tmp_path / lost / JOURNAL_FILE).unlink()
    assert_done(sessions, Meeting(sessions).play())


def test_an_interrupted_run_is_paused_for_the_one_that_is_left(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    meeting = until(sessions, "bob", OpenedPage)
    assert kinds(meeting)
    ends = Meeting(sessions, "alice", 6).play()
    assert isinstance(ends["bob"], PausedError)
    assert isinstance(ends["bob"].__cause__, PeerPausedError)
    assert "is paused, and goes on when both start the same again" in str(ends["bob"])


def test_a_budget_of_counts_is_not_spent_twice_by_a_run_that_goes_on(tmp_path: Path) -> None:
    whole = Meeting(begun(tmp_path / "whole", with_terms(CASE, method=Method.SMC, max_depth=1)))
    whole.play()
    agreed = trained(whole.sessions.run()[0]).agreed
    domains = [attribute.size for attribute in agreed.schema.attributes]
    most = most_counts(domains, agreed.schema.classes, 64, agreed.terms)
    folder = tmp_path / "bounded"
    folder.mkdir()
    sessions = Sessions(folder, whole.sessions.case, ANY_ODDS + f"most_counts = {most}\n")
    until(sessions, "bob", ModelDigest)
    assert_done(sessions, Meeting(sessions).play())


@pytest.mark.parametrize("fault", ["another bit", "a byte too few"])
def test_transfers_that_fail_a_check_or_have_another_length_end_in_one_line_on_both_screens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """The run is over at both, and the next one makes the model."""
    sessions = Sessions(tmp_path, with_terms(CASE, method=Method.SMC), ANY_ODDS)
    choose = Chooser._choose

    def spoilt(chooser: Chooser, *page: Any) -> Any:
        sent, rows = choose(chooser, *page)
        matrix = sent.matrix[:-1] + bytes([sent.matrix[-1] ^ 1]) if fault == "another bit" else sent.matrix[:-1]
        return replace(sent, matrix=matrix), rows

    with monkeypatch.context() as patched:
        patched.setattr(Chooser, "_choose", spoilt)
        ends = Meeting(sessions).play()
    assert all(isinstance(end, CotallyError) for end in ends.values()), ends
    said = {name: str(end) for name, end in ends.items()}
    assert not any("\n" in line for line in said.values())
    assert ("failed a check" if fault == "another bit" else "of another length") in said["bob"] + said["alice"]
    assert states(sessions) == {name: [RunState.ABORTED] for name in NAMES}
    assert_done(sessions, Meeting(sessions).play())
