"""From `mG` back to `m`, for small `m`: baby steps from a table, giant steps for what is larger.

The search never runs on: at most `largest / baby + 1` steps, and a number not found by then is larger than allowed.
"""

from functools import lru_cache
from math import isqrt

import numpy as np

from protocols.ciphers.curve import POINT_BYTES, Points, add_points, are_finite, write_points
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.errors import DeviationError
from protocols.tables.arrays import Index

_FEWEST, _MOST = 10, 16  # bits of the number of baby steps: the table of 2**16 takes 0.3 s and 10 MB
MOST_BABIES = 1 << _MOST
BABY_BYTES = 160  # of a table of numbers, for each
_TABLES = 3


def logarithms(points: Points, largest: int) -> list[int]:
    """Return the numbers `m` of which these points are the multiples `mG`.

    Args:
        points: Any points, even at infinity.
        largest: The largest number that can be true.

    Raises:
        DeviationError: One of them is not a multiple by 0 to the largest.
    """
    bits = _table_bits(largest, len(points))
    babies, giant = _babies(bits), table_of(GENERATOR).multiply([-(1 << bits)])
    found = np.full(len(points), -1, dtype=np.int64)
    open_: Index = np.arange(len(points), dtype=np.intp)
    for start in range(0, largest + 1, 1 << bits):
        small = _look_up(points, babies)
        found[open_[small >= 0]] = start + small[small >= 0]
        open_, points = open_[small < 0], points[small < 0]
        if not len(open_):
            break
        points = add_points(points, np.repeat(giant, len(points), axis=0))
    if len(open_) or (found > largest).any():
        raise DeviationError
    return [int(number) for number in found]


def _table_bits(largest: int, count: int) -> int:
    """Balance the table, made once, against the steps of all points."""
    return min(_MOST, max(_FEWEST, isqrt(largest * max(count, 1)).bit_length()), max(1, largest.bit_length()))


@lru_cache(maxsize=_TABLES)
def _babies(bits: int) -> dict[bytes, int]:
    """Return the numbers below `2**bits` by their points, without that of 0, which has no bytes."""
    multiples = table_of(GENERATOR).multiply([1])
    for known in (1 << bit for bit in range(bits)):
        multiples = np.concatenate([multiples, add_points(multiples, np.repeat(multiples[known - 1 :], known, axis=0))])
    data = write_points(multiples[:-1])
    return {data[i * POINT_BYTES : (i + 1) * POINT_BYTES]: i + 1 for i in range(len(multiples) - 1)}


def _look_up(points: Points, babies: dict[bytes, int]) -> Index:
    """Return the number of each point, -1 for one that is not in the table."""
    numbers: Index = np.zeros(len(points), dtype=np.intp)
    some = np.flatnonzero(are_finite(points))
    data = write_points(points[some])
    numbers[some] = [babies.get(data[i * POINT_BYTES : (i + 1) * POINT_BYTES], -1) for i in range(len(some))]
    return numbers
