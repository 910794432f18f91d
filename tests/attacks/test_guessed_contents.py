"""A partner knows all but a few of our ids, or of the classes that both hold: what it may try on what it hears.

Control: a digest that it can key itself confirms any guess, so that it finds the rest at home. By `equality` it hears
of one guess per content and session; what is left are as many sessions as guesses, each of which ends on our screen.

And somebody between two who pair by a spoken code (`party.keys.pairing`). Control: proofs that are a digest
keyed by the code give every code away. By SPAKE2 the code that Mallory has bet on is tried, and no other.

A partner knows all but two of Alice's ids, and brings one guess of the whole list per session (DESIGN 3).

It minds no wait of its own: its clock is days further on at each session.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import pytest
from spake2 import SPAKE2_B

from party.keys.pairing import Meeting, Pairing, new_code, read_spoken_code
from party.node.session import Report
from party.records import comparisons
from party.records.tally import dealings
from party.show.ledger import dealings_lines
from party.transport.channel import PagedChannel
from protocols.errors import PeerError
from protocols.jobs import Job
from protocols.messages import HiddenContents, JointDigests
from protocols.randomness import canonical, keyed_digest
from protocols.role import Message, Role, Send, receive
from protocols.terms import Method
from protocols.two_party.equality import as_written, compare, hidden_content, times
from protocols.two_party.inputs import PartyInputs
from tests.party.keys.test_identity import BOB, MALLORY, der
from tests.support.duel import duel
from tests.support.lists import NONCES, listing, numbered
from tests.support.sessions import ANY_ODDS, CASE, NAMES, Sessions, contents, of_kind, with_terms

KNOWN, UNKNOWN = numbered(range(4)), numbered(range(20, 26))
GUESSES = [as_written([*KNOWN, *rest]) for rest in combinations(UNKNOWN, 2)]
HERS = GUESSES[9]
ALICE, NUMBER, PURPOSE = listing("alice", KNOWN), 1009, b"records"


def point_of(content: bytes) -> bytes:
    """Return the point of a content, before any number."""
    name = keyed_digest(NONCES, PURPOSE, bytes(2), content).hex()
    return hidden_content(1, name)


def digest(sender: str, point: bytes) -> bytes:
    return keyed_digest(canonical(NONCES, b"equality", PURPOSE, sender.encode()), bytes(2), point)


class Guessing:
    """Bob, who shows one guess and keeps what he hears."""

    def __init__(self, shown: bytes) -> None:
        self.shown, self.hers, self.told = shown, b"", b""

    def play(self) -> Role[None]:
        yield Send(HiddenContents(times(NUMBER, point_of(self.shown))))
        self.hers = (yield from receive(HiddenContents)).points
        yield Send(JointDigests(digest("bob", times(NUMBER, self.hers))))
        self.told = (yield from receive(JointDigests)).digests

    def reached(self, guess: bytes) -> Iterator[bytes]:
        """Yield each point that he can make of a guess, of his number and of what Alice has shown."""
        for point in (point_of(guess), self.hers):
            yield from (point, times(NUMBER, point), times(NUMBER, times(NUMBER, point)))

    def confirmed(self, guesses: Sequence[bytes]) -> set[bytes]:
        """Return the guesses of which anything that he can work out at home is what he heard, or has seen."""
        seen = {self.told, self.hers}
        return {
            guess
            for guess in guesses
            for point in self.reached(guess)
            if point != self.hers and seen & {point, digest("alice", point), digest("bob", point)}
        }


def met(attacker: Guessing) -> Any:
    """Have Bob's guess compared; return what Alice makes of it."""
    return duel(compare(ALICE, "bob", NONCES, PURPOSE, [HERS]), attacker.play())[0].result


def test_a_digest_that_both_can_key_would_confirm_every_guess_at_home() -> None:
    crossed = keyed_digest(NONCES, PURPOSE, HERS)
    assert [guess for guess in GUESSES if keyed_digest(NONCES, PURPOSE, guess) == crossed] == [HERS]


def test_of_all_guesses_one_is_answered_and_no_other_can_be_tried_at_home() -> None:
    right, wrong = Guessing(HERS), Guessing(GUESSES[0])
    assert met(right) == (True,)
    assert right.confirmed([HERS]) == {HERS}  # the control: what he can work out shows a guess that was right
    assert met(wrong) == (False,)
    assert wrong.confirmed(GUESSES) == set()


def test_what_is_left_is_one_guess_per_session() -> None:
    answers = [met(Guessing(guess)) for guess in GUESSES]
    assert [guess for guess, same in zip(GUESSES, answers, strict=True) if same == (True,)] == [HERS]
    assert len(answers) == 15


def test_a_guess_in_the_place_of_another_is_not_answered() -> None:
    """Nine places are not nine guesses of one content: each has a number of its own."""

    def everywhere() -> Role[bytes]:
        yield Send(HiddenContents(9 * times(NUMBER, point_of(HERS))))
        yield from receive(HiddenContents)
        yield Send(JointDigests(bytes(9 * 32)))
        return (yield from receive(JointDigests)).digests

    contents = [HERS, *(b"%d" % place for place in range(8))]
    told = duel(compare(ALICE, "bob", NONCES, PURPOSE, contents), everywhere())[1].result
    assert told is not None
    assert len({told[start : start + 32] for start in range(0, len(told), 32)}) == 9


def test_who_echoes_our_points_and_digests_is_not_taken_to_hold_the_same() -> None:
    def echo() -> Role[None]:
        for kind in (HiddenContents, JointDigests):
            yield Send((yield from receive(kind)))

    assert duel(compare(ALICE, "bob", NONCES, PURPOSE, [HERS]), echo())[0].result == (False,)


def test_the_same_content_looks_otherwise_in_another_session() -> None:
    shown = set()
    for nonces in (NONCES, bytes(64)):
        alice, bob = (compare(listing(name, KNOWN), "x", nonces, PURPOSE, [HERS]) for name in ("alice", "bob"))
        shown |= {m.points for end in duel(alice, bob) for m in end.sent if isinstance(m, HiddenContents)}
    assert len(shown) == 4


CODES = [read_spoken_code(new_code(lambda _, number=number: number)) for number in range(16)]  # type: ignore[misc]
CODE = CODES[9]
CALLER, LISTENER = b"cotally pairing, the caller", b"cotally pairing, the listener"


def entropy(size: int) -> bytes:
    """Mallory's own chance, which she remembers."""
    return b"m" * size


class Mallory:
    """Listens in Alice's place with a code that she bets on, and hears Bob prove that he knows his."""

    def __init__(self, bet: str) -> None:
        self.point: bytes = self._side(bet).start()

    @staticmethod
    def _side(code: str) -> Any:
        return SPAKE2_B(code.encode(), idA=CALLER, idB=LISTENER, entropy_f=entropy)

    def hear(self, bob: Pairing) -> bytes:
        """Return Bob's proof, with which he as the caller comes first."""
        return bob.meet(self.point, der(MALLORY)).proof

    def confirms(self, code: str, bob: Pairing, proof: bytes) -> bool:
        """Try a code at home, on what was sent and heard."""
        side = self._side(code)
        side.start()
        side.outbound_message = self.point[1:]
        key: bytes = side.finish(bob.point)
        met = Meeting(False, key, (bob.point, bob.certificate, self.point, der(MALLORY)), bob.certificate)
        try:
            met.verify(proof)
        except PeerError:
            return False
        return True


def test_a_digest_keyed_by_the_code_would_give_it_away_at_home() -> None:
    proof = keyed_digest(CODE.encode(), der(BOB), der(MALLORY))
    assert [code for code in CODES if keyed_digest(code.encode(), der(BOB), der(MALLORY)) == proof] == [CODE]


@pytest.mark.parametrize("bet", [CODE, CODES[0]], ids=["the right code", "another code"])
def test_of_all_codes_the_one_that_was_bet_on_is_tried_and_no_other_at_home(bet: str) -> None:
    """The control is the right bet: what she can work out shows it."""
    mallory, bob = Mallory(bet), Pairing(CODE, BOB, calls=True)
    proof = mallory.hear(bob)
    assert [code for code in CODES if mallory.confirms(code, bob, proof)] == ([CODE] if bet == CODE else [])


def test_who_only_listens_can_try_none() -> None:
    """Both points are there, and no number that she knows is in either."""
    alice, bob = Pairing(CODE, MALLORY, calls=False), Pairing(CODE, BOB, calls=True)
    met = alice.meet(bob.point, bob.certificate)
    proofs = met.proof, bob.meet(alice.point, alice.certificate).proof
    assert met.verify(proofs[1]) == BOB  # the control: who took part knows the key
    eve = Mallory(CODE)
    eve.point = alice.point
    assert not any(eve.confirms(code, bob, proof) for code in CODES for proof in proofs)


M = TypeVar("M", bound=Message)
Rest = tuple[str, ...]
LISTS_GUESSES: list[Rest] = list(combinations([f"t{number}" for number in range(6)], 2))
HER_REST = LISTS_GUESSES[9]

MORNING = datetime(2027, 3, 1, 8, tzinfo=UTC)


@dataclass
class ListsGuessing(Sessions):
    """Bob brings one guess after the other; `moment` is what Alice's clock shows."""

    guess: Rest = HER_REST
    moment: datetime = MORNING
    days: int = 0
    heard: dict[Rest, bool] = field(default_factory=dict)

    def local(self, party: str) -> PartyInputs:
        local = super().local(party)
        return replace(local, records=(*local.records[:-2], *(HER_REST if party == "alice" else self.guess)))

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


def guessing(folder: Path) -> ListsGuessing:
    return ListsGuessing(folder, with_terms(CASE, method=Method.RANDOMIZED), f"{ANY_ODDS}most_alignments = 0")


def test_without_a_wait_all_guesses_would_be_tried_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "FREE", len(LISTS_GUESSES))
    sessions = guessing(tmp_path)
    for guess in LISTS_GUESSES[: LISTS_GUESSES.index(HER_REST) + 1]:
        sessions.tries(guess)
    assert [guess for guess, right in sessions.heard.items() if right] == [HER_REST]


def test_after_three_guesses_of_a_whole_list_the_wait_doubles_and_both_ledgers_have_each(tmp_path: Path) -> None:
    sessions = guessing(tmp_path)
    said = [sessions.tries(guess) for guess in LISTS_GUESSES[:6]]
    assert list(sessions.heard) == LISTS_GUESSES[:4]
    assert all("compares none for a while" not in each and "may begin at" in each for each in said[4:])
    assert [len(refused(sessions, party)) for party in NAMES] == [4, 4]
    for number in range(3):  # from file to file: nothing is kept but the ledger
        sessions.moment += timedelta(seconds=2 ** (number + 1) - 1)
        assert "comparisons of whole lists with bob" in sessions.tries(LISTS_GUESSES[4 + number])
        sessions.moment += timedelta(seconds=1)
        assert "other people" in sessions.tries(LISTS_GUESSES[4 + number])
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


class BreakingOff(ListsGuessing):
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
    for guess in LISTS_GUESSES[:4]:
        sessions.tries(guess)
    assert len(refused(sessions, "alice")) == 4
    assert "comparisons of whole lists with bob" in sessions.tries(LISTS_GUESSES[4])
