"""A table of counts of two parties in words: on the screens of both, and for programs."""

from collections.abc import Iterator
from math import sqrt

import numpy as np

from party.names import printable
from party.node.players import Tabulated
from party.show.document import Block, Grid, ScreenColumn
from protocols.tables import Attribute
from protocols.terms import NOISE


def crosstab_lines(ended: Tabulated) -> Iterator[Block]:
    """Say what was counted, and how far noise puts a count off; then the table, our values by the peer's."""
    agreed = ended.agreed
    (own, theirs), rows = _ours_first(ended)
    names = f"{printable(own.name)!r}, in rows, by {printable(theirs.name)!r} of {agreed.peer}"
    yield f"Our column {names}: {_how(ended)}"
    heads = [ScreenColumn("", is_text=True), *(ScreenColumn(printable(value)) for value in theirs.values)]
    yield Grid(
        heads, [[printable(value), *map(str, row)] for value, row in zip(own.values, rows, strict=True)], folds=True
    )


def _how(ended: Tabulated) -> str:
    terms, records = ended.agreed.terms, f"of {len(ended.agreed.local.records):,} people"
    if terms.noise is None:
        return f"exact counts {records}"
    about = f"a count is off by about {_error(ended):.0f}, and may be below 0"
    return f"counts {records} with noise of both sides, epsilon {NOISE.text(terms.noise)} against each; {about}"


def _error(ended: Tabulated) -> float:
    """Return the standard error of a count: both sides' noise is in it."""
    law = ended.agreed.law
    return 0.0 if law is None else sqrt(2 * law.variance)


def _ours_first(ended: Tabulated) -> tuple[tuple[Attribute, Attribute], list[list[int]]]:
    first, second = ended.agreed.schema.columns
    table = np.reshape(ended.cells, ended.agreed.sizes)
    if first.party == ended.agreed.local.party:
        return (first, second), table.tolist()
    return (second, first), table.T.tolist()


def crosstab_json(ended: Tabulated) -> dict[str, object]:
    """Return a table for programs: rows of ours."""
    agreed = ended.agreed
    (own, theirs), rows = _ours_first(ended)
    return {
        "format": "cotally-crosstab/1",
        "peer": agreed.peer,
        "records": len(agreed.local.records),
        "column": own.name,
        "values": list(own.values),
        "peer_column": theirs.name,
        "peer_values": list(theirs.values),
        "counts": rows,
        "noise": None if agreed.terms.noise is None else str(agreed.terms.noise),
        "error": _error(ended),
    }
