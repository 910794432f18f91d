"""Ids hidden by two secret numbers, in whatever order: what alignment compares (DESIGN 13).

An id becomes a point of the curve, and each party multiplies it by a secret number. Multiplied by both, it is the same
point whoever came first, and ids are equal if and only if these points are. Of a point multiplied by one number alone,
nobody without that number can tell which id is behind it: that is DDH, which the curve's cipher assumes too.

secp256k1 was chosen over X25519, which is as fast. The order of the curve is a prime, so each point that is read is on
the curve and of full order: no cofactor, no small subgroup and no twist that a hostile point could come from. A hash to
X25519's coordinates would fall on the curve or on its twist, multiplication would keep which, and one bit of each
hash would cross.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocols.ciphers.curve import ORDER, hash_to_points, multiply_secretly, read_points, write_points
from protocols.randomness import canonical, keyed_digest

_DOMAIN: Final = b"cotally id to point 1"


@dataclass(frozen=True, repr=False)
class IdsToBlind:
    """Some of our ids, and our secret number: a task for a worker of this machine."""

    secret: int
    ids: Sequence[str]


@dataclass(frozen=True, repr=False)
class PointsToBlind:
    """Some of the peer's points, one after the other, and our secret number."""

    secret: int
    points: bytes


def secret_number(key: bytes, *fields: bytes) -> int:
    """Return a secret number that depends on key and fields only, as good as uniform in `1 .. ORDER - 1`."""
    halves = (keyed_digest(key, b"blinding", half, *fields) for half in (b"1", b"2"))
    return int.from_bytes(b"".join(halves), "big") % (ORDER - 1) + 1


def blind_ids(task: IdsToBlind) -> bytes:
    """Return the point of each id times our number, one after the other."""
    points = hash_to_points([hashlib.sha512(canonical(_DOMAIN, each.encode())).digest() for each in task.ids])
    return write_points(multiply_secretly(points, [task.secret] * len(task.ids)))


def blind_points(task: PointsToBlind) -> bytes:
    """Return each point times our number, one after the other.

    Raises:
        NotAPointError: One of them is not on the curve.
    """
    points = read_points(task.points)
    return write_points(multiply_secretly(points, [task.secret] * len(points)))
