"""Many multiples of one point, by a table: 32 additions and one division each.

A scalar is written in base 256 with the digits 1 to 256 instead of 0 to 255: the table has no entry at infinity, and
every multiple is a sum of exactly 32 points, whatever the scalar. `OFFSET` is the number whose digits are all 1; so 32
uniform bytes below the order stand for a uniform scalar.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from protocols.ciphers.curve import (
    FORM_BYTES,
    ORDER,
    SCALAR_BYTES,
    Addresses,
    Points,
    add_points,
    addresses,
    read_points,
    sum_runs,
)

GENERATOR = bytes.fromhex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
"""G of SEC 2, section 2.4.1, as it crosses."""
OFFSET = sum(256**j for j in range(SCALAR_BYTES))

_DIGITS = 256
TABLE_BYTES = SCALAR_BYTES * _DIGITS * FORM_BYTES
_TABLES = 4  # half a megabyte each


class PointTable:
    """The multiples `d * 256**j * P` of one finite point, `d` from 1 to 256."""

    def __init__(self, point: bytes) -> None:
        self._table = np.zeros((SCALAR_BYTES, _DIGITS, FORM_BYTES), dtype=np.uint8)
        step = read_points(point)
        for row in self._table:
            row[0] = step
            for known in (1 << bit for bit in range(_DIGITS.bit_length() - 1)):
                row[known : 2 * known] = add_points(row[:known], np.repeat(row[known - 1 : known], known, axis=0))
            step = row[-1]
        self._rows = addresses(self._table)[:, 0]

    def __repr__(self) -> str:
        return f"PointTable({self._table.nbytes} bytes)"

    def summands(self, scalars: Sequence[int]) -> Addresses:
        """Return the addresses of the 32 points that add up to each multiple; valid while this object is kept."""
        digits = b"".join(((scalar - OFFSET) % ORDER).to_bytes(SCALAR_BYTES, "little") for scalar in scalars)
        places = np.frombuffer(digits, dtype=np.uint8).reshape(-1, SCALAR_BYTES).astype(np.uint64)
        result: Addresses = self._rows + places * np.uint64(FORM_BYTES)
        return result

    def multiply(self, scalars: Sequence[int]) -> Points:
        """Return the multiples; the one by 0 is at infinity."""
        places = self.summands(scalars)
        return sum_runs(places.ravel(), np.full(len(places), SCALAR_BYTES, dtype=np.intp))


@lru_cache(maxsize=_TABLES)
def table_of(point: bytes) -> PointTable:
    """Return the table of a point, given in the form that crosses."""
    return PointTable(point)
