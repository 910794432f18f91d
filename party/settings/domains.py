"""The domain of a survey's column: declared without looking at data, since a collector has only disguised data.

A cell is one of the values, or a number that falls into one of the bins. A missing cell is the value that the
declaration gives it; otherwise an answer not given, or an error if the declaration refuses that. A cell outside the
domain is an error. No error holds a cell's content.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from party.data import BOM, MISSING, Column, ColumnTreatment, text_flaw, value_of
from party.data.bins import bin_labels, bin_of, number
from party.data.texts import decimal_signs
from party.errors import ConfigError
from party.settings.toml import BLANKS, Section
from protocols.tables import MAX_DOMAIN, NO_ANSWER


@dataclass(frozen=True)
class Domain:
    """What a column holds: bins by `edges`, and values; a missing cell is one, or no answer (not if `complete`)."""

    values: tuple[str, ...]
    edges: tuple[Decimal, ...] = ()
    missing: str | None = None
    complete: bool = False

    @property
    def may_be_missing(self) -> bool:
        """Whether an answer may be left out, visibly so."""
        return self.missing is None and not self.complete

    def codes(self, column: Column) -> NDArray[np.uint8]:
        """Return the code of every cell, `NO_ANSWER` where none is given."""
        first: dict[str | None, int] = {}
        for row, text in enumerate(column.cells):
            first.setdefault(text, row)
        code = {text: self._code(column, text, row) for text, row in first.items()}
        return np.fromiter(map(code.__getitem__, column.cells), np.uint8, len(column.cells))

    def _code(self, column: Column, text: str | None, row: int) -> int:
        if text is None:
            if self.complete:
                raise column.error(
                    "the cell is missing, and the design refuses that: leave the record out, or change missing there",
                    row,
                )
            return NO_ANSWER if self.missing is None else self.values.index(self.missing)
        known = value_of(self.values, text)
        if known is not None:
            return self.values.index(known)
        value = number(text) if self.edges else None
        if value is None:
            what = "neither a plain number nor a declared bin" if self.edges else "none of the declared values: mend it"
            if self.edges:
                signs = decimal_signs({text: 1})
                what += ": declare which sign begins a fraction (decimal)" if signs else ": mend it"
            raise column.error(f"the cell is {what}", row)
        return bin_of(self.edges, value)


_LEFT_OUT, _REFUSE, _VALUE = "left out", "refuse", "value"
_MOST_VALUES = MAX_DOMAIN - 1  # one code stands for an answer not given
_LONE_RETURN = re.compile(r"\r(?!\n)")
_NOT_KNOWN = "depends on the data, which a collector does not have: list the values, or the edges of bins"


def read_domains(top: Section) -> dict[str, Domain]:
    """Return the domain of every column, in the order of the file."""
    columns = top.section("columns", None)
    if not columns.names:
        raise top.error("columns", "names no column: add [columns.NAME] for each question")
    for position, name in enumerate(columns.names, 1):
        flaw = unwritable(name) if name else "is empty: give it one"
        if flaw is not None:
            raise top.error("columns", f"the name of column {position} {flaw}")
    return {name: _domain(columns, name) for name in columns.names}


def unwritable(text: str) -> str | None:
    """Say why a text could not be read back from the disguised file, which is made only once."""
    if text.startswith(BOM):
        return "begins with a byte order mark: write it without"
    return (
        "holds a carriage return that stands alone: write a line feed, or nothing"
        if _LONE_RETURN.search(text)
        else text_flaw(text)
    )


def _domain(columns: Section, name: str) -> Domain:
    section = columns.section(name, ("values", "bins", "missing", "max_values"))
    for key in ("max_values", "bins"):
        if isinstance(section.raw(key, None), str | int):
            raise section.error(key, _NOT_KNOWN)
    if ("values" in section.names) == ("bins" in section.names):
        raise columns.error(name, "give either its values or the edges of its bins")
    edges = _edges(section) if "bins" in section.names else ()
    values = bin_labels(edges) if edges else section.texts("values")
    missing = section.text("missing", MISSING if MISSING in values else _LEFT_OUT, controls=BLANKS)
    if missing == _VALUE:
        missing = MISSING
        values = values if MISSING in values else (*values, MISSING)
    if missing in (_LEFT_OUT, _REFUSE):
        return _checked(columns, name, Domain(values, edges, complete=missing == _REFUSE))
    if missing not in values:
        raise section.error(
            "missing", f'must be "{_LEFT_OUT}", "{_REFUSE}", "{_VALUE}" (a value {MISSING!r} of its own) or a value'
        )
    return _checked(columns, name, Domain(values, edges, missing))


def _checked(columns: Section, name: str, domain: Domain) -> Domain:
    if "" in domain.values:
        raise columns.error(
            name, "an empty cell is a missing one: leave the empty value out, and say by missing what it is"
        )
    if not 1 <= len(domain.values) <= _MOST_VALUES:
        advice = "list the values" if not domain.values else "give the edges of bins, or merge values"
        raise columns.error(name, f"has {len(domain.values)} values; 1 to {_MOST_VALUES} are possible: {advice}")
    for position, value in enumerate(domain.values, 1):
        flaw = unwritable(value)
        if flaw is not None:
            raise columns.error(name, f"value {position} {flaw}")
    return domain


def _edges(section: Section) -> tuple[Decimal, ...]:
    listed = section.raw("bins")
    if not isinstance(listed, list):
        raise section.error("bins", "must be a list of edges, such as [18, 65]")
    edges = tuple(edge if isinstance(edge, Decimal) else number(str(edge)) for edge in listed)
    if None in edges:
        raise section.error("bins", "the edges must be numbers")
    try:
        ColumnTreatment(bins=tuple(edge for edge in edges if edge is not None))
    except ConfigError as error:
        raise section.error("bins", str(error)) from None
    return tuple(edge for edge in edges if edge is not None)
