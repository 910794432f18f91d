"""Conservation where counts are told with noise (DESIGN 6.3, 14): sums over the classes of a node agree but for noise.

What each candidate's cells add up to is compared with what the level above told of the node, by both sides and from
told numbers alone. The bounds hold for all expressions at once: a false alarm happens in at most one of 10^6 runs.
"""

from collections.abc import Sequence
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Answer, Query
from protocols.errors import DeviationError
from protocols.noise.both import BothNoises, sum_bound
from protocols.noise.geometric import Geometric
from protocols.tables.expression import ROOT, Expression
from protocols.tables.schema import Schema

FALSE_ALARM = 1e-6

_Terms = list[tuple[Geometric, int]]


def alarm_of(terms: int, values: int) -> float:
    """Divide the false-alarm rate among all expressions: `2^-T` to those of `T` terms, in equal parts.

    Args:
        terms: Of an expression.
        values: Of all columns together.

    Returns:
        Minus the natural logarithm of one expression's share.
    """
    expressions = terms * log(values) - lgamma(terms + 1)
    return -log(FALSE_ALARM) + terms * log(2) + expressions


class ToldSums:
    """Compares told numbers with each other, level by level.

    Args:
        schema: The joint schema.
        class_counts: Of the training records, as told.
        noises: Of both sides.
        class_noise: Of each class count; none where they are exact.
    """

    def __init__(
        self, schema: Schema, class_counts: Sequence[int], noises: BothNoises, class_noise: Geometric | None
    ) -> None:
        self._schema, self._noises = schema, noises
        self._values = sum(column.size for column in schema.columns)
        self._root = np.array(class_counts, dtype=np.int64), [(class_noise, 1)] if class_noise else []
        self._above: dict[tuple[Expression, int], NDArray[np.int64]] = {}

    @property
    def largest_noise(self) -> int:
        """Of a told cell."""
        return self._noises.cells.both

    def check(self, queries: Sequence[Query], answers: Sequence[Answer]) -> None:
        """Hold a level against the one above, and keep it for the next.

        Raises:
            DeviationError: Sums differ by more than noise can explain.
        """
        level = {}
        for query, answer in zip(queries, answers, strict=True):
            counts, terms = self._known(query.expression)
            for candidate, table in zip(query.candidates, answer.tables, strict=True):
                told = table.astype(np.int64)
                level[query.expression, candidate] = told
                if (abs(told.sum(axis=0) - counts) > self._bound(query.expression, len(told), terms)).any():
                    raise DeviationError
        self._above = level

    def _known(self, node: Expression) -> tuple[NDArray[np.int64], _Terms]:
        """Return what was told of the classes at a node before, and the noise in each."""
        if node == ROOT:
            return self._root
        told: NDArray[np.int64] = self._above[node.parent, node.terms[-1].column][node.terms[-1].value]
        return told, self._noises.in_cells(1)

    def _bound(self, node: Expression, cells: int, known: _Terms) -> float:
        alarm = alarm_of(len(node.terms) + 2, self._values)
        return sum_bound([*self._noises.in_cells(cells), *known], alarm)
