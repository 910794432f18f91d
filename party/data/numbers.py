"""The distinct numbers of a column in rising order: exact, and fast where a double orders them as they are.

A decimal number of at most 15 digits has a double of its own, and doubles are ordered as the numbers are. So a column
of such texts is sorted as doubles, and an exact number is made only where one is looked at.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

DIGITS_OF_A_DOUBLE = 15

_PLAIN = re.compile(r"[-.0-9]*+", re.ASCII)


class _Later(Sequence[Decimal]):
    """The numbers that texts, in this order, are known to stand for."""

    def __init__(self, texts: Sequence[str], order: NDArray[np.intp]) -> None:
        self._texts, self._order = texts, order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Decimal: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Decimal]: ...
    def __getitem__(self, index: int | slice) -> Decimal | Sequence[Decimal]:
        if isinstance(index, slice):
            return _Later(self._texts, self._order[index])
        return Decimal(self._texts[self._order[index]])


class SortedNumbers:
    """Distinct numbers.

    Args:
        values: In rising order.
        records: How many records hold each.
    """

    def __init__(self, values: Sequence[Decimal], records: NDArray[np.int64]) -> None:
        self.values, self.records = values, records

    @classmethod
    def of(cls, counts: Mapping[Decimal, int]) -> "SortedNumbers":
        """Sort numbers that so many records hold."""
        values = sorted(counts)
        return cls(values, np.array([counts[value] for value in values], dtype=np.int64))

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """How many records hold each number or a smaller one."""
        return np.cumsum(self.records)

    def nth(self, n: int) -> Decimal:
        """Return the number of the n-th record from below, or of the last one."""
        return self.values[min(int(np.searchsorted(self.below, n)), len(self.values) - 1)]

    def nth_from_above(self, n: int) -> Decimal:
        """Return the number of the n-th record from above, or of the last one."""
        above = np.cumsum(self.records[::-1])
        return self.values[max(len(self.values) - 1 - int(np.searchsorted(above, n)), 0)]

    def bins(self, edges: Sequence[Decimal]) -> NDArray[np.intp]:
        """Return the bin of each number: one on an edge is in the bin below it."""
        cuts = [bisect_right(self.values, edge) for edge in edges]
        return np.searchsorted(cuts, np.arange(len(self.values)), side="right")

    def sizes(self, edges: Sequence[Decimal]) -> list[int]:
        """Return how many records each bin holds."""
        sizes = np.bincount(self.bins(edges), weights=self.records, minlength=len(edges) + 1)
        return [int(size) for size in sizes]


def sorted_numbers(
    texts: Sequence[str], records: NDArray[np.int64], read: Callable[[str], Decimal], short: NDArray[np.float64] | None
) -> tuple[SortedNumbers, NDArray[np.intp]]:
    """Return the numbers of texts, and the place among them of each text.

    Args:
        texts: Distinct.
        records: How many hold each text.
        read: How a text is read.
        short: What `doubles` says of the texts, where a text that is a plain number stands for that.
    """
    if short is None:
        each = [read(text) for text in texts]
        values: Sequence[Decimal] = sorted(set(each))
        place = {value: i for i, value in enumerate(values)}
        places = np.fromiter(map(place.__getitem__, each), np.intp, len(texts))
    else:
        _, first, places = np.unique(short, return_index=True, return_inverse=True)
        values = _Later(texts, first)
    held = np.bincount(places, weights=records, minlength=len(values)).astype(np.int64)
    return SortedNumbers(values, held), places


def doubles(texts: Collection[str]) -> NDArray[np.float64] | None:
    """Return the doubles of texts that are all plain numbers which doubles tell apart and order, or None."""
    if max(map(len, texts), default=0) > DIGITS_OF_A_DOUBLE or not _PLAIN.fullmatch("".join(texts)):
        return None
    try:
        return np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
