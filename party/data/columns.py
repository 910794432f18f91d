"""Turn a column of text into an attribute: bin, fill in missing cells, merge rare values (DESIGN 3).

All of it works on the distinct texts of a column and their frequencies; only the ends touch every record.

Rare values are not named: bins join their neighbours, texts become "other" (DESIGN 14). A value that fewer than
`smallest` records hold never keeps a label of its own, and no label made here is held by fewer, unless it is the only
one.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from party.data.bins import (
    BY_CLASS,
    DAYS,
    NUMBERS,
    ColumnTreatment,
    Scale,
    bin_label_of,
    bin_labels,
    class_edges,
    edges_of,
    is_bin_label,
    number,
    scale_of,
)
from party.data.cells import NO_TEXT
from party.data.frame import Column
from party.data.looks import COMMAS, Looks
from party.data.notices import About, Notice
from party.data.numbers import SortedNumbers, sorted_numbers
from party.data.texts import decimal_signs, plain_text, value_of
from protocols.learning.grouping import alike_groups
from protocols.tables import MAX_DOMAIN

OTHER = "other"


def joined_bins(
    edges: Sequence[Decimal], records: Sequence[int], smallest: int, most: int | None
) -> tuple[Decimal, ...]:
    """Return the edges that remain when rare bins have joined their smaller neighbour, then the rarest until `most`."""
    kept, sizes = list(edges), list(records)
    while len(sizes) > 1:
        rarest = min(range(len(sizes)), key=sizes.__getitem__)
        rare = smallest > 1 and sizes[rarest] < smallest
        if not rare and (most is None or len(sizes) <= most):
            break
        near = [at for at in (rarest - 1, rarest + 1) if 0 <= at < len(sizes)]
        low, high = sorted((rarest, min(near, key=sizes.__getitem__)))
        sizes[low : high + 1] = [sizes[low] + sizes[high]]
        del kept[low]
    return tuple(kept)


@dataclass(frozen=True)
class Merged:
    """Labels that become "other", how many of them are rare, and whether a label that enough hold is among them."""

    labels: frozenset[str]
    rare: int = 0
    absorbed: bool = False


def merged_labels(frequency: Mapping[str, int], smallest: int, most: int | None) -> Merged:
    """Return what becomes "other": rare labels, then the rarest beyond `most`, until "other" itself is not rare."""
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    room = len(ranked) if most is None else most - 1
    common = [label for label in ranked if smallest == 1 or frequency[label] >= smallest]
    if len(common) == len(ranked) and (most is None or len(ranked) <= most):
        return Merged(frozenset())
    named = [label for label in common if label != OTHER][:room]
    chosen, inside = len(named), sum(frequency.values()) - sum(map(frequency.__getitem__, named))
    while named and inside < smallest:
        inside += frequency[named.pop()]
    rare = len(frozenset(ranked) - {*common, OTHER})
    return Merged(frozenset(ranked) - frozenset(named), rare, len(named) < chosen)


_GROUP = re.compile(r"\{.+ \| .+\}", re.DOTALL)
_OR = " | "
_TWO_WAYS = re.compile(r"\d\d?([/.-])\d\d?\1(?:\d\d|\d{4})(?: .*)?", re.ASCII)  # which is the month?

MISSING = "missing"
EVERY_OTHER = "*"


@dataclass(frozen=True, eq=False, repr=False)
class TreatedColumn:
    """A column as an attribute.

    A missing cell of a new row has `missing_label`, if it may be revealed. `remarks` say, for the owner alone, what
    became of values that too few records hold; where one is `absorbed`, a value that enough hold took some of them in.
    The first `ordered` values rise.
    """

    values: tuple[str, ...]
    codes: NDArray[np.uint8]
    missing_label: str | None
    remarks: tuple[Notice, ...] = ()
    absorbed: bool = False
    ordered: int = 0

    def __repr__(self) -> str:
        return f"<TreatedColumn {len(self.codes)} x {len(self.values)}>"


@dataclass
class _Labels:
    """Labels, which each record has (the last one if missing), their frequencies, which rise, and what to say."""

    names: Sequence[str]
    of: NDArray[np.integer]
    frequency: dict[str, int]
    remarks: list[Notice] = field(default_factory=list)
    absorbed: bool = False
    rising: frozenset[str] = frozenset()


Classes = NDArray[np.uint8] | None


def treat(column: Column, treatment: ColumnTreatment, classes: Classes = None) -> TreatedColumn:
    """Apply the treatment, by the class of each record where that is asked for.

    The domain is in rising order: bins; else as declared; else as numbers, if all texts are; else as text. Then come
    the text to fill in, where it is new, then "other", then "missing". No value is held by fewer than `smallest_value`
    records, unless it is the only one: rare bins join their neighbours, rare texts become "other", and missing cells
    that are too few and find no "other" count as the most common value.
    """
    labels = _labelled(column, treatment, classes)
    filler = _fill_in(column, treatment, labels)
    merged = _merge(column, treatment, labels)
    values = [value for value in labels.frequency if value not in merged]
    missing_is_last = treatment.missing == "value" and filler == MISSING and MISSING in values
    if merged:
        values.insert(len(values) - missing_is_last, OTHER)
    if len(values) > MAX_DOMAIN:
        raise column.error(
            f"set max_values = 4, give it bins, or list it under ignore: it has {len(values)} values, {MAX_DOMAIN} are "
            "possible"
        )

    code = {value: position for position, value in enumerate(values)}
    code |= dict.fromkeys(merged, len(values) - 1 - missing_is_last)
    codes = np.array([*map(code.__getitem__, labels.names), code.get(filler or "", 0)], dtype=np.uint8)[labels.of]
    label = _missing_label(treatment, tuple(values), filler)
    rising = len(labels.rising.intersection(values))
    return TreatedColumn(
        tuple(values), codes, label, tuple(labels.remarks), labels.absorbed, rising if rising > 1 else 0
    )


def _missing_label(treatment: ColumnTreatment, values: tuple[str, ...], filler: str | None) -> str | None:
    """Return the value of a missing cell in a new row; too few missing ones do not show."""
    if treatment.missing == "refuse":
        return None
    if treatment.missing == "value":
        return next((label for label in (MISSING, OTHER) if label in values), None)
    return label_of(values, filler if treatment.missing == "majority" else plain_text(treatment.missing))


def label_of(values: tuple[str, ...], text: str | None, missing_label: str | None = None) -> str | None:
    """Return the value of an attribute to which a raw cell belongs, or None: it was never seen.

    >>> label_of(("<= 5", "> 5", "missing"), "7.5"), label_of(("x", "other"), "z"), label_of(("x", "y"), "z")
    ('> 5', 'other', None)
    """
    if text is None:
        return missing_label or (MISSING if MISSING in values else None)
    known = value_of(values, text) or _group_of(values, text) or bin_label_of(values, text)
    return known or (OTHER if OTHER in values else None)


def _group_of(values: tuple[str, ...], text: str) -> str | None:
    """Return the label among these of the group that a text is in.

    >>> _group_of(("{a | b}", "c"), "b"), _group_of(("{a | b}", "c"), "c")
    ('{a | b}', None)
    """
    return _groups(values).get(plain_text(text))


def different_in(values: tuple[str, ...]) -> int:
    """Return how many values there are, each of a group by itself.

    >>> different_in(("{a | b}", "c"))
    3
    """
    groups = _groups(values)
    return len(values) - len(set(groups.values())) + len(groups)


@lru_cache(maxsize=1024)
def _groups(values: tuple[str, ...]) -> dict[str, str]:
    return {text: label for label in values if _GROUP.fullmatch(label) for text in label[1:-1].split(_OR)}


def _labelled(column: Column, treatment: ColumnTreatment, classes: Classes) -> _Labels:
    cells = column.cells
    if treatment.bins is None:
        present = dict(zip(cells.texts, cells.records.tolist(), strict=True))
        order = [text for text in map(plain_text, treatment.order) if text in present]
        texts = [*order, *_in_order([text for text in present if text not in order])]
        labels = _Labels(cells.texts, cells.codes, {text: present[text] for text in texts}, rising=frozenset(order))
        return labels if treatment.group is None else _grouped(column, treatment, labels, classes)
    by_class = treatment.bins == BY_CLASS
    scale = DAYS if by_class and Looks(column).kind == "dates" else scale_of(treatment.bins)
    if cells.missing == len(cells) and isinstance(treatment.bins, str):
        raise column.error("the column is binned, and all cells are missing: list it under ignore")
    numbers, bins_of_all, places = _numbers(column, scale)
    smallest = treatment.smallest_value
    if by_class:
        asked = class_edges(numbers, _class_counts(column, places(), len(numbers.values), classes), smallest)
    else:
        asked = edges_of(treatment.bins, numbers, smallest)
    sizes = numbers.sizes(asked)
    own_value = treatment.missing == "value" and cells.missing >= smallest
    most = None if treatment.max_values is None else max(2, treatment.max_values - own_value)
    edges = joined_bins(asked, sizes, smallest, None if by_class else most)
    if by_class and most is not None:
        counts = _class_counts(column, bins_of_all(edges), len(edges) + 1, classes)
        edges = tuple(edges[group[-1]] for group in alike_groups(counts, most, neighbours=True)[:-1])
    bins = bin_labels(edges, scale) if edges else (OTHER,)
    held = dict(zip(bins, numbers.sizes(edges), strict=True))
    labels = _Labels(bins, bins_of_all(edges), held, absorbed=not edges, rising=frozenset(bins))
    if smallest > 1 and min(sizes) < smallest:
        labels.remarks.append(About.BINS_JOINED(smallest=smallest))
    return labels


def _grouped(column: Column, treatment: ColumnTreatment, labels: _Labels, classes: Classes) -> _Labels:
    """Give texts that the class shows alike one label; where two are left, one may be "other", with the rare ones."""
    cells, frequency = column.cells, labels.frequency
    apart = merged_labels(frequency, treatment.smallest_value, MAX_DOMAIN).labels | {OTHER, MISSING}
    named = [text for text in frequency if text not in apart]
    if any(_OR in text for text in named):
        raise column.error(f"a value holds {_OR!r}, which separates the names of a group: write it otherwise")
    others = [text for text in frequency if text in apart - {MISSING}]
    places = {text: place for place, text in enumerate(cells.texts)}
    counts = _class_counts(column, cells.codes, len(places), classes)
    rows = [counts[places[text]] for text in named]
    own_value = treatment.missing == "value" and cells.missing >= treatment.smallest_value
    room = max(2, (treatment.max_values or MAX_DOMAIN) - own_value)
    if others and room == 2:
        rows.append(counts[[places[text] for text in others]].sum(axis=0))
    label: dict[str, str] = {}
    for group in alike_groups(rows, max(2, room - bool(others))):
        texts = [named[row] for row in group if row < len(named)]
        if len(group) > 1:
            label |= dict.fromkeys(texts, OTHER if len(texts) < len(group) else f"{{{_OR.join(texts)}}}")
    names = [label.get(text, text) for text in cells.texts]
    held: dict[str, int] = {}
    for text, records in frequency.items():
        name = label.get(text, text)
        held[name] = held.get(name, 0) + records
    return _Labels(names, labels.of, held)


def _class_counts(column: Column, codes: NDArray[np.integer], rows: int, classes: Classes) -> NDArray[np.int64]:
    """Return how many records of each class have each code (`rows x classes`); a missing cell has none."""
    if classes is None:
        raise column.error(
            "its values would follow from the class of this file, and there is none beside it: name the class under "
            '[data] where this party holds it, or take "class" out of its bins or group'
        )
    held, width = codes != NO_TEXT, int(classes.max()) + 1
    both = codes[held].astype(np.int64) * width + classes[held]
    return np.bincount(both, minlength=rows * width).reshape(rows, width)


def _numbers(
    column: Column, scale: Scale
) -> tuple[SortedNumbers, Callable[[Sequence[Decimal]], NDArray[np.intp]], Callable[[], NDArray[np.integer]]]:
    """Return the numbers of a column, what gives each record's bin, given the edges, and what gives its number's place.

    Both are -1 for a missing cell.
    """
    cells = column.cells
    if scale is NUMBERS and (plain := cells.numbers) is not None:
        return plain.held, plain.bins, lambda: plain.codes
    numbers, places = sorted_numbers(cells.texts, cells.records, partial(_read, column, scale))

    def of_records(each: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.append(each, NO_TEXT)[cells.codes]

    return numbers, lambda edges: of_records(numbers.bins(edges)[places]), lambda: of_records(places)


def _read(column: Column, scale: Scale, text: str) -> Decimal:
    value = scale.read(text)
    if value is None:
        row, text = next((row, text) for row, text in enumerate(column.cells) if text and scale.read(text) is None)
        advice = _advice(column, scale, text)
        raise column.error(f"the cell is not {scale.called}, and the column is binned: {advice}", row)
    return value


def _advice(column: Column, scale: Scale, text: str) -> str:
    if scale is NUMBERS and decimal_signs({text: 1}) and (commas := Looks(column).commas) is not None:
        return COMMAS[commas]
    if scale is not NUMBERS and _TWO_WAYS.fullmatch(text):
        return "1/2/2024 may be of January or of February: write its dates as 2024-02-01"
    if scale is NUMBERS and DAYS.read(text) is not None:
        return 'it is a date: give the column bins = "year", "quarter" or "month"'
    return "mend it, list its text as missing, or leave its bins out"


def _in_order(texts: Collection[str]) -> list[str]:
    numbers = {text: number(text) for text in texts}
    return sorted(texts) if None in numbers.values() else sorted(texts, key=lambda text: (numbers[text], text))


def _fill_in(column: Column, treatment: ColumnTreatment, labels: _Labels) -> str | None:
    """Count the missing cells, and return their label; None where there are none and no label stands for them."""
    missing = column.cells.missing
    filler = _filler(column, treatment, missing, labels.frequency)
    if filler is None:
        return None
    if filler not in labels.frequency and _finds_no_company(treatment, missing, labels.frequency):
        filler = _commonest(labels.frequency)
        labels.absorbed = True
        labels.remarks.append(About.MISSING_ABSORBED(missing=missing))
    labels.frequency[filler] = labels.frequency.get(filler, 0) + missing
    return filler


def _finds_no_company(treatment: ColumnTreatment, missing: int, frequency: Mapping[str, int]) -> bool:
    """Return whether missing cells are too few for a value of their own, and no other value becomes "other"."""
    if missing >= treatment.smallest_value or not frequency or OTHER in frequency:
        return False
    return not merged_labels(frequency, treatment.smallest_value, treatment.max_values).labels


def _commonest(frequency: Mapping[str, int]) -> str:
    return min(frequency, key=lambda value: (-frequency[value], value))


def _filler(column: Column, treatment: ColumnTreatment, missing: int, frequency: Mapping[str, int]) -> str | None:
    """Return the label that missing cells would get, however few they are."""
    if treatment.missing == "majority":
        if not any(frequency.values()):
            raise column.error("all cells are missing: there is no most common value to fill in")
        return _commonest(frequency)
    if treatment.missing == "value":
        if missing and MISSING in frequency:
            raise column.error(f"a value is named {MISSING!r}, and cells are missing: set missing to another text")
        return MISSING if missing else None
    if treatment.missing == "refuse":
        if missing:
            cells = "the cell is missing" if missing == 1 else f"{missing} cells are missing, the first one here"
            cure = 'leave these records out, or say under [columns] what a missing cell is, such as missing = "value"'
            own = f"; or list {', '.join(map(repr, column.taken))} under not_missing, if it is a value"
            raise column.error(f"{cells}: {cure}{own if column.taken else ''}", column.cells.row(None))
        return None
    filler = plain_text(treatment.missing)
    if treatment.group is not None:
        filler = _group_of(tuple(frequency), filler) or filler
    if treatment.bins is not None:
        filler = label_of(tuple(frequency), filler) or filler
        if is_bin_label(filler) and filler not in frequency:
            raise column.error(
                "the text to fill in reads as a bin that is not one of the column's: choose another under [columns]"
            )
    return filler if missing or filler in frequency else None


def _merge(column: Column, treatment: ColumnTreatment, labels: _Labels) -> frozenset[str]:
    """Return the labels that become "other", and say what is worth saying of them."""
    merged = merged_labels(labels.frequency, treatment.smallest_value, treatment.max_values)
    kept = tuple(value for value in labels.frequency if value not in merged.labels)
    if treatment.bins is None and any(bin_label_of(kept, text) or _group_of(kept, text) for text in merged.labels):
        raise column.error(
            "a value reads as the label of a bin or a group, and values in it are merged: write it otherwise in the "
            "file"
        )
    others = merged.labels - {OTHER}
    if others:
        records, least = sum(map(labels.frequency.__getitem__, others)), treatment.smallest_value
        share = round(100 * records / len(column.cells))
        numbers = {"kept": len(kept), "others": len(others), "records": records, "rare": merged.rare, "smallest": least}
        labels.remarks.append(About.MERGED(**numbers, share=share))
    labels.absorbed |= merged.absorbed or not kept
    if len(kept) + bool(merged.labels) == 1:
        labels.remarks.append(About.ONE_VALUE())
    return merged.labels
