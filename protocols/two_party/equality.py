"""Whether both sides hold the same, by one guess: whole lists of ids, whole columns of classes (DESIGN 13).

A digest that both can key would confirm any number of guesses, at home: who knows all but a few ids would try what
those may be. So each content is hashed to a point, and both points are multiplied by both sides' secret numbers:

    hidden     each of our contents as a point, times a secret number of its own, both ways
    joint      a digest of each of the other's points times our number, bound to its sender and the session, both ways

The other's digest is the one that we expect from it if and only if it holds the same. To try a content takes its point
times *our* number, which is had of the one content that the other side has shown, and of no other (DDH, in the random
oracle model): one guess per content and session, of which we hear whether it was right. The numbers depend on the
session, on the place and on our content, so that no answer serves for another question. Nobody can repeat our digest
as its own.

secp256k1 has a prime order: each point that is read is of full order, so there is no small subgroup or twist that a
hostile point could come from.

The test of equality of Huberman, Franklin and Hogg, Enhancing privacy and trust in electronic communities (EC 1999),
with digests of their last message.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from protocols.errors import PeerError
from protocols.facts import ComparedFact
from protocols.messages import HiddenContents, JointDigests
from protocols.oblivious.curve import (
    ORDER,
    POINT_BYTES,
    NotAPointError,
    hash_to_points,
    multiply_secretly,
    read_points,
    write_points,
)
from protocols.randomness import canonical, keyed_digest
from protocols.role import Note, Role, exchange
from protocols.two_party.inputs import PartyInputs

IDS: Final = "ids"
SPELLINGS: Final = "spellings"
CLASSES: Final = "classes"
"""What is compared on record."""
_DOMAIN: Final = b"cotally id to point 1"


def compare(
    local: PartyInputs, peer: str, nonces: bytes, purpose: bytes, contents: Sequence[bytes]
) -> Role[tuple[bool, ...]]:
    """Tell of each of our contents whether the peer's in its place is the same.

    Args:
        local: What we bring; its name and its secret are used.
        peer: The peer's name.
        nonces: Of the `Opening`.
        purpose: What is compared.
        contents: Ours, or digests of them; as many as the peer's.

    Discloses: of each content whether it is the peer's.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    names = [keyed_digest(nonces, purpose, _place(at), content).hex() for at, content in enumerate(contents)]
    numbers = [secret_number(local.secrets.coins, b"equality", nonces, name.encode()) for name in names]
    own = [hidden_content(number, name) for number, name in zip(numbers, names, strict=True)]
    theirs = (yield from exchange(HiddenContents(b"".join(own)))).points
    if len(theirs) != POINT_BYTES * len(own):
        raise PeerError("the peer compares another number of contents")
    points = [theirs[start : start + POINT_BYTES] for start in range(0, len(theirs), POINT_BYTES)]
    try:
        joint = [times(*each) for each in zip(numbers, points, strict=True)]
    except NotAPointError:
        raise PeerError("the peer sent a point that is not on the curve") from None
    told, expected = (_digests(nonces, purpose, sender, joint) for sender in (local.party, peer))
    heard = (yield from exchange(JointDigests(b"".join(told)))).digests
    if len(heard) != len(b"".join(expected)):
        raise PeerError("the peer compares another number of contents")
    size = len(heard) // len(expected)
    return tuple(heard[at * size : (at + 1) * size] == each for at, each in enumerate(expected))


def compare_on_record(
    local: PartyInputs,
    peer: str,
    nonces: bytes,
    purpose: bytes,
    contents: Sequence[bytes],
    about: tuple[str, bytes],
) -> Role[tuple[bool, ...]]:
    """Compare as `compare` does, on record before anything leaves: who hears that a guess was wrong may try again.

    `about` names what is compared, and what of it is ours; all else is as of `compare`.

    Discloses: what `compare` does.

    Raises:
        PeerError: As `compare`.
    """
    fact = ComparedFact(*about, None)
    yield Note(fact)
    same = yield from compare(local, peer, nonces, purpose, contents)
    if any(same):
        yield Note(replace(fact, same=True))
    return same


def secret_number(key: bytes, *fields: bytes) -> int:
    """Return a secret number that depends on key and fields only, as good as uniform in `1 .. ORDER - 1`."""
    halves = (keyed_digest(key, b"blinding", half, *fields) for half in (b"1", b"2"))
    return int.from_bytes(b"".join(halves), "big") % (ORDER - 1) + 1


def hidden_content(number: int, name: str) -> bytes:
    """Return the point of a content times a number."""
    points = hash_to_points([hashlib.sha512(canonical(_DOMAIN, name.encode())).digest()])
    return write_points(multiply_secretly(points, [number]))


def times(number: int, point: bytes) -> bytes:
    """Return a point times a number.

    Raises:
        NotAPointError: It is not on the curve.
    """
    return write_points(multiply_secretly(read_points(point), [number]))


def _digests(nonces: bytes, purpose: bytes, sender: str, joint: Sequence[bytes]) -> list[bytes]:
    key = canonical(nonces, b"equality", purpose, sender.encode())
    return [keyed_digest(key, _place(at), point) for at, point in enumerate(joint)]


def _place(at: int) -> bytes:
    return at.to_bytes(2, "big")
