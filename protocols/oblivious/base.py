"""The first 128 transfers, from points of a curve: who sends gets two keys each, who chooses gets one of them.

Endemic oblivious transfer (Masny and Rindal, CCS 2019), in the form for many at once of McQuoid, Rosulek and Roy
(Batching base oblivious transfers, ASIACRYPT 2021):

    sender -> chooser    A = a G
    chooser -> sender    per transfer R_0 and R_1: R_{1-c} fresh, R_c = b G - H(i, c, R_{1-c})
    keys                 a digest of a (R_c + H(i, c, R_{1-c})), which is that of b A for the chosen c alone

*Functionality*: endemic, so that who deviates may fix its own keys, and learns no other; extension needs no more.
*Assumed*: oracle Diffie-Hellman on secp256k1, and a random oracle into the curve and for keys. R_0 and R_1 are both
uniform, whatever c is: nothing is assumed for the chooser.
*Deviations*: the oracle into the curve is SHA-512 with SwiftEC (`hash_to_points`); keys and oracle are bound to the
session, number and side, keys to all points too, so that a point has no use in another transfer or direction.
*Never again*: `a`, each `b` and each fresh point serve in one session; a point that comes twice is refused.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from protocols.errors import PeerError
from protocols.oblivious.aes import BLOCK_BYTES
from protocols.oblivious.curve import (
    ORDER,
    POINT_BYTES,
    NotAPointError,
    Points,
    add_points,
    hash_to_points,
    multiply_secretly,
    negate_points,
    read_points,
    write_points,
)
from protocols.randomness import Randomness, canonical

TRANSFERS: Final = 128
KeyPair = tuple[bytes, bytes]

_GENERATOR: Final = read_points(
    bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")  # SEC 2, section 2.4.1
)
_SEED_BITS: Final = 512


def make_offer(randomness: Randomness) -> tuple[int, bytes]:
    """Draw the sender's secret, and return it with its point."""
    (secret,) = _scalars(1, randomness)
    return secret, write_points(multiply_secretly(_GENERATOR, [secret]))


def read_offer(point: bytes) -> Points:
    """Read the sender's point."""
    return _read(point, 1)


def choose(session: bytes, offer: Points, choices: Sequence[int], randomness: Randomness) -> tuple[bytes, list[bytes]]:
    """Return the points that go to the sender, and for each choice, a bit, the key that is chosen.

    `session` names the session, the direction and the sender's point.
    """
    scalars = _scalars(len(choices), randomness)
    fresh = simulate_points(len(choices), randomness)
    seeds = [_oracle(session, i, c, point) for i, (c, point) in enumerate(zip(choices, _split(fresh), strict=True))]
    generators = np.repeat(_GENERATOR, len(choices), axis=0)
    chosen = write_points(add_points(multiply_secretly(generators, scalars), negate_points(hash_to_points(seeds))))
    pairs = zip(choices, _split(chosen), _split(fresh), strict=True)
    points = b"".join(other + own if choice else own + other for choice, own, other in pairs)
    shared = multiply_secretly(np.repeat(offer, len(choices), axis=0), scalars)
    ends = zip(enumerate(choices), _split(write_points(shared)), strict=True)
    name = _name(session, points)
    return points, [_key(name, i, choice, point) for (i, choice), point in ends]


def answer_choices(session: bytes, secret: int, points: bytes) -> list[KeyPair]:
    """Return both keys of each transfer, from the sender's secret and the chooser's points."""
    read, each = _read(points, 2 * TRANSFERS), _split(points)
    if len(set(each)) < len(each):
        raise PeerError("the peer sent a point twice")
    seeds = [_oracle(session, at // 2, at % 2, each[at ^ 1]) for at in range(len(each))]
    try:
        shared = multiply_secretly(add_points(read, hash_to_points(seeds)), [secret] * len(each))
    except NotAPointError:
        raise PeerError("the peer sent points that lead to no key") from None
    name = _name(session, points)
    keys = [_key(name, at // 2, at % 2, point) for at, point in enumerate(_split(write_points(shared)))]
    return list(zip(keys[::2], keys[1::2], strict=True))


def simulate_points(count: int, randomness: Randomness) -> bytes:
    """Return what the sender sees of this many halves of transfers: uniform points whose logarithms nobody knows."""
    seeds = (randomness.randbelow(1 << _SEED_BITS) for _ in range(count))
    return write_points(hash_to_points([seed.to_bytes(_SEED_BITS // 8, "big") for seed in seeds]))


def _scalars(count: int, randomness: Randomness) -> list[int]:
    return [1 + randomness.randbelow(ORDER - 1) for _ in range(count)]


def _read(data: bytes, count: int) -> Points:
    if len(data) != POINT_BYTES * count:
        raise PeerError("the peer sent another number of points than the protocol has")
    try:
        return read_points(data)
    except NotAPointError:
        raise PeerError("the peer sent a point that is not on the curve") from None


def _split(data: bytes) -> list[bytes]:
    return [data[start : start + POINT_BYTES] for start in range(0, len(data), POINT_BYTES)]


def _oracle(session: bytes, number: int, side: int, point: bytes) -> bytes:
    """Return what `hash_to_points` makes H(i, c, R) of."""
    return hashlib.sha512(canonical(b"base oracle", session, bytes([number, side]), point)).digest()


def _name(session: bytes, points: bytes) -> bytes:
    return hashlib.sha256(canonical(b"base", session, points)).digest()


def _key(name: bytes, number: int, side: int, point: bytes) -> bytes:
    return hashlib.sha256(canonical(b"base key", name, bytes([number, side]), point)).digest()[:BLOCK_BYTES]
