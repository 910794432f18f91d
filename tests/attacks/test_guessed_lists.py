"""A partner knows all but two of Alice's ids, and brings one guess of the whole list per session (DESIGN 3).

It minds no wait of its own: its clock is days further on at each session.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import pytest

from party.node.session import Report
from party.records import comparisons
from party.records.tally import dealings
from party.show.ledger import dealings_lines
from party.transport.channel import PagedChannel
from protocols.jobs import Job
from protocols.messages import JointDigests
from protocols.role import Message
from protocols.terms import Method
from protocols.two_party.inputs import PartyInputs
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, with_terms

M = TypeVar("M", bound=Message)
Rest = tuple[str, ...]
GUESSES: list[Rest] = list(combinations([f"t{number}" for number in range(6)], 2))
HERS = GUESSES[9]
MORNING = datetime(2027, 3, 1, 8, tzinfo=UTC)


@dataclass
class Guessing(Sessions):
    """Bob brings one guess after the other; `moment` is what Alice's clock shows."""

    guess: Rest = HERS
    moment: datetime = MORNING
    days: int = 0
    heard: dict[Rest, bool] = field(default_factory=dict)

    def local(self, party: str) -> PartyInputs:
        local = super().local(party)
        return replace(local, records=(*local.records[:-2], *(HERS if party == "alice" else self.guess)))

    def tries(self, guess: Rest) -> str:
        """Return why a session with this guess has ended at Alice's."""
        self.guess, self.days = guess, self.days + 2
        self.clocks = {"alice": lambda: self.moment, "bob": lambda: MORNING + timedelta(self.days)}
        error = self.both_errors()[0]
        if getattr(error, "field", None) != "comparisons":
            self.heard[guess] = error is None
        return "" if error is None else str(error)


def refused(sessions: Sessions, party: str) -> Sequence[object]:
    """Return the comparisons on record of which no end is."""
    entries = of_kind(contents(sessions, party), "comparison")
    same = {entry["about"] for entry in entries if entry["same"]}
    return [entry for entry in entries if entry["about"] not in same]


def guessing(folder: Path) -> Guessing:
    return Guessing(folder, with_terms(CASE, method=Method.RANDOMIZED), f"{ANY_ODDS}most_alignments = 0")


def test_without_a_wait_all_guesses_would_be_tried_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "FREE", len(GUESSES))
    sessions = guessing(tmp_path)
    for guess in GUESSES[: GUESSES.index(HERS) + 1]:
        sessions.tries(guess)
    assert [guess for guess, right in sessions.heard.items() if right] == [HERS]


def test_after_three_guesses_of_a_whole_list_the_wait_doubles_and_both_ledgers_have_each(tmp_path: Path) -> None:
    sessions = guessing(tmp_path)
    said = [sessions.tries(guess) for guess in GUESSES[:6]]
    assert list(sessions.heard) == GUESSES[:4]
    assert all("compares none for a while" not in each and "may begin at" in each for each in said[4:])
    assert [len(refused(sessions, party)) for party in NAMES] == [4, 4]
    for number in range(3):  # from file to file: nothing is kept but the ledger
        sessions.moment += timedelta(seconds=2 ** (number + 1) - 1)
        assert "comparisons of whole lists with bob" in sessions.tries(GUESSES[4 + number])
        sessions.moment += timedelta(seconds=1)
        assert "other people" in sessions.tries(GUESSES[4 + number])
    assert len(sessions.heard) == 7
    with sessions.ledger("alice") as ledger:
        (told,) = dealings(ledger.entries())
    assert "  7 comparisons of whole lists found a difference" in "\n".join(dealings_lines(told, full=False))


def test_twenty_guesses_take_days_and_an_honest_pair_waits_seconds() -> None:
    waits = [comparisons.wait_after(number) for number in range(1, 20)]
    assert sum(waits[:3], timedelta()) == timedelta(0)
    assert sum(waits[:6], timedelta()) < timedelta(seconds=15)
    assert sum(waits, timedelta()) > timedelta(days=1)
    assert max(comparisons.wait_after(number) for number in (20, 100, 10**6)) == timedelta(days=1)


class Heard(BaseException):
    """Bob has read the answer, and ends."""


class BreakingOff(Guessing):
    """Bob sends no answer of his own, reads hers and drops the line."""

    def _take_part(self, party: str, channel: PagedChannel, job: Job | None) -> Report:
        if party == "bob":
            send, receive = channel.send, channel.receive

            def kept_back(message: Message) -> None:
                if not isinstance(message, JointDigests):
                    send(message)

            def read(kind: type[M]) -> M:
                message = receive(kind)
                if isinstance(message, JointDigests):
                    raise Heard
                return message

            channel.send, channel.receive = kept_back, read  # type: ignore[method-assign]
        return super()._take_part(party, channel, job)


def test_who_breaks_off_when_the_answer_is_read_has_guessed_all_the_same(tmp_path: Path) -> None:
    sessions = BreakingOff(tmp_path, with_terms(CASE, method=Method.RANDOMIZED), f"{ANY_ODDS}most_alignments = 0")
    for guess in GUESSES[:4]:
        sessions.tries(guess)
    assert len(refused(sessions, "alice")) == 4
    assert "comparisons of whole lists with bob" in sessions.tries(GUESSES[4])
