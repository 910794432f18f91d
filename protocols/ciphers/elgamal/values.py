"""Ciphertexts that are being added, and their sums by key.

A ciphertext is a pair of points; beside it stands a public number that was added to its plaintext and joins the pair
only when it leaves. Either point may be at infinity: both are in a sum of nothing, and where a ciphertext meets its
negative, which happens exactly where all guesses of a record meet in one row. Such a sum is nothing plus its number.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.curve import FORM_BYTES, Points, addresses, are_finite, read_points, sum_runs
from protocols.ciphers.elgamal.point_table import GENERATOR
from protocols.errors import InputError
from protocols.tables.arrays import Index

HALVES = 2
HELD_BYTES = HALVES * FORM_BYTES + 8
_PENDING = 1 << 18  # ciphertexts that may wait to be added: 33 MB

Numbers = NDArray[np.int64]


class CurveValues:
    """Ciphertexts: `points` is `n x 2 x 64` bytes, `numbers` what is to be added to their plaintexts."""

    def __init__(self, points: Points, numbers: Numbers) -> None:
        self.points, self.numbers = points, numbers

    @classmethod
    def of(cls, points: Points) -> "CurveValues":
        """Return ciphertexts to which no number was added."""
        return cls(points, np.zeros(len(points), dtype=np.int64))

    @classmethod
    def join(cls, parts: Sequence["CurveValues"]) -> "CurveValues":
        """Put ciphertexts one after the other."""
        if not parts:
            return cls.of(np.zeros((0, HALVES, FORM_BYTES), dtype=np.uint8))
        return cls(np.concatenate([part.points for part in parts]), np.concatenate([part.numbers for part in parts]))

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<CurveValues {len(self)}>"

    def __reduce__(self) -> tuple[Callable[..., "CurveValues"], tuple[Points, Numbers, bytes]]:
        return _unpacked, (self.points, self.numbers, _form())


def _form() -> bytes:
    """Return G as this build of the library keeps it."""
    return read_points(GENERATOR).tobytes()


def _unpacked(points: Points, numbers: Numbers, form: bytes) -> CurveValues:
    """Read a pickle.

    Raises:
        InputError: It was written on a machine where the library keeps points in another form.
    """
    if form != _form():
        raise InputError("all workers must have the same build of btclib-secp256k1, on one kind of machine")
    return CurveValues(points, numbers)


class CurveSums:
    """Running sums, one per group. What comes waits until it is worth a pass: each pass costs a division per sum."""

    def __init__(self, groups: int) -> None:
        self._totals = np.zeros((groups, HALVES, FORM_BYTES), dtype=np.uint8)
        self._numbers = np.zeros(groups, dtype=np.int64)
        self._pending: list[tuple[Points, Index]] = []
        self._waiting, self._patience = 0, max(_PENDING, 4 * groups)

    def add(self, values: CurveValues, groups: Index) -> None:
        """Add each value to the sum of its group.

        Raises:
            InputError: A group is out of range, or there are more or fewer groups than values.
        """
        if len(groups) != len(values):
            raise InputError("each value needs exactly one group")
        if len(groups) and not (groups.min() >= 0 and groups.max() < len(self._totals)):
            raise InputError("a group is out of range")
        np.add.at(self._numbers, groups, values.numbers)
        self._pending.append((values.points, groups))
        self._waiting += len(values)
        if self._waiting > self._patience:
            self._fold()

    def totals(self) -> CurveValues:
        """Return the sums."""
        if self._pending:
            self._fold()
        return CurveValues(self._totals, self._numbers)

    def _fold(self) -> None:
        """Add what waits to what is there, group by group."""
        parts = [(self._totals, np.arange(len(self._totals), dtype=np.intp)), *self._pending]
        groups = np.concatenate([part for _, part in parts])
        order = np.argsort(groups, kind="stable")
        groups = groups[order]
        places = np.concatenate([addresses(points) for points, _ in parts])[order]
        present = np.concatenate([are_finite(points) for points, _ in parts])[order]
        sums = [
            sum_runs(places[here, half], np.bincount(groups[here], minlength=len(self._totals)))
            for half, here in enumerate(present.T)
        ]
        self._totals = np.stack(sums, axis=1)
        self._pending, self._waiting = [], 0
