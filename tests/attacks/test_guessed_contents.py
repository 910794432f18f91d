"""A partner knows all but a few of our ids, or of the classes that both hold: what it may try on what it is told.

Control: a digest that it can key itself confirms any guess, so that it finds the rest at home. By `equality` it hears
of one guess per content and session; what is left are as many sessions as guesses, each of which ends on our screen.

And somebody between two who pair by a spoken code (`party.keys.pairing`). Control: proofs that are a digest
keyed by the code give every code away. By SPAKE2 the code that Mallory has bet on is tried, and no other.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest
from spake2 import SPAKE2_B

from party.keys.pairing import Meeting, Pairing, new_code, read_spoken_code
from protocols.errors import PeerError
from protocols.messages import HiddenContents, JointDigests
from protocols.randomness import canonical, keyed_digest
from protocols.role import Role, Send, receive
from protocols.two_party.equality import as_written, compare, hidden_content, times
from tests.party.keys.test_pairing import BOB, MALLORY, der
from tests.support.duel import duel
from tests.support.lists import NONCES, listing, numbered

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
    """Bob, who shows one guess and keeps what he is told."""

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
        """Return the guesses of which anything that he can work out at home is what he was told, or has seen."""
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


CODES = [read_spoken_code(new_code(lambda _, number=number: number)) for number in range(40)]  # type: ignore[misc]
CODE = CODES[23]
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
