"""Numbers, the bins that they fall in, and the bins' labels, all exact.

With edges `e_1 < … < e_k` the bins are `x <= e_1`, `e_i < x <= e_(i+1)` and `x > e_k`; their labels,
`<= 53.5`, `(20, 35.5]` and `> 53.5`, can be read back. DESIGN 3; the papers bin at the median of the range.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, Inexact
from functools import lru_cache
from itertools import pairwise

MAX_NUMBER = 40
MEDIAN = "median-of-range"

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
_EDGE = r"(-?\d+(?:\.\d+)?)"
_OUTER = re.compile(rf"(<=|>) {_EDGE}", re.ASCII)
_INNER = re.compile(rf"\({_EDGE}, {_EDGE}\]", re.ASCII)
_EXACT = Context(prec=500, traps=[Inexact])  # two numbers' sum has at most 2 · (99 + MAX_NUMBER) digits


def number(text: str) -> Decimal | None:
    """Return the number that a text plainly is, or None: no blanks, no infinity, at most 40 characters.

    >>> number("1.50"), number("nan")
    (Decimal('1.50'), None)
    """
    return Decimal(text) if len(text) <= MAX_NUMBER and _NUMBER.fullmatch(text) else None


def edges_of(bins: str | Sequence[Decimal], counts: Mapping[Decimal, int]) -> tuple[Decimal, ...]:
    """Return the edges that bins of this kind have.

    Args:
        bins: "median-of-range", "quantiles:4" (any number of quantiles) or the edges themselves.
        counts: How often each number occurs; at least one where the edges depend on it.
    """
    if not isinstance(bins, str):
        return tuple(bins)
    if bins == MEDIAN:
        return (_EXACT.divide(_EXACT.add(min(counts), max(counts)), Decimal(2)),)
    return _quantiles(int(bins.partition(":")[2]), counts)


def _quantiles(parts: int, counts: Mapping[Decimal, int]) -> tuple[Decimal, ...]:
    """Return for `0 < j < parts` the smallest number that `j/parts` of the records do not exceed.

    Repeats are dropped, and so is the largest number (nothing lies above it), unless nothing else is left.
    """
    total = sum(counts.values())
    edges: list[Decimal] = []
    below, part = 0, 1
    *inner, largest = sorted(counts)
    for value in inner:
        below += counts[value]
        if below * parts >= part * total:
            edges.append(value)
            part = below * parts // total + 1
    return tuple(edges) or (largest,)


def bin_labels(edges: Sequence[Decimal]) -> tuple[str, ...]:
    """Return the labels of all bins, lowest first.

    >>> bin_labels([Decimal("20"), Decimal("35.50")])
    ('<= 20', '(20, 35.5]', '> 35.5')
    """
    texts = [_plain(edge) for edge in edges]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")


def bin_of(edges: Sequence[Decimal], value: Decimal) -> int:
    """Return the index of the bin that holds the number: a number on an edge is in the bin below it."""
    return bisect_left(edges, value)


def is_bin_label(text: str) -> bool:
    """Tell whether a text reads as the label of a bin."""
    return bool(_OUTER.fullmatch(text) or _INNER.fullmatch(text))


def bin_label_of(labels: tuple[str, ...], value: Decimal) -> str | None:
    """Return the label among these whose bin holds the number."""
    return next((label for label, low, high in _bins(labels) if low < value <= high), None)


@lru_cache(maxsize=1024)
def _bins(labels: tuple[str, ...]) -> tuple[tuple[str, Decimal, Decimal], ...]:
    """Read the labels that are those of bins: label, lower and upper edge."""
    result = []
    for label in labels:
        if match := _INNER.fullmatch(label):
            result.append((label, Decimal(match[1]), Decimal(match[2])))
        elif match := _OUTER.fullmatch(label):
            edge = Decimal(match[2])
            below = match[1] == "<="
            result.append((label, *((Decimal("-inf"), edge) if below else (edge, Decimal("inf")))))
    return tuple(result)


def _plain(value: Decimal) -> str:
    """Write a number without exponent and without idle zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if value == 0 else text
