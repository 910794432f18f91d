"""What a column looks like before it is treated: an identifier, numbers or dates.

No answer holds the content of a cell.

An identifier is a column, not binned, of more than 20 different cells that are more than half of all that are not
missing: e-mail addresses, telephone numbers, names. Identifiers that consist of digits differ from numbers:
they all begin with 0 or +, all have one length of 7 digits or more, or count the records.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from party.data.bins import BY_CLASS, ColumnTreatment, number
from party.data.cells import Cells
from party.data.frame import Column
from party.data.moments import day
from party.data.notices import About, Notice
from party.data.numbers import SortedNumbers
from party.data.texts import POINT, decimal_signs
from party.errors import DataError

FEW = 20
LONG = 7
MOST_CODES = 10
USUAL_BINS = 16
COMMAS = {  # by the kind of a column: how its numbers become plain ones
    "numbers with thousands": 'say decimal = "." under [data]',
    "numbers with commas": 'say decimal = "," under [data]',
    "numbers with separators": (
        'say under [data] decimal = "." if its commas group thousands, as in 1,234 for 1234, or decimal = "," if they '
        "begin a fraction"
    ),
}
ADVICE = {  # by the kind of a column: how to treat it as a measurement
    "numbers": 'give it bins = "quantiles:4"',
    "dates": 'give it bins = "year", "quarter" or "month" (and max_values, where these are many)',
    "texts": "write it as plain numbers and give it bins",
    **{kind: f"{said}, and give it bins" for kind, said in COMMAS.items()},
}

_MARKER = re.compile(r"-1|-?9{2,}", re.ASCII)
_USE = ("it is a measurement", "its dates shall be used")
_ZERO_OR_PLUS = re.compile(r"\+\d+|0\d+", re.ASCII)
_LONG = re.compile(rf"\d{{{LONG},}}", re.ASCII)


@dataclass(frozen=True, repr=False)
class Looks:
    """A column's texts that are not missing, and what they look like."""

    column: Column

    def __repr__(self) -> str:
        return f"<Looks of {len(self.cells.texts)} texts>"

    @property
    def cells(self) -> Cells:
        """The cells of the column."""
        return self.column.cells

    @property
    def records(self) -> int:
        """Number of cells that are not missing."""
        return len(self.cells) - self.cells.missing

    @cached_property
    def kind(self) -> str:
        """Whether all cells are "numbers" or "dates", most are numbers with commas, or they are "texts"."""
        if not self.cells.different:
            return "texts"
        if self.cells.numbers is not None or all(number(text) is not None for text in self.cells.texts):
            return "numbers"
        if all(day(text) is not None for text in self.cells.texts):
            return "dates"
        many = 2 * max(self._signs.values(), default=0) > self.records
        return self.commas if many and self.commas is not None else "texts"

    @cached_property
    def _signs(self) -> dict[str, int]:
        return decimal_signs(dict(zip(self.cells.texts, self.cells.records.tolist(), strict=True)))

    @property
    def commas(self) -> str | None:
        """The kind of numbers that a declared decimal sign would make plain, if any are."""
        if len(self._signs) != 1:
            return "numbers with separators" if self._signs else None
        return "numbers with thousands" if POINT in self._signs else "numbers with commas"

    @property
    def nearly_all_differ(self) -> bool:
        """Return whether enough cells differ to identify records, taken as they are."""
        return self.cells.different > FEW and 2 * self.cells.different > self.records

    @property
    def names_by_digits(self) -> bool:
        """Return whether the numbers look like telephone, account or row numbers."""
        plain = self.cells.numbers
        codes = self._are_codes if plain is None else (plain.held.digits or 0) >= LONG
        return codes or (self.cells.different == self.records and self._count_up)

    @property
    def _are_codes(self) -> bool:
        lengths = set(map(len, self.cells.texts))
        return self._are_all(_ZERO_OR_PLUS) or (len(lengths) == 1 and self._are_all(_LONG))

    @property
    def _count_up(self) -> bool:
        plain = self.cells.numbers
        if plain is not None and not plain.held.may_count_up:
            return False
        values = sorted(number(text) or 0 for text in self.cells.texts)
        return all(value == values[0] + i for i, value in enumerate(values))

    def _are_all(self, pattern: re.Pattern[str]) -> bool:
        return all(pattern.fullmatch(text) for text in self.cells.texts)


def automatic(looks: Looks, treatment: ColumnTreatment) -> ColumnTreatment:
    """Return what is done to a column that the owner has not named: numbers that are not codes are binned."""
    most = treatment.max_values or MOST_CODES
    identifies = looks.nearly_all_differ and looks.names_by_digits if looks.kind == "numbers" else True
    if treatment.bins is not None or identifies or looks.cells.different <= most:
        return treatment
    if treatment.group is not None:
        return replace(treatment, bins=BY_CLASS, group=None)
    takes_one = treatment.missing == "value" and looks.cells.missing >= treatment.smallest_value
    parts = max(2, (treatment.max_values or USUAL_BINS) - takes_one)
    return replace(treatment, bins=f"quantiles:{parts}")


def check_no_identifier(
    columns: Sequence[tuple[Looks, ColumnTreatment]], way_out: str = "list {} under ignore"
) -> None:
    """Refuse columns that identify records, all at once."""
    found = [looks for looks, treatment in columns if treatment.bins is None and looks.nearly_all_differ]
    if not found:
        return
    first = found[0]
    if len(found) == 1:
        measures = first.kind != "texts" or any(number(text) is not None for text in first.cells.texts)
        use = f" or, if {_USE[first.kind == 'dates']}, {ADVICE[first.kind]}" if measures else ""
        differ = f"{first.cells.different} of its {first.records} cells differ"
        raise first.column.error(f"{way_out.format('it')}{use}: {differ}, as in an identifier")
    names = ", ".join(repr(looks.column.name) for looks in found)
    raise DataError(
        f'columns {names}: {way_out.format("them")}, or give bins to those that are measurements ("quantiles:4") and '
        'to dates ("year" and, where these are many, max_values): over half of the cells of each differ, as in an '
        "identifier",
        path=first.column.path,
    )


def remark(looks: Looks, treatment: ColumnTreatment, given: ColumnTreatment) -> Notice | None:
    """Return what an owner may not expect about a column."""
    if treatment != given:
        return About.BINNED(bins=treatment.bins)
    few = MOST_CODES if looks.kind == "numbers" else 1
    if treatment.bins is not None or looks.kind == "texts" or looks.cells.different <= few:
        return None
    return About.TEXTS(different=looks.cells.different, kind=looks.kind)


def marker_like(looks: Looks, treatment: ColumnTreatment) -> Notice | None:
    """Return the number that stands far apart from all others, and is held often, as a marker of missing cells is."""
    if looks.kind != "numbers" or looks.cells.different <= 2:
        return None
    plain = looks.cells.numbers
    held = (
        plain.held
        if plain is not None
        else SortedNumbers.of(
            {
                number(text) or Decimal(0): int(held)
                for text, held in zip(looks.cells.texts, looks.cells.records, strict=True)
            }
        )
    )
    for at, next_to, other_end, below in ((0, 1, -1, True), (-1, -2, 0, False)):
        value, near, far = held.values[at], held.values[next_to], held.values[other_end]
        cells = int(held.records[at])
        apart = value < 0 <= near if below else value - near > near - far
        if apart and cells >= max(2, treatment.smallest_value) and _MARKER.fullmatch(str(value)):
            return (About.MARKER_BELOW if below else About.MARKER_ABOVE)(number=str(value), cells=cells)
    return None
