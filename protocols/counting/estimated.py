"""Estimated counts: the expanded table with numbers as weights (DESIGN 5.1, 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.counting.engine import Answer, CountTable, Estimates, Predictor, Query, stacks
from protocols.counting.expanded import RowSets, cell_count, cell_keys, expand, merge_equal, tally
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

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate every candidate of every query."""
        nodes = [self._sets.rows(query.expression) for query in queries]
        return tally(self._codes, nodes, queries, self._schema, self._weights)

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
        own = self._train.answers(queries)
        flat = [table.ravel() for answer in own for table in answer.tables]
        mean = np.array((yield from _mean(tuple(np.concatenate(flat).tolist()), self._limit)))
        starts = iter(np.split(mean, np.cumsum([len(cells) for cells in flat])[:-1]))
        means = [Answer(tuple(next(starts).reshape(t.shape) for t in answer.tables)) for answer in own]
        return project_answers(queries, means, self._records)

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


class ProjectedEstimates:
    """Counts of one disguised data set, estimated and projected: a survey, no second party.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, train: Estimates, records: int) -> None:
        self._train, self._records = train, records

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Estimate at once; yields nothing."""
        self._train.advance([query.expression for query in queries])
        yield from ()
        return project_answers(queries, self._train.answers(queries), self._records)


def project_answers(queries: Sequence[Query], answers: Sequence[Answer], records: int) -> list[Answer]:
    """Project the tables of every answer to the total of its query's node, `records` at the root."""
    totals = [
        float(records if query.class_counts is None else sum(query.class_counts))
        for query in queries
        for _ in query.candidates
    ]
    tables = [table for answer in answers for table in answer.tables]
    projected: list[CountTable] = list(tables)
    for positions, stack in stacks(tables):
        total = np.array([totals[position] for position in positions])
        for position, table in zip(positions, project(stack, total), strict=True):
            projected[position] = table
    rest = iter(projected)
    return [Answer(tuple(next(rest) for _ in query.candidates)) for query in queries]


def project(estimates: Floats, total: ArrayLike) -> Floats:
    """Set negative estimates to 0 and rescale the rest to `total`; all zero when next to nothing is positive.

    Args:
        estimates: `... x values x classes`.
        total: What the cells of each table shall add up to.
    """
    positive = np.maximum(estimates, 0.0)
    flat = positive.reshape(*positive.shape[:-2], -1)
    mass = np.zeros(flat.shape[:-1])
    for cell in range(flat.shape[-1]):  # in one order on every machine: both parties must get the same bits
        mass = mass + flat[..., cell]
    scale = np.divide(np.asarray(total, dtype=np.float64), mass, out=np.zeros_like(mass), where=mass > _NOTHING)
    return positive * scale[..., None, None]
