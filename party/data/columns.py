"""Turn a column of text into an attribute: bin, fill in what is missing, merge what is rare (DESIGN 3).

All of it works on the distinct texts of a column and their frequencies; only the ends touch every record.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from party.data.bins import MEDIAN, bin_label_of, bin_labels, bin_of, edges_of, is_bin_label, number
from party.data.frame import Column
from party.data.texts import value_of
from party.errors import ConfigError
from protocols.tables.schema import MAX_DOMAIN

MISSING = "missing"
OTHER = "other"
EVERY_OTHER = "*"

_QUANTILES = re.compile(r"quantiles:([1-9]\d{0,2})", re.ASCII)


@dataclass(frozen=True)
class ColumnTreatment:
    """What the owner does to a column before anybody sees it: it bins, then fills in, then merges.

    Args:
        bins: None (the texts are the values), "median-of-range", "quantiles:K", or edges in rising order.
        max_values: At most so many values remain; the rarest become "other". None for any number.
        missing: "value" (a value of its own, labelled "missing"), "majority" (the commonest value), "refuse",
            or a text to fill in.
        not_missing: Texts that are values of this column, though they mark a missing cell elsewhere.

    Raises:
        ConfigError: One of them is out of its range.
    """

    bins: str | tuple[Decimal, ...] | None = None
    max_values: int | None = None
    missing: str = "value"
    not_missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.bins, str):
            self._check_kind(self.bins)
        elif self.bins is not None:
            self._check_edges(self.bins)
        if self.max_values is not None and not 2 <= self.max_values <= MAX_DOMAIN:
            raise ConfigError(f"max_values must be 2 to {MAX_DOMAIN}")
        if not self.missing:
            raise ConfigError("missing must be 'value', 'majority', 'refuse' or a text to fill in")

    def _check_kind(self, bins: str) -> None:
        match = _QUANTILES.fullmatch(bins)
        if bins != MEDIAN and not (match and 2 <= int(match[1]) <= MAX_DOMAIN):
            raise ConfigError(
                f"bins must be {MEDIAN!r}, 'quantiles:K' with K from 2 to {MAX_DOMAIN}, or a list of edges"
            )

    def _check_edges(self, edges: tuple[Decimal, ...]) -> None:
        if not 1 <= len(edges) < MAX_DOMAIN:
            raise ConfigError(f"bins must have 1 to {MAX_DOMAIN - 1} edges")
        if any(isinstance(edge, float) or number(str(edge)) is None for edge in edges):
            raise ConfigError("the edges of bins must be decimal numbers")
        if any(low >= high for low, high in pairwise(edges)):
            raise ConfigError("the edges of bins must rise")


@dataclass(frozen=True, eq=False, repr=False)
class TreatedColumn:
    """Values in domain order, a code for each record, and the value that missing cells have, if any."""

    values: tuple[str, ...]
    codes: NDArray[np.uint8]
    missing_label: str | None

    def __repr__(self) -> str:
        return f"<TreatedColumn {len(self.codes)} x {len(self.values)}>"


def treat(column: Column, treatment: ColumnTreatment) -> TreatedColumn:
    """Apply the treatment.

    The domain is in rising order: all bins, the empty ones too; else as numbers, if all texts are numbers;
    else as text. Then come the text to fill in, where it is new, then "other", then "missing".

    Args:
        column: As read.
        treatment: See there.

    Raises:
        DataError: A cell is missing where that is refused, or not a number where it is binned; a value has
            the name of a label that is made here; or there are too many values.
    """
    index = {text: position for position, text in enumerate(dict.fromkeys(column.cells))}
    positions = np.fromiter(map(index.__getitem__, column.cells), np.intp, len(column.cells))
    tally = dict(zip(index, np.bincount(positions).tolist(), strict=True))
    present = {text: n for text, n in tally.items() if text is not None}
    absent = [text for text in tally if text is None]

    labels, frequency = _labelled(column, treatment, present)
    filler = _filler(column, treatment, absent, frequency)
    if filler is not None:
        labels |= dict.fromkeys(absent, filler)
        frequency[filler] = frequency.get(filler, 0) + sum(tally[text] for text in absent)
    merged = _merged(column, treatment, frequency)
    values = [value for value in frequency if value not in merged]
    missing_is_last = treatment.missing == "value" and filler in values
    if merged:
        values.insert(len(values) - missing_is_last, OTHER)
    if len(values) > MAX_DOMAIN:
        raise column.error(f"it has {len(values)} values, {MAX_DOMAIN} are possible: bin it or set max_values")

    code = {value: position for position, value in enumerate(values)}
    code |= dict.fromkeys(merged, len(values) - 1 - missing_is_last)
    codes = np.array([code[labels[text]] for text in index], dtype=np.uint8)[positions]
    return TreatedColumn(tuple(values), codes, OTHER if filler in merged else filler)


def label_of(values: tuple[str, ...], text: str | None, missing_label: str | None = None) -> str | None:
    """Return the value of an attribute to which a raw cell belongs, or None: it was never seen.

    Args:
        values: The attribute's values.
        text: The cell; None for a missing one.
        missing_label: What missing cells became, as `TreatedColumn` says; needed where they were filled in.

    >>> label_of(("<= 5", "> 5", "missing"), "7.5"), label_of(("x", "other"), "z"), label_of(("x", "y"), "z")
    ('> 5', 'other', None)
    """
    if text is None:
        return next((label for label in (missing_label, MISSING, OTHER) if label in values), None)
    if text in values:
        return text
    value = number(text)
    label = None if value is None else bin_label_of(values, value)
    return label or (OTHER if OTHER in values else value_of(values, text))


def _labelled(
    column: Column, treatment: ColumnTreatment, present: Mapping[str, int]
) -> tuple[dict[str | None, str], dict[str, int]]:
    """Return the label of each text, and the labels in domain order with their frequencies."""
    if treatment.bins is None:
        return {text: text for text in present}, {text: present[text] for text in _in_order(present)}
    numbers = {text: _number(column, text) for text in present}
    if not numbers and isinstance(treatment.bins, str):
        raise column.error("the column is binned and has no number")
    counts: Counter[Decimal] = Counter()
    for text, value in numbers.items():
        counts[value] += present[text]
    edges = edges_of(treatment.bins, counts)
    bins = bin_labels(edges)
    labels: dict[str | None, str] = {text: bins[bin_of(edges, value)] for text, value in numbers.items()}
    frequency = dict.fromkeys(bins, 0)
    for text, n in present.items():
        frequency[labels[text]] += n
    return labels, frequency


def _number(column: Column, text: str) -> Decimal:
    value = number(text)
    if value is None:
        raise column.error("the cell is not a plain number, and the column is binned", column.cells.index(text))
    return value


def _in_order(texts: Collection[str]) -> list[str]:
    """Sort by size if all are numbers, else as text."""
    numbers = {text: number(text) for text in texts}
    if None in numbers.values():
        return sorted(texts)
    return sorted(texts, key=lambda text: (numbers[text], text))


def _filler(
    column: Column, treatment: ColumnTreatment, absent: Collection[str | None], frequency: Mapping[str, int]
) -> str | None:
    """Return the label that missing cells get; None where there are none and no label stands for them."""
    if treatment.missing == "majority":
        if not any(frequency.values()):
            raise column.error("all cells are missing: there is no commonest value to fill in")
        return min(frequency, key=lambda value: (-frequency[value], value))
    if treatment.missing == "value":
        if absent and MISSING in frequency:
            raise column.error(f"a value is named {MISSING!r}, and cells are missing: set missing to another text")
        return MISSING if absent else None
    if treatment.missing == "refuse":
        if absent:
            raise column.error("the cell is missing", min(map(column.cells.index, absent)))
        return None
    filler = treatment.missing
    if treatment.bins is not None:
        filler = label_of(tuple(frequency), filler) or filler
        if is_bin_label(filler) and filler not in frequency:
            raise column.error("the text to fill in reads as a bin that is not one of the column's")
    return filler if absent or filler in frequency else None


def _merged(column: Column, treatment: ColumnTreatment, frequency: Mapping[str, int]) -> frozenset[str]:
    """Return the rarest values, which become "other"; of equally rare ones the last in order of text."""
    if treatment.max_values is None or len(frequency) <= treatment.max_values:
        return frozenset()
    if OTHER in frequency:
        raise column.error(f"a value is named {OTHER!r}, and rare values are merged under that name")
    ranked = sorted(frequency, key=lambda value: (-frequency[value], value))
    if treatment.bins is None and any(map(is_bin_label, ranked)):
        raise column.error("a value reads as the label of a bin, and rare values are merged")
    return frozenset(ranked[treatment.max_values - 1 :])
