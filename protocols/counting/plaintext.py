"""Counting on one whole table: plain ID3, and the reference for every other engine."""

from collections.abc import Sequence

import numpy as np

from protocols.counting.rows import rows_by_node, tally
from protocols.counts import Answer, Correct, Learned, Query
from protocols.role import Role
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


class PlaintextEngine:
    """Exact counts of joint records that one party holds in the clear.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, train: Codes, test: Codes) -> None:
        self._schema, self._train, self._test = schema, train, test
        self._sets = rows_by_node(train)

    @property
    def class_counts(self) -> tuple[int, ...]:
        """How many training records each class has."""
        labels = self._train[:, self._schema.class_index]
        return tuple(np.bincount(labels, minlength=self._schema.classes).tolist())

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Count at once; yields nothing."""
        self._sets.advance(query.expression for query in queries)
        yield from ()
        nodes = [self._sets.rows(query.expression) for query in queries]
        return tally(self._train, nodes, queries, self._schema)

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Count the test records whose class the model predicts."""
        yield from ()
        return Correct(float((model.predict(self._test) == self._test[:, self._schema.class_index]).sum()))
