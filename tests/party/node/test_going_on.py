"""A run that is interrupted goes on from the last thing that both remember, and ends with the same model."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.files import locked_folder
from party.models.kept_model import KeptModel
from party.node.session import Host, Report, run_session
from party.records.journal import RunState, recorded_runs
from party.settings.party import read_party_config
from party.transport.channel import PagedChannel
from protocols.errors import DeviationError
from protocols.role import Message
from protocols.terms import Terms, Train
from tests.support.cases import correlated
from tests.support.channels import memory_channels
from tests.support.parties import Case, make_terms
from tests.support.sessions import NAMES, Sessions, with_terms

CASE = Case(
    sizes={"alice": (2, 3), "bob": (2, 2)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 3, 2, 2, 2), 80, seed=1, flips=0.5),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(7, 10), omega=1),
)
ANY_ODDS = 'odds = "any"\n'


class Killed(BaseException):
    """Ends a party's session as a kill does: nobody is told."""


@dataclass
class Meeting:
    """A session of both in one process, in which one of them may be killed before or after its n-th message."""

    sessions: Sessions
    killed: str = ""
    at: int = -1
    fresh: bool = False
    terms: Terms | None = None
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
            if name == self.killed and len(self.sent[name]) == self.at:
                raise Killed
            self.sent[name].append(message)
            send(message)

        channel.send = counted  # type: ignore[method-assign]
        job = Train(self.terms or case.terms) if name == "bob" else None
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


CASES: dict[str, dict[str, Any]] = {
    "gains": {},
    "copies": {"rank": "copies"},
    "smc by dot products": {"method": "smc", "engine": "dot_product"},
    "mined": {"method": "randomized"},
    "pruned": {"prune": Fraction(1, 5)},
    "noise": {"method": "smc", "noise": Fraction(5), "max_depth": 2, "omega": 1},
}


@pytest.mark.parametrize("way", CASES)
def test_killed_before_any_message_a_run_goes_on_and_ends_with_the_same_model(tmp_path: Path, way: str) -> None:
    case = with_terms(CASE, **CASES[way])
    (tmp_path / "whole").mkdir()
    whole = Meeting(Sessions(tmp_path / "whole", case, ANY_ODDS))
    assert all(isinstance(end, Report) for end in whole.play().values())
    expected = models(whole.sessions)
    assert len(expected) == 1
    for name in NAMES:
        for at in range(len(whole.sent[name])):
            folder = tmp_path / f"{name}-{at}"
            folder.mkdir()
            sessions = Sessions(folder, case, ANY_ODDS)
            first = Meeting(sessions, name, at).play()
            assert isinstance(first[name], Killed)
            assert not isinstance(first["alice" if name == "bob" else "bob"], DeviationError)
            second = Meeting(sessions)
            ends = second.play()
            assert all(isinstance(end, Report) for end in ends.values()), (name, at, ends)
            assert models(sessions) == expected
            for each in states(sessions).values():
                assert each[-1] is RunState.DONE
