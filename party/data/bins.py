"""SortedNumbers and days, the bins that they fall in, and the bins' labels, all exact.

With edges `e_1 < … < e_k` the bins are `x <= e_1`, `e_i < x <= e_(i+1)` and `x > e_k`; their labels, `<= 53.5`, `(20,
35.5]`, `> 53.5` or `> 2024-12-31`, can be read back. Bins that have been merged with their neighbours have labels of
the same kind. DESIGN 3; the papers bin at the median of the range.
"""

import re
from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, Inexact
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from party.data.moments import day
from party.data.numbers import SortedNumbers, decimal_text
from party.errors import ConfigError
from protocols.learning.grouping import class_cuts
from protocols.tables import MAX_DOMAIN

MAX_NUMBER = 40
MEDIAN = "median-of-range"
BY_CLASS = "class"
PERIODS = {"year": 12, "quarter": 3, "month": 1}
_MONTHS = (1, 3, 12, 120, 1200)

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
_EDGE = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_OUTER = re.compile(r"(<=|>) (\S+)")
_INNER = re.compile(r"\((\S+), (\S+)\]")
_EXACT = Context(prec=500, traps=[Inexact])  # two numbers' sum has at most 2 · (99 + MAX_NUMBER) digits


def number(text: str) -> Decimal | None:
    """Return the number that a text plainly is, or None: no blanks, no infinity, at most 40 characters.

    >>> number("1.50"), number("nan")
    (Decimal('1.50'), None)
    """
    return Decimal(text) if len(text) <= MAX_NUMBER and _NUMBER.fullmatch(text) else None


@dataclass(frozen=True)
class Scale:
    """What bins may be made of: what to call a cell, how it is read, and how an edge is written and read back."""

    called: str
    read: Callable[[str], Decimal | None]
    write: Callable[[Decimal], str]
    read_back: Callable[[str], Decimal | None]


NUMBERS = Scale("a plain number", number, decimal_text, lambda text: Decimal(text) if _EDGE.fullmatch(text) else None)
DAYS = Scale(
    "a date such as 2024-05-31",
    day,
    lambda value: date.fromordinal(int(value)).isoformat(),
    lambda text: day(text) if _ISO.fullmatch(text) else None,
)


def scale_of(bins: str | Sequence[Decimal] | Sequence[date]) -> Scale:
    """Return what bins of this kind are made of."""
    dated = bins in PERIODS if isinstance(bins, str) else isinstance(bins[0], date)
    return DAYS if dated else NUMBERS


def edges_of(
    bins: str | Sequence[Decimal] | Sequence[date], numbers: SortedNumbers, smallest: int = 1
) -> tuple[Decimal, ...]:
    """Return the edges that bins of this kind have.

    An edge that depends on the numbers reveals no more than needed: the ends of a range are those without the
    `smallest - 1` outermost records, and an edge is the roundest number that can be had by moving fewer than
    `smallest` records across it, whichever of them it is moved past. So it is no record's own number, but one that many
    hold or one that is round. Of dates, it ends a period, a decade or a century that `smallest` records hold.
    """
    if not isinstance(bins, str):
        return tuple(Decimal(edge.toordinal()) if isinstance(edge, date) else edge for edge in bins)
    if bins in PERIODS:
        return _period_ends(bins, numbers, smallest)
    if bins == MEDIAN:
        ends = _EXACT.add(numbers.nth(smallest), numbers.nth_from_above(smallest))
        edges: tuple[Decimal, ...] = (_EXACT.divide(ends, Decimal(2)),)
    else:
        edges = _quantiles(int(bins.partition(":")[2]), numbers)
    return edges if smallest == 1 else _rounded(edges, numbers, smallest)


def class_edges(numbers: SortedNumbers, counts: NDArray[np.int64], smallest: int) -> tuple[Decimal, ...]:
    """Return the edges that show the class best, by records of each number; `smallest` or more lie on each side."""
    edges = tuple(numbers.values[cut - 1] for cut in class_cuts(counts, smallest))
    return edges if smallest == 1 else _rounded(edges, numbers, smallest)


def _quantiles(parts: int, numbers: SortedNumbers) -> tuple[Decimal, ...]:
    """Return for `0 < j < parts` the smallest number that `j/parts` of the records do not exceed, each once."""
    values, below = numbers.values, numbers.below[:-1]
    total = int(numbers.below[-1])
    edges: list[Decimal] = []
    part = 1
    while (at := int(np.searchsorted(below, -(-part * total // parts)))) < len(below):
        edges.append(values[at])
        part = int(below[at]) * parts // total + 1
    return tuple(edges) or (values[-1],)


def _period_ends(period: str, days: SortedNumbers, smallest: int) -> tuple[Decimal, ...]:
    """Return the last days of periods, or of longer ones, that `smallest` records hold; at least one."""
    left = Counter[int]()
    for ordinal, records in zip(days.values, days.records.tolist(), strict=True):
        on = date.fromordinal(int(ordinal))
        left[on.year * 12 + on.month - 1] += records
    ends = set()
    for months in _MONTHS[_MONTHS.index(PERIODS[period]) :]:
        held = Counter[int]()
        for month, records in left.items():
            held[month // months] += records
        known = {span for span, records in held.items() if records >= smallest}
        ends |= {_last_day(span * months + months - 1) for span in known}
        left = Counter({month: records for month, records in left.items() if month // months not in known})
    return tuple(sorted(end for end in ends if end < days.values[-1])) or tuple(sorted(ends))


def _last_day(month: int) -> Decimal:
    year, of_year = month // 12, month % 12 + 1
    return Decimal(date(year, of_year, monthrange(year, of_year)[1]).toordinal())


def _rounded(edges: Sequence[Decimal], numbers: SortedNumbers, smallest: int) -> tuple[Decimal, ...]:
    """Return each edge as round as moving fewer than `smallest` records across it allows."""
    values, below = numbers.values, numbers.below
    rounded = set()
    for edge in edges:
        at = bisect_right(values, edge) - 1
        if not 0 <= at < len(values) - 1:
            rounded.add(edge)  # all records are on one side of it
            continue
        first = int(np.searchsorted(below, below[at] - smallest, side="right"))
        last = min(int(np.searchsorted(below, below[at] + smallest)), len(values) - 1)
        rounded.add(_roundest(values[first], values[last]))
    return tuple(sorted(rounded))


def _roundest(low: Decimal, high: Decimal) -> Decimal:
    """Return the roundest number in `low <= x < high` nearest to the middle, so that no record's number shows."""
    middle = _EXACT.divide(_EXACT.add(low, high), Decimal(2))
    power = max(middle.adjusted(), low.adjusted(), high.adjusted()) + 1
    while True:
        scaled = middle.scaleb(-power, _EXACT)
        found = [scaled.to_integral_value(rounding).scaleb(power, _EXACT) for rounding in (ROUND_FLOOR, ROUND_CEILING)]
        inside = [value for value in found if low <= value < high]
        if inside:
            return min(inside, key=lambda value: abs(_EXACT.subtract(value, middle)))
        power -= 1


def bin_labels(edges: Sequence[Decimal], scale: Scale = NUMBERS) -> tuple[str, ...]:
    """Return the labels of all bins, lowest first.

    >>> bin_labels([Decimal("20"), Decimal("35.50")])
    ('<= 20', '(20, 35.5]', '> 35.5')
    """
    texts = [scale.write(edge) for edge in edges]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")


def bin_of(edges: Sequence[Decimal], value: Decimal) -> int:
    """Return the index of the bin that holds the number: a number on an edge is in the bin below it."""
    return bisect_left(edges, value)


def is_bin_label(text: str) -> bool:
    """Return whether a text reads as the label of a bin."""
    return any(_range_of(text, scale) is not None for scale in (NUMBERS, DAYS))


def bin_label_of(labels: tuple[str, ...], text: str) -> str | None:
    """Return the label among these whose bin holds the number or the day that a text stands for."""
    for scale in (NUMBERS, DAYS):
        value = scale.read(text)
        if value is not None:
            return next((label for label, low, high in ranges_of(labels, scale) if low < value <= high), None)
    return None


@lru_cache(maxsize=1024)
def ranges_of(labels: tuple[str, ...], scale: Scale) -> tuple[tuple[str, Decimal, Decimal], ...]:
    """Read the labels that are those of bins: label, lower and upper edge."""
    ranges = [(label, _range_of(label, scale)) for label in labels]
    return tuple((label, *ends) for label, ends in ranges if ends is not None)


def _range_of(label: str, scale: Scale) -> tuple[Decimal, Decimal] | None:
    """Return the edges between which a bin lies, if this is the label of one."""
    if match := _INNER.fullmatch(label):
        low, high = scale.read_back(match[1]), scale.read_back(match[2])
        return None if low is None or high is None else (low, high)
    if match := _OUTER.fullmatch(label):
        edge = scale.read_back(match[2])
        if edge is not None:
            return (Decimal("-inf"), edge) if match[1] == "<=" else (edge, Decimal("inf"))
    return None


SMALLEST_VALUE = 10
MOST_SMALLEST_VALUE = 1_000_000

Edges = tuple[Decimal, ...] | tuple[date, ...]

_QUANTILES = re.compile(r"quantiles:([1-9]\d{0,2})", re.ASCII)


@dataclass(frozen=True)
class ColumnTreatment:
    """What is done to a column before anybody else sees it: binning, then filling in, then merging.

    `settings.party.TREATMENT` says what each key may be. Without `bins` the texts are the values; without `max_values`
    any number remains. A `smallest_value` of 1 names all. Texts that are not in the `order` stand outside of it.
    """

    bins: str | Edges | None = None
    max_values: int | None = None
    missing: str = "value"
    not_missing: tuple[str, ...] = ()
    smallest_value: int = SMALLEST_VALUE
    order: tuple[str, ...] = ()
    group: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.bins, str):
            self._check_kind(self.bins)
        elif self.bins is not None:
            self._check_edges(self.bins)
        if self.max_values is not None and not 2 <= self.max_values <= MAX_DOMAIN:
            raise ConfigError(f"max_values must be 2 to {MAX_DOMAIN}")
        alone = self.max_values is not None and self.bins is None and not self.order
        if self.group is not None and not (self.group == BY_CLASS and alone):
            raise ConfigError(f"group must be {BY_CLASS!r}, with max_values, and without bins and order")
        if self.order and (self.bins is not None or not 2 <= len({*self.order}) == len(self.order)):
            raise ConfigError("order must list two different values or more, and bins have their own order")
        if not self.missing:
            raise ConfigError("missing must be 'value', 'majority', 'refuse' or a text to fill in")
        if not 1 <= self.smallest_value <= MOST_SMALLEST_VALUE:
            raise ConfigError(f"smallest_value must be 1 to {MOST_SMALLEST_VALUE}")

    @property
    def by_class(self) -> bool:
        """Whether values follow from the class."""
        return self.bins == BY_CLASS or self.group is not None

    def _check_edges(self, edges: Edges) -> None:
        if not 1 <= len(edges) < MAX_DOMAIN:
            raise ConfigError(f"bins must have 1 to {MAX_DOMAIN - 1} edges")
        dates = sum(type(edge) is date for edge in edges)
        if dates not in (0, len(edges)):
            raise ConfigError("the edges of bins must all be numbers, or all dates")
        if not dates and any(isinstance(edge, float) or number(str(edge)) is None for edge in edges):
            raise ConfigError("the edges of bins must be decimal numbers or dates")
        if any(low >= high for low, high in pairwise(edges)):  # type: ignore[operator]  # of one kind
            raise ConfigError("the edges of bins must rise")

    def _check_kind(self, bins: str) -> None:
        match = _QUANTILES.fullmatch(bins)
        if bins not in (MEDIAN, BY_CLASS, *PERIODS) and not (match and 2 <= int(match[1]) <= MAX_DOMAIN):
            raise ConfigError(
                f"bins must be {MEDIAN!r}, 'quantiles:K' with K from 2 to {MAX_DOMAIN}, 'year', 'quarter', 'month', "
                f"{BY_CLASS!r}, or a list of edges"
            )
