"""The merit of a node's candidates, by the agreed measure and within the limits of the tree (DESIGN 5.3, 7.1).

What decides a split is measured in whole numbers (`learning.whole`), so all machines choose alike: estimates by records
as whole ones, which is finer than any disguise leaves them. What is ranked, or doubted, is measured as it is.

The merit of a candidate is a measure of its table, less what noise brings to it; `CANNOT` if it may not split its node.

By the gain ratio, as Quinlan has it (1986, and C4.5), only attributes of at least average gain compete: a small divisor
makes the ratio of a poor attribute large. The average is over the candidates that are looked at and may split the node.

*Ranking* (Hybrid section 3.1, steps 4a and 4b): each party estimates the gain of every candidate from its own true and
the other's disguised columns, and the mean of both ranks. An estimated gain is a whole number here, with `most` the
bits of a class's code, which no measure passes:

    round((gain + most) 2^20), gain within -most .. most;    0 of an attribute that may not split its node

so that sums of two rank as their means do, and have as many bits whatever the table is.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from math import inf
from typing import Final, Protocol

import numpy as np

from protocols.counts import LEAST_MASS, Answer, CountTable, Estimates, Query, positive_part, stacks
from protocols.learning.impurity import TIE, merit, noise_merit
from protocols.learning.whole import Whole, whole_merit
from protocols.role import Role
from protocols.tables import Expression, Floats
from protocols.terms import ALL, Growth, Impurity, Window

SLACK = 1e-9
"""Counts that are estimates are rounded: what lacks no more than this of a limit reaches it, at both parties."""


def node_may_split(records: float, depth: int, growth: Growth) -> bool:
    """Return whether a node of this many records, with this many splits above it, may be split at all."""
    is_deep = growth.max_depth is not None and depth >= growth.max_depth
    return not is_deep and (growth.min_leaf == 1 or records >= growth.smallest_split - SLACK)


def attribute_may_split(branches: Iterable[float], growth: Growth) -> bool:
    """Return whether an attribute with branches of these sizes may split a node: two are large enough."""
    return growth.min_leaf == 1 or sum(not is_small(records, growth) for records in branches) > 1


def is_small(records: float, growth: Growth) -> bool:
    """Return whether a branch of this many records is a leaf of its parent's label: an empty one always is."""
    return records <= 0 or (growth.min_leaf > 1 and records < growth.min_leaf - SLACK)


Measure = Callable[[Floats, Impurity], Floats]
"""From tables of one shape (`... x values x classes`), the merit of each."""

CANNOT = -inf
"""The merit of an attribute that may not split its node."""


def merits(answers: Sequence[Answer], records: float, growth: Growth, weights: Sequence[int]) -> list[list[float]]:
    """Return for each answer the merit of each of its candidates, `CANNOT` of one that may not split the node.

    Where there is noise, of the coins or in the counts, an attribute must have more merit than that to split it;
    `records` are those of the root.
    """
    tables = [table for answer in answers for table in answer.tables]
    eligible = [[attribute_may_split(map(sum, table.tolist()), growth) for table in each.tables] for each in answers]

    def measure(stack: Floats, impurity: Impurity) -> Floats:
        return whole_merit(stack * np.array(weights), impurity, records * max(weights))

    compared = _compared(answers, tables, eligible, growth.impurity, measure)
    noises = _by_answer(answers, _noises(answers, tables, growth.impurity))
    return [
        [
            CANNOT if value <= TIE and (growth.noise is not None or noise > TIE) else value
            for value, noise in zip(*each, strict=True)
        ]
        for each in zip(compared, noises, strict=True)
    ]


def estimated_merits(answers: Sequence[Answer], records: Sequence[float], growth: Growth) -> list[list[float]]:
    """Return the merits by estimated counts after projection, less what their noise brings: below 0 where that is more.

    That of what may not split its node is `CANNOT`. Negative cells count as 0. Rescaling to the node's total, the other
    half of a projection, would change no measure; it is done where records are compared with a limit.
    """

    def fits(table: Floats, total: float) -> bool:
        scale = total / max(float(table.sum()), LEAST_MASS)
        return attribute_may_split((scale * sum(row) for row in table.tolist()), growth)

    projected = [[positive_part(table.astype(np.float64)) for table in answer.tables] for answer in answers]
    eligible = [[fits(table, total) for table in own] for own, total in zip(projected, records, strict=True)]
    return _compared(answers, list(chain(*projected)), eligible, growth.impurity, merit)


def _by_answer(answers: Sequence[Answer], values: Iterable[float]) -> list[list[float]]:
    """Part the values of all tables, in their order, by the answers that have these."""
    left = iter(values)
    return [list(islice(left, len(answer.tables))) for answer in answers]


def _compared(
    answers: Sequence[Answer],
    tables: Sequence[CountTable],
    eligible: Sequence[Sequence[bool]],
    impurity: Impurity,
    measure: Measure,
) -> list[list[float]]:
    values = _by_answer(answers, _beyond_noise(answers, tables, impurity, measure))
    if impurity == Impurity.GAIN_RATIO:
        gains = _by_answer(answers, _beyond_noise(answers, tables, Impurity.INFORMATION_GAIN, measure))
        values = [_of_average_gain(*each) for each in zip(values, gains, eligible, strict=True)]
    return [
        [value if fits else CANNOT for value, fits in zip(*each, strict=True)]
        for each in zip(values, eligible, strict=True)
    ]


def _of_average_gain(ratios: Sequence[float], gains: Sequence[float], eligible: Sequence[bool]) -> list[float]:
    competing = [gain for gain, fits in zip(gains, eligible, strict=True) if fits]
    least = sum(competing) / max(len(competing), 1) - TIE
    return [ratio if gain >= least else 0.0 for ratio, gain in zip(ratios, gains, strict=True)]


def _beyond_noise(
    answers: Sequence[Answer], tables: Sequence[CountTable], impurity: Impurity, measure: Measure
) -> list[float]:
    """Measure each table, whatever their shapes, less what its noise brings."""
    result = [-noise for noise in _noises(answers, tables, impurity)]
    for positions, stack in stacks(tables):
        for position, value in zip(positions, measure(stack, impurity).tolist(), strict=True):
            result[position] += value
    return result


def _noises(answers: Sequence[Answer], tables: Sequence[CountTable], impurity: Impurity) -> list[float]:
    """Return what the noise of each table adds to its merit; nothing of exact counts."""
    result, noises = [0.0] * len(tables), [noise for answer in answers for noise in answer.noises]
    for positions, stack in stacks(tables if noises else []):
        noise = np.array([noises[position] for position in positions])
        for position, value in zip(positions, noise_merit(stack, noise, impurity).tolist(), strict=True):
            result[position] = value
    return result


GAIN_BITS: Final = 20
"""An estimated gain is a multiple of `2**-GAIN_BITS` bits: far below the error of any estimate."""


class Ranking(Protocol):
    """A way to find windows, the same at both parties."""

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        """Return the `omega` best candidates of each query, in the agreed order; of equals the first are better.

        All queries have the same number of candidates, which is larger.
        """


def windows_or_all(ranking: Ranking | None, queries: Sequence[Query], omega: Window) -> Role[list[tuple[int, ...]]]:
    """Return the window of each query, or all its candidates where none is left out.

    Discloses: whatever `ranking` discloses, where a candidate is left out.
    """
    if not queries or ranking is None or omega is ALL or omega >= len(queries[0].candidates):
        return [query.candidates for query in queries]
    ranking.advance([query.expression for query in queries])
    return (yield from ranking.windows(queries, omega))


def _most(classes: int) -> int:
    return max(1, (classes - 1).bit_length())


def sum_bits(classes: int) -> int:
    """Return how many bits a difference of two sums of both sides' gains has, its sign included."""
    return (4 * _most(classes) << GAIN_BITS).bit_length() + 1


def whole_gains(estimates: Estimates, queries: Sequence[Query], classes: int, growth: Growth) -> Whole:
    """Return our estimated gains as whole numbers (`queries x candidates`), of nodes with one number of candidates."""
    answers, most = estimates.answers(queries), _most(classes)
    records = [float(answer.tables[0].sum()) for answer in answers]
    gains = np.array(estimated_merits(answers, records, growth))
    whole = np.rint((np.clip(gains, -most, most) + most) * (1 << GAIN_BITS))
    return np.where(gains == CANNOT, 0, whole).astype(np.int64)


def best(gains: Sequence[int], omega: int) -> tuple[int, ...]:
    """Return the places of the highest, of equals the first, in their order.

    >>> best([5, 7, 7, 1, 7], 2)
    (1, 2)
    """
    return tuple(sorted(sorted(range(len(gains)), key=lambda place: -gains[place])[:omega]))
