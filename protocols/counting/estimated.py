"""Estimated counts: the expanded table with numbers as weights (DESIGN 5.1, 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.engine import Answer, Classifier, Query
from protocols.counting.expanded import RowSets, cell_count, cell_keys, expand, merge_equal, tally
from protocols.counting.view import View
from protocols.tables.expression import Expression

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Estimates of one candidate's cells with what bounds their error.

    `counts` are the unbiased estimates, `variances` their unbiased variance estimates over the peer's coins, `live` the
    records that could lie in the cell whatever the coins were: no other record can contribute an error.
    """

    counts: Floats
    variances: Floats
    live: NDArray[np.int64]


class Estimator:
    """Unbiased estimates of `N(E)` from one party's view; equal records are merged first.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, view: View) -> None:
        distinct, _, repeats = merge_equal(view.codes)
        table = expand(distinct, view.design, view.peer_columns)
        self._schema = view.schema
        self._codes, self._record, self._repeats = table.codes, table.record, repeats
        guess = np.array([float(weight) for weight in view.design.pattern_weights()])
        self._guess: Floats = guess[table.pattern]
        self._weights: Floats = self._guess * repeats[table.record]
        self._sets = RowSets(table.codes)

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        self._sets.advance(expressions)

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate every candidate of every query."""
        nodes = [self._sets.rows(query.expression) for query in queries]
        return tally(self._codes, nodes, queries, self._schema, self._weights)

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How many records each distinct record stands for."""
        return self._repeats

    def cell_factors(self, expression: Expression, candidate: int) -> Floats:
        """Return what each distinct record adds to each of a candidate's cells (`records x values x classes`)."""
        rows = self._sets.rows(expression)
        cells = cell_count(candidate, self._schema)
        keys = self._record[rows] * cells + cell_keys(self._codes, rows, candidate, self._schema)
        factors: Floats = np.bincount(keys, weights=self._guess[rows], minlength=len(self._repeats) * cells).astype(
            np.float64
        )
        return factors.reshape(len(self._repeats), -1, self._schema.classes)

    def correct_factors(self, model: Classifier) -> Floats:
        """Return what each distinct record adds to the number of records that the model classifies rightly."""
        hits = self._hits(model)
        factors: Floats = np.bincount(
            self._record[hits], weights=self._guess[hits], minlength=len(self._repeats)
        ).astype(np.float64)
        return factors

    def spread(self, expression: Expression, candidate: int) -> Spread:
        """Estimate one candidate's cells together with their errors."""
        rows = self._sets.rows(expression)
        cells = cell_count(candidate, self._schema)
        present, local = np.unique(self._record[rows], return_inverse=True)
        keys = local * cells + cell_keys(self._codes, rows, candidate, self._schema)
        size = len(present) * cells
        factors = np.bincount(keys, weights=self._guess[rows], minlength=size).astype(np.float64)
        factors = factors.reshape(-1, cells)
        possible = (np.bincount(keys, minlength=size) > 0).reshape(-1, cells)
        repeats = self._repeats[present]
        counts: Floats = repeats @ factors
        shape = (-1, self._schema.classes)
        return Spread(
            counts.reshape(shape),
            (repeats @ factors**2 - counts).reshape(shape),
            (repeats @ possible).astype(np.int64).reshape(shape),
        )

    def correct(self, model: Classifier) -> float:
        """Estimate how many records the model classifies rightly (DESIGN 8: weighted variations)."""
        return float(self._weights[self._hits(model)].sum())

    def correct_error(self, model: Classifier) -> float:
        """Return the standard error of `correct`: the root of `sum f_i^2 - sum f_i` (DESIGN 5.2)."""
        factors = self.correct_factors(model)
        return sqrt(max(0.0, float(self._repeats @ (factors**2 - factors))))

    def _hits(self, model: Classifier) -> NDArray[np.bool_]:
        hits: NDArray[np.bool_] = model.predict(self._codes) == self._codes[:, self._schema.class_index]
        return hits
