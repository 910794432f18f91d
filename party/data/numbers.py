"""A column's distinct numbers in order: doubles where these order them as they are (15 digits), else exact."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from protocols.tables import Floats

DIGITS_OF_A_DOUBLE = 15

_PLAIN = re.compile(r"(?>-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)\n)*+", re.ASCII)


def decimal_text(value: Decimal) -> str:
    """Write a number without exponent and without needless zeros.

    >>> decimal_text(Decimal("1.50")), decimal_text(Decimal("-0.0")), decimal_text(Decimal("1e3"))
    ('1.5', '0', '1000')
    """
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if value == 0 else text


def text_of_double(value: float) -> str:
    """Write the shortest decimal number whose double this is.

    >>> text_of_double(1e-05), text_of_double(20.0)
    ('0.00001', '20')
    """
    return decimal_text(Decimal(repr(value)))


class _Later(Sequence[Decimal]):
    """The numbers whose doubles these are."""

    def __init__(self, values: Floats) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> Decimal: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Decimal]: ...
    def __getitem__(self, index: int | slice) -> Decimal | Sequence[Decimal]:
        if isinstance(index, slice):
            return _Later(self._values[index])
        return Decimal(text_of_double(self._values[index].item()))


class SortedNumbers:
    """Distinct numbers."""

    def __init__(self, values: Sequence[Decimal], records: NDArray[np.int64]) -> None:
        self.values, self.records = values, records

    @classmethod
    def of(cls, counts: Mapping[Decimal, int]) -> "SortedNumbers":
        """Sort numbers that this many records hold."""
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
        return np.searchsorted(self.cuts(edges), np.arange(len(self.values)), side="right")

    def cuts(self, edges: Sequence[Decimal]) -> list[int]:
        """Return how many of the numbers lie on or below each edge."""
        return [bisect_right(self.values, edge) for edge in edges]

    def sizes(self, edges: Sequence[Decimal]) -> list[int]:
        """Return how many records each bin holds."""
        below = np.append(0, self.below)[[0, *self.cuts(edges), -1]]
        return [int(size) for size in np.diff(below)]


class Doubles(SortedNumbers):
    """Distinct numbers by their doubles, which are ordered as they are."""

    def __init__(self, distinct: Floats, records: NDArray[np.int64]) -> None:
        super().__init__(_Later(distinct), records)
        self.distinct = distinct

    @classmethod
    def among(cls, each: Floats) -> "Doubles":
        """Return the numbers among those of records."""
        distinct, records = np.unique(each, return_counts=True)
        return cls(distinct, records.astype(np.int64))

    @property
    def digits(self) -> int | None:
        """How many digits each has, if all are whole, none is below 0 and all have as many; else None."""
        first, last = map(text_of_double, self.distinct[[0, -1]].tolist())
        one_length = len(first) == len(last) and not first.startswith("-")
        return len(first) if one_length and (self.distinct == np.floor(self.distinct)).all() else None

    @property
    def may_count_up(self) -> bool:
        """Return whether each may be greater by 1 than the one before: where this is false, it is not so."""
        return bool((np.abs(self.distinct - self.distinct[0] - np.arange(len(self.distinct))) < 1).all())

    def bins_of(self, each: Floats, edges: Sequence[Decimal]) -> NDArray[np.intp]:
        """Return the bin of each record, by its number, which is one of these."""
        tops = [self.distinct[cut - 1] if cut else -np.inf for cut in self.cuts(edges)]
        return np.searchsorted(tops, each)


def sorted_numbers(
    texts: Sequence[str], records: NDArray[np.int64], read: Callable[[str], Decimal]
) -> tuple[SortedNumbers, NDArray[np.intp]]:
    """Return the numbers of texts, and the place among them of each text."""
    each = [read(text) for text in texts]
    values = sorted(set(each))
    place = {value: i for i, value in enumerate(values)}
    places = np.fromiter(map(place.__getitem__, each), np.intp, len(texts))
    held = np.bincount(places, weights=records, minlength=len(values)).astype(np.int64)
    return SortedNumbers(values, held), places


def doubles(texts: Collection[str]) -> Floats | None:
    """Return the doubles of texts that are all plain numbers which doubles order; None if one may be a code."""
    if max(map(len, texts), default=0) > DIGITS_OF_A_DOUBLE:
        return None
    joined = "\n".join((*texts, ""))
    if joined.count("\n") != len(texts) or not _PLAIN.fullmatch(joined):
        return None
    return np.fromiter(map(float, texts), np.float64, len(texts))
