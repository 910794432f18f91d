"""Estimated counts: the expanded table with numbers as weights (DESIGN 5.1, 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.engine import Answer, Predictor, Query
from protocols.counting.expanded import Index, RowSets, cell_count, cell_keys, expand, merge_equal
from protocols.counting.view import View
from protocols.errors import PeerError
from protocols.messages import EstimatedCounts
from protocols.role import Role, exchange
from protocols.tables.expression import Expression

Floats = NDArray[np.float64]
LARGEST_FACTOR = 1e6  # what one record may add to an estimate where no design says less
_NOTHING = 1e-9


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
        self._guess = guess[table.pattern]
        self._weights = self._guess * repeats[table.record]
        self._sets = RowSets(table.codes)

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        self._sets.advance(expressions)

    def answer(self, query: Query) -> Answer:
        """Estimate every candidate of a query."""
        rows = self._sets.rows(query.expression)
        return Answer(tuple(self._table(rows, candidate) for candidate in query.candidates))

    def _table(self, rows: Index, candidate: int) -> Floats:
        cells = cell_count(candidate, self._schema)
        keys = cell_keys(self._codes, rows, candidate, self._schema)
        counts = np.bincount(keys, weights=self._weights[rows], minlength=cells).astype(np.float64)
        return counts.reshape(-1, self._schema.classes)

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

    def correct(self, tree: Predictor) -> float:
        """Estimate how many records the tree classifies rightly (DESIGN 8: weighted variations)."""
        return float(self._weights[self._hits(tree)].sum())

    def correct_error(self, tree: Predictor) -> float:
        """Return the standard error of `correct`: the root of `sum f_i^2 - sum f_i` (DESIGN 5.2)."""
        hits = self._hits(tree)
        factors = np.bincount(self._record[hits], weights=self._guess[hits], minlength=len(self._repeats))
        return sqrt(max(0.0, float(self._repeats @ (factors**2 - factors))))

    def _hits(self, tree: Predictor) -> NDArray[np.bool_]:
        hits: NDArray[np.bool_] = tree.predict(self._codes) == self._codes[:, self._schema.class_index]
        return hits


class MeanEstimates:
    """Method `randomized`: the mean of both parties' estimates, projected; no exact count at all.

    `largest` bounds what one record can add to the peer's estimates: beyond it they are refused.

    Discloses: to the peer, our estimated counts of what is asked, computed from our true and its disguised columns.
    """

    def __init__(self, train: Estimator, test: Estimator | None, records: int, largest: float = LARGEST_FACTOR) -> None:
        self._train, self._test, self._records = train, test, records
        self._limit = records * largest
        self.standard_error = 0.0

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Average the two parties' estimates from the bytes exchanged and project them."""
        own = [table for query in queries for table in self._train.answer(query).tables]
        flat = tuple(float(x) for table in own for x in table.ravel())
        mean = iter((yield from _mean(flat, self._limit)))
        answers = []
        for query in queries:
            total = self._records if query.class_counts is None else sum(query.class_counts)
            shapes = [table.shape for table in self._train.answer(query).tables]
            tables = (
                np.array([next(mean) for _ in range(rows * columns)]).reshape(rows, columns) for rows, columns in shapes
            )
            answers.append(Answer(tuple(project(table, total) for table in tables)))
        return answers

    def count_correct(self, tree: Predictor) -> Role[float]:
        """Estimate the number of test records that the tree classifies rightly.

        The mean of both parties' standard errors, `standard_error` afterwards, bounds that of the mean.
        """
        own = (0.0, 0.0) if self._test is None else (self._test.correct(tree), self._test.correct_error(tree))
        mean, self.standard_error = yield from _mean(own, self._limit)
        return mean


def _mean(own: tuple[float, ...], limit: float) -> Role[tuple[float, ...]]:
    theirs = (yield from exchange(EstimatedCounts(own))).values
    if len(theirs) != len(own) or not all(isfinite(x) and abs(x) <= limit for x in theirs):
        raise PeerError("the peer's estimated counts do not fit the query")
    return tuple((a + b) / 2 for a, b in zip(own, theirs, strict=True))


def project(estimates: Floats, total: float) -> Floats:
    """Set negative estimates to 0 and rescale the rest to `total`; all zero when next to nothing is positive."""
    positive = np.maximum(estimates, 0.0)
    mass = sum(positive.ravel().tolist())
    return positive * (total / mass) if mass > _NOTHING else np.zeros_like(positive)
