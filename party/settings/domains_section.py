"""The section `[columns]` of a `design.toml`: the domain of every column."""

import re
from decimal import Decimal

from party.data import BOM, MISSING, ColumnTreatment, text_flaw
from party.data.bins import bin_labels, number
from party.errors import ConfigError
from party.settings.domains import Domain
from party.settings.toml import BLANKS, Section
from protocols.tables.schema import MAX_DOMAIN

_LEFT_OUT, _REFUSE, _VALUE = "left out", "refuse", "value"
_MOST_VALUES = MAX_DOMAIN - 1  # one code stands for an answer not given
_LONE_RETURN = re.compile(r"\r(?!\n)")
_NOT_KNOWN = "depends on the data, which a collector does not have: list the values, or the edges of bins"


def read_domains(top: Section) -> dict[str, Domain]:
    """Return the domain of every column, in the order of the file.

    Raises:
        ConfigError: There is no column, or a domain is missing or does not follow from the declaration alone.
    """
    columns = top.section("columns", None)
    if not columns.names:
        raise top.error("columns", "names no column")
    for position, name in enumerate(columns.names, 1):
        flaw = unwritable(name) if name else "is empty"
        if flaw is not None:
            raise top.error("columns", f"the name of column {position} {flaw}")
    return {name: _domain(columns, name) for name in columns.names}


def unwritable(text: str) -> str | None:
    """Say why a text could not be read back from the disguised file, which is made only once."""
    if text.startswith(BOM):
        return "begins with a byte order mark"
    return "holds a carriage return that stands alone" if _LONE_RETURN.search(text) else text_flaw(text)


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
        raise columns.error(name, "an empty cell is a missing one: no value can be empty")
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
