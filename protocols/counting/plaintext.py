"""Counting on one whole table: plain ID3, and the reference for every other engine."""

from collections.abc import Sequence

import numpy as np

from protocols.counting.engine import Answer, CountTable, Predictor, Query
from protocols.counting.expanded import Index, RowSets, cell_count, cell_keys
from protocols.role import Role
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


class PlaintextEngine:
    """Exact counts of joint records that one party holds in the clear.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, train: Codes, test: Codes) -> None:
        self._schema, self._train, self._test = schema, train, test
        self._sets = RowSets(train)

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Count at once; yields nothing."""
        self._sets.advance(query.expression for query in queries)
        yield from ()
        return [self._answer(query) for query in queries]

    def _answer(self, query: Query) -> Answer:
        rows = self._sets.rows(query.expression)
        return Answer(tuple(self._table(rows, candidate) for candidate in query.candidates))

    def _table(self, rows: Index, candidate: int) -> CountTable:
        cells = cell_count(candidate, self._schema)
        keys = cell_keys(self._train, rows, candidate, self._schema)
        return np.bincount(keys, minlength=cells).reshape(-1, self._schema.classes)

    def count_correct(self, tree: Predictor) -> Role[float]:
        """Count the test records whose class the tree predicts."""
        yield from ()
        return float((tree.predict(self._test) == self._test[:, self._schema.class_index]).sum())
