"""Engines that answer with estimates alone: projected, so that they can stand for counts (DESIGN 5.2)."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from protocols.counting.estimated import Estimator
from protocols.counts import Answer, Correct, CountTable, Estimates, Predictor, Query, positive_part, stacks
from protocols.errors import PeerError
from protocols.messages import EstimatedCounts
from protocols.role import Role, exchange
from protocols.tables.arrays import Floats

LARGEST_FACTOR = 1e6  # what one record may add to an estimate where no design says less


class MeanEstimates:
    """Method `randomized`: the mean of both parties' estimates, projected; no exact count at all.

    `largest` bounds what one record can add to the peer's estimates: beyond it they are refused.

    Discloses: to the peer, our estimated counts of what is asked, computed from our true and its disguised columns.
    """

    def __init__(self, train: Estimator, test: Estimator | None, records: int, largest: float = LARGEST_FACTOR) -> None:
        self._train, self._test, self._records = train, test, records
        self._limit = records * largest

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Average the two parties' estimates from the bytes exchanged and project them."""
        own = self._train.answers(queries)
        flat = [table.ravel() for answer in own for table in answer.tables]
        mean = np.array((yield from _mean(tuple(np.concatenate(flat).tolist()), self._limit)))
        starts = iter(np.split(mean, np.cumsum([len(cells) for cells in flat])[:-1]))
        means = [Answer(tuple(next(starts).reshape(t.shape) for t in answer.tables)) for answer in own]
        return project_answers(queries, means, self._records)

    def count_correct(self, tree: Predictor) -> Role[Correct]:
        """Estimate the number of test records that the tree classifies rightly.

        The mean of both parties' standard errors bounds that of the mean.
        """
        own = (0.0, 0.0) if self._test is None else (self._test.correct(tree), self._test.correct_error(tree))
        return Correct(*(yield from _mean(own, self._limit)))


def _mean(own: tuple[float, ...], limit: float) -> Role[tuple[float, ...]]:
    theirs = (yield from exchange(EstimatedCounts(own))).values
    if len(theirs) != len(own) or not all(isfinite(x) and abs(x) <= limit for x in theirs):
        raise PeerError("the peer's estimated counts do not fit the query")
    return tuple((a + b) / 2 for a, b in zip(own, theirs, strict=True))


class ProjectedEstimates:
    """Counts of one disguised data set, estimated and projected: a survey, no second party.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, train: Estimates) -> None:
        self._train = train

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Estimate at once; yields nothing."""
        self._train.advance([query.expression for query in queries])
        yield from ()
        return project_answers(queries, self._train.answers(queries))


def project_answers(queries: Sequence[Query], answers: Sequence[Answer], records: int | None = None) -> list[Answer]:
    """Project the tables of every answer to the total of its query's node.

    Where the node's counts are not known the total is `records`, or the number of records that a table was estimated
    from: its cells add up to it.
    """
    totals = [
        _total(query, table, records) for query, answer in zip(queries, answers, strict=True) for table in answer.tables
    ]
    tables = [table for answer in answers for table in answer.tables]
    projected: list[CountTable] = list(tables)
    for positions, stack in stacks(tables):
        total = np.array([totals[position] for position in positions])
        for position, table in zip(positions, project(stack, total), strict=True):
            projected[position] = table
    rest = iter(projected)
    return [Answer(tuple(next(rest) for _ in query.candidates)) for query in queries]


def _total(query: Query, table: CountTable, records: int | None) -> float:
    if query.class_counts is not None:
        return float(sum(query.class_counts))
    return float(round(float(table.sum())) if records is None else records)


def project(estimates: Floats, total: ArrayLike) -> Floats:
    """Set negative estimates to 0 and rescale the rest to `total`; all zero if the positive mass is below 1e-9.

    What is positive by rounding alone counts as 0: a node of one class would else look as if it had a second one.

    Args:
        estimates: `... x values x classes`.
        total: What the cells of each table shall add up to.
    """
    positive = positive_part(estimates)
    flat = positive.reshape(*positive.shape[:-2], -1)
    mass = np.zeros(flat.shape[:-1])
    for cell in range(flat.shape[-1]):  # in one order on every machine: both parties must get the same bits
        mass = mass + flat[..., cell]
    scale = np.divide(np.asarray(total, dtype=np.float64), mass, out=np.zeros_like(mass), where=mass > 0)
    return positive * scale[..., None, None]
