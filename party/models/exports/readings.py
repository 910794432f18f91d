"""What a cell means to a model, for programs that are not Python: tried in the order missing, texts, ranges, other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from party.data import MISSING, MISSING_MARKERS, OTHER, label_of
from party.data.bins import DAYS, NUMBERS, ranges_of
from party.data.texts import plain_text
from party.models.tree_file import references
from protocols.association.joint import JointItemsets, item_name, items_of
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.tables import YES_OR_NO, Attribute, Term

SUREST = Fraction(4, 5)
"""The confidence of a rule, where the run asked about none: as for `cotally rules`."""


@dataclass(frozen=True)
class Range:
    """The numbers, or days, above `low` and up to `high`, each None for no end, and the value that they have."""

    low: Decimal | None
    high: Decimal | None
    value: str


@dataclass(frozen=True)
class CellReading:
    """How a column's cells are read: those that are missing, by an empty cell or `marks`, texts, numbers, all others.

    `column` is its name in a table that has the columns of both parties. Where `dated`, ranges are of days. A value
    that is None has no branch.
    """

    column: str
    marks: tuple[str, ...]
    missing: str | None
    texts: Mapping[str, str]
    ranges: tuple[Range, ...]
    dated: bool
    other: str | None

    def answering(self, answer: Mapping[str, str]) -> "CellReading":
        """Return what reads the answers that its values give."""
        joined: list[Range] = []
        for each in self.ranges:
            value, last = answer[each.value], joined[-1] if joined else None
            if last is not None and (last.value, last.high) == (value, each.low):
                joined[-1] = replace(last, high=each.high)
            else:
                joined.append(Range(each.low, each.high, value))
        return replace(
            self,
            missing=None if self.missing is None else answer[self.missing],
            texts={text: answer[value] for text, value in self.texts.items()},
            ranges=tuple(joined),
            other=None if self.other is None else answer[self.other],
        )

    @property
    def known(self) -> list[str]:
        """The texts that are values or mean a missing cell."""
        return [*self.texts, *self.marks]

    @property
    def spelled(self) -> dict[str, list[str]]:
        """The texts of each value, as databases write them."""
        held: dict[str, list[str]] = {}
        for text, value in self.texts.items():
            held.setdefault(value, []).extend(_spellings(text))
        return held

    @property
    def absent(self) -> list[str]:
        """The texts that mean a missing cell, as databases write them."""
        return [each for mark in self.marks for each in _spellings(mark)]


def missing_marks(attribute: Attribute) -> tuple[str, ...]:
    """Return the texts that mean a missing cell: none that is a value."""
    chosen = MISSING_MARKERS if attribute.missing.marks is None else attribute.missing.marks
    kept = {*map(plain_text, {*attribute.values} - {OTHER, MISSING})}
    return tuple(dict.fromkeys(text for text in map(plain_text, chosen) if text and text not in kept))


def _reading(column: str, attribute: Attribute) -> CellReading:
    values, marks = attribute.values, missing_marks(attribute)
    numbers, days = (ranges_of(values, scale) for scale in (NUMBERS, DAYS))
    if numbers and days:
        raise InputError(f"the column {column!r} has bins of numbers and of dates: export it as python")
    named = [value for value in values if value not in {label for label, *_ in numbers or days}]
    parts = [part for value in named if value.startswith("{") for part in value[1:-1].split(" | ")]
    held = {way: label_of(values, way) for text in (*values, *parts) for way in (text, plain_text(text))}
    ranges = (Range(_end(low), _end(high), value) for value, low, high in numbers or days)
    return CellReading(
        column,
        marks,
        label_of(values, None, attribute.missing.value),
        {text: value for text, value in held.items() if value is not None and text not in marks},
        tuple(ranges),
        bool(days),
        OTHER if OTHER in values else None,
    )


def double_below(edge: Decimal) -> float:
    """Return the largest double that is written as this number or a smaller one: doubles are above both or neither."""
    near = float(edge)
    return near if Decimal(repr(near)) <= edge else math.nextafter(near, -math.inf)


def _end(edge: Decimal) -> Decimal | None:
    return edge if edge.is_finite() else None


def _spellings(text: str) -> list[str]:
    """Return a text as databases may write it.

    >>> _spellings("2"), _spellings("True"), _spellings("2024-05-31T12:30:00")
    (['2', '2.0'], ['True', 'true', 'TRUE'], ['2024-05-31T12:30:00', '2024-05-31 12:30:00'])
    """
    if text in {"True", "False"}:
        return [text, text.lower(), text.upper()]
    ways = {f"{text}.0" if text.removeprefix("-").isdecimal() else text, text.replace("T", " ")} - {text}
    return [text, *(way for way in sorted(ways) if plain_text(way) == text)]


def readings_of(model: Model) -> dict[int, CellReading]:
    """Return how the attributes that a model reads, columns or conditions on them, come from cells."""
    schema = model.schema
    base = schema.base.attributes
    names = references(base)
    columns = {index: _reading(names[index], base[index]) for index in sorted(schema.base_columns(model.columns))}
    if not schema.conditions:
        return columns
    found = {}
    for index in sorted(model.columns):
        condition = schema.conditions[index]
        values = schema.values_by_code(condition)
        each = {value: YES_OR_NO[values[code]] for code, value in enumerate(base[condition.column].values)}
        found[index] = columns[condition.column].answering(each)
    return found


@dataclass(frozen=True)
class RuleList:
    """The rules of itemsets, surest first: a row has the consequent of the first one whose antecedent holds."""

    found: JointItemsets

    @cached_property
    def rules(self) -> Sequence[tuple[tuple[Term, ...], str]]:
        """Each antecedent, and the consequent's items as tables of rules write them."""
        found = self.found
        if found.reached is not None:
            pairs = found.reached.rules
        else:
            items, mined = items_of(found.attributes), found.rules()
            sure = [
                rule for rule, is_sure in zip(mined.rules, mined.reached("confidence", SUREST), strict=True) if is_sure
            ]
            sure.sort(key=lambda rule: -rule.confidence)
            pairs = tuple(
                (tuple(items[item] for item in rule.antecedent), tuple(items[item] for item in rule.consequent))
                for rule in sure
            )
        if not pairs:
            raise InputError("no rule is sure enough to be exported: `cotally rules` lists what there is")
        return [(first, ", ".join(item_name(found, term) for term in rest)) for first, rest in pairs]

    @property
    def readings(self) -> dict[int, CellReading]:
        """How the columns that antecedents are about are read."""
        names = references(self.found.attributes)
        read = sorted({term.column for first, _ in self.rules for term in first})
        return {column: _reading(names[column], self.found.attributes[column]) for column in read}


Exported = Model | RuleList
