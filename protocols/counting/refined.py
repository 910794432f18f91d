"""Counts with noise, made fit for a learner: whole, not negative, and no finer than what the noise leaves (DESIGN 14).

What is told stays as it is between the parties and for their checks; a learner sees what `protocols.noise.both` makes
of it, the same on both sides.
"""

from collections.abc import Sequence

from protocols.counts import Answer, Correct, CountEngine, Learned, Query
from protocols.noise.both import KnownSums, branch_variance, refined
from protocols.role import Role
from protocols.tables.schema import Schema
from protocols.tables.table import ROOT, Expression


class RefinedCounts:
    """An engine that tells numbers with noise, as a learner sees it.

    Args:
        engine: Tells them.
        schema: The joint schema.
        variance: Of the noise in each told cell.
        class_variance: Of the noise in each class count of the training records.

    Discloses: whatever `engine` discloses.
    """

    def __init__(self, engine: CountEngine, schema: Schema, variance: float, class_variance: float) -> None:
        self._engine, self._schema = engine, schema
        self._variance, self._class_variance = variance, class_variance
        self._above: dict[Expression, KnownSums] = {}

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Ask the engine, and make the best of what it tells."""
        told = yield from self._engine.count(queries)
        answers, level = [], {}
        for query, answer in zip(queries, told, strict=True):
            known = KnownSums(query.class_counts or (), self._variance_of(query.expression))
            level[query.expression], tables = refined(known, answer.tables, self._variance)
            answers.append(Answer(tuple(tables)))
        self._above = level
        return answers

    def _variance_of(self, node: Expression) -> float:
        if node == ROOT:
            return self._class_variance
        values = self._schema.attributes[node.terms[-1].column].size
        return branch_variance(values, self._above[node.parent], self._variance)

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Ask the engine."""
        return (yield from self._engine.count_correct(model))
