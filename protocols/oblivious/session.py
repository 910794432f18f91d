"""One session: both directions of transfers, made in three exchanges.

    both ways   a fresh nonce and the point of who will choose
    both ways   the points of who will send, which chooses its offset by them
    both ways   the hints of who will choose

Each direction has a name of its own: a digest of both nonces, the chooser's first, and of its point. Nonces are drawn
when the session is made, and one of both suffices: a machine put back to an earlier state, which draws as before, has a
new name and new masks all the same. A nonce that comes back as the peer's is refused: both directions would be one.
"""

import hashlib
from dataclasses import dataclass
from typing import Final

from protocols.errors import InputError, PeerError
from protocols.messages import BaseOffer, BasePoints
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer
from protocols.oblivious.extension import DEPTHS, Chooser, Sender
from protocols.oblivious.seeds import Follower, grow
from protocols.randomness import Randomness, canonical
from protocols.role import Role, exchange
from protocols.work import AT_HOME, Places

TREE_DEPTH: Final = 4
"""Of the trees of seeds in every run: four bytes a transfer, and little more work than any other."""
_NONCE_BYTES: Final = 32


@dataclass(frozen=True, repr=False)
class Transfers:
    """Both directions of one session: what we choose, and what we send; and where we work at it."""

    chooser: Chooser
    sender: Sender
    places: Places = AT_HOME


def set_up(depth: int, randomness: Randomness, places: Places = AT_HOME) -> Role[Transfers]:
    """Make both directions of a session, from trees of seeds of one depth (`k`) at both sides.

    Discloses: nothing; a peer that deviates may guess bits of our offset, and a wrong guess ends the session.
    """
    if depth not in DEPTHS:
        raise InputError(f"must be one of {DEPTHS}", field="depth")
    nonce = randomness.randbelow(1 << 8 * _NONCE_BYTES).to_bytes(_NONCE_BYTES, "big")
    secret, point = make_offer(randomness)
    theirs = yield from exchange(BaseOffer(nonce, point))
    if len(theirs.nonce) != _NONCE_BYTES or theirs.nonce == nonce:
        raise PeerError("the peer sent no fresh bytes of its own")
    choosing, sending = _name(nonce, theirs.nonce, point), _name(theirs.nonce, nonce, theirs.point)
    offset = [randomness.randbelow(2) for _ in range(TRANSFERS)]
    points, keys = choose(sending, read_offer(theirs.point), [1 - bit for bit in offset], randomness)
    pairs = answer_choices(choosing, secret, (yield from exchange(BasePoints(points))).points)
    trees, hints = grow(choosing, pairs, depth)
    known = Follower(sending, depth, offset, keys).follow((yield from exchange(hints)))
    chooser = Chooser(choosing, depth, trees, randomness, places.home)
    return Transfers(chooser, Sender(sending, depth, known, offset, places.home), places)


def _name(chooser: bytes, sender: bytes, point: bytes) -> bytes:
    return hashlib.sha256(canonical(b"oblivious transfer", chooser, sender, point)).digest()
