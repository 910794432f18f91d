"""Exact counts of a pair of tables that the ledger holds: a later run need not ask for them (DESIGN 12)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from party.records.entries import column_name, tables_content, terms_content
from party.records.ledger import LedgerEntry, PeerName
from protocols.counts import CountKey, CountTable, KnownCounts
from protocols.facts import Way
from protocols.tables.expression import Expression, Term
from protocols.tables.schema import Schema
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.itemsets import set_key

_SAME = ("class_name", "seed", "test", "noise")
"""Terms that decide, with the tables, which number a count is."""


def known_counts(entries: Iterable[LedgerEntry], peer: PeerName, local: PartyInputs, agreed: Agreement) -> KnownCounts:
    """Return the counts that this peer and we know of both tables, from runs over the same split.

    Runs over other tables, columns, values, classes or records held out are passed over, and counts with noise are no
    exact counts: there are none where the terms have noise.
    """
    terms = terms_content(agreed.terms)
    if terms["noise"] is not None:
        return {}
    tables, columns = tables_content(local, agreed), _Columns(agreed.schema)
    runs: set[str] = set()
    known: dict[CountKey, CountTable] = {}
    for entry in entries:
        content: Any = entry.content
        if entry.peer != peer or content.get("dataset") != local.dataset:
            continue
        if content["kind"] == "run" and content["tables"] == tables:
            if all(content["terms"][term] == terms[term] for term in _SAME):
                runs.add(content["run"])
        elif content["kind"] == "counts" and content["run"] in runs and content["way"] != Way.TOLD:
            known |= dict(columns.tables(content["nodes"]))
        elif content["kind"] == "itemsets" and content["run"] in runs and content["way"] != Way.TOLD:
            known |= dict(columns.sets(content["sets"], content["counts"]))
    return known


class _Columns:
    """Finds columns and values of the joint schema by their names; both tables are the same, so they are all there."""

    def __init__(self, schema: Schema) -> None:
        self._places = {column_name(attribute): index for index, attribute in enumerate(schema.attributes)}
        self._values = [{value: code for code, value in enumerate(a.values)} for a in schema.attributes]

    def tables(self, nodes: Iterable[Mapping[str, Any]]) -> Iterator[tuple[CountKey, CountTable]]:
        """Yield the tables of some nodes."""
        for node in nodes:
            path = frozenset(self._term(column, value) for column, value in node["path"])
            for column, rows in node["counts"].items():
                yield (path, self._places[column]), np.array(rows, dtype=np.int64)

    def sets(self, paths: Iterable[Iterable[Any]], counts: Iterable[int]) -> Iterator[tuple[CountKey, CountTable]]:
        """Yield the counts of some sets of items."""
        for path, count in zip(paths, counts, strict=True):
            terms = tuple(self._term(column, value) for column, value in path)
            yield set_key(Expression(terms), len(self._places)), np.array([[count]], dtype=np.int64)

    def _term(self, column: str, value: str) -> Term:
        place = self._places[column]
        return Term(place, self._values[place][value])
