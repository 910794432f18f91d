"""Somebody between two who pair by a spoken code: what it may try on what crosses (`party.keys.pairing`).

Control: proofs that are a digest keyed by the code itself give every code away at home. By SPAKE2 the one code that
Mallory has bet on is tried, and what she keeps of the attempt confirms no other.
"""

from typing import Any

import pytest
from spake2 import SPAKE2_B

from party.keys.pairing import Meeting, Pairing, new_code, read_spoken_code
from protocols.errors import PeerError
from protocols.randomness import keyed_digest
from tests.party.keys.test_pairing import BOB, MALLORY, der

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
