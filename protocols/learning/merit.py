"""The merit of a node's candidates, by the agreed measure and within the limits of the tree (DESIGN 5.3, 7.1).

What decides a split is measured in whole numbers (`learning.whole`), so all machines choose alike: estimates by records
as whole ones, which is finer than any disguise leaves them. What is ranked, or doubted, is measured as it is.

By the gain ratio, as Quinlan has it (1986, and C4.5), only attributes of at least average gain compete: a small divisor
makes the ratio of a poor attribute large. The average is over the candidates that are looked at and may split the node.

*Ranking* (Hybrid section 3.1, steps 4a and 4b): each party estimates the gain of every candidate from its own true and
the other's disguised columns, and the mean of both ranks. An estimated gain is a whole number here, with `most` the
bits of a class's code, which no measure passes:

    round((gain + most) 2^20), gain within -most .. most;    0 of an attribute that may not split its node

so that sums of two rank as their means do, and have as many bits whatever the table is.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

import numpy as np

from protocols.counts import LEAST_MASS, Answer, CountTable, Estimates, Query, positive_part, stacks
from protocols.learning.impurity import TIE, merit, noise_merit
from protocols.learning.tree import Leaf, majority
from protocols.learning.whole import Whole, whole_merit
from protocols.role import Role
from protocols.tables import Expression, Floats
from protocols.terms import ALL, Growth, Impurity, Window

SLACK = 1e-9
"""Counts that are estimates are rounded: what lacks no more than this of a limit reaches it, at both parties."""


def may_be_split(records: float, depth: int, growth: Growth) -> bool:
    """Return whether a node of this many records, with this many splits above it, may be split at all."""
    is_deep = growth.max_depth is not None and depth >= growth.max_depth
    return not is_deep and (growth.min_leaf == 1 or records >= growth.smallest_split - SLACK)


def may_split(branches: Iterable[float], growth: Growth) -> bool:
    """Return whether an attribute with branches of these sizes may split a node: two are large enough."""
    return growth.min_leaf == 1 or sum(not is_small(records, growth) for records in branches) > 1


def is_small(records: float, growth: Growth) -> bool:
    """Return whether a branch of this many records is a leaf of its parent's label: an empty one always is."""
    return records <= 0 or (growth.min_leaf > 1 and records < growth.min_leaf - SLACK)


@dataclass(frozen=True)
class OpenNode:
    """A node that may be split, with its counts of classes: step 1 of Hybrid-ID3, `E` and `AL`."""

    expression: Expression
    counts: tuple[float, ...]
    candidates: tuple[int, ...]

    @property
    def depth(self) -> int:
        """Number of splits above it."""
        return len(self.expression.terms)

    @property
    def records(self) -> float:
        """How many it has."""
        return sum(self.counts)

    def leaf(self, weights: Sequence[int]) -> Leaf:
        """Return the node as a leaf of its majority class, of records that count for this much."""
        return Leaf(self.counts, self.label(weights))

    def label(self, weights: Sequence[int]) -> int:
        """Return the class that weighs most."""
        return majority([count * weight for count, weight in zip(self.counts, weights, strict=True)])

    def query(self, candidates: tuple[int, ...]) -> Query:
        """Ask for these candidates here."""
        return Query(self.expression, candidates, self.counts)

    def grows(self, growth: Growth) -> bool:
        """Return whether to count on (steps 1 to 3): it has candidates and two classes, and no limit forbids it."""
        is_pure = sum(count > 0 for count in self.counts) == 1
        return bool(self.candidates) and not is_pure and may_be_split(self.records, self.depth, growth)

    def branches(self, attribute: int, rows: Sequence[Sequence[float]]) -> list["OpenNode"]:
        """Return what each value of an attribute parts off, by its counts."""
        left = tuple(a for a in self.candidates if a != attribute)
        return [OpenNode(self.expression.child(attribute, value), tuple(row), left) for value, row in enumerate(rows)]


Measure = Callable[[Floats, Impurity], Floats]
"""From tables of one shape (`... x values x classes`), what each is worth."""

CANNOT = -inf
"""What an attribute is worth that may not split its node."""


def merits(answers: Sequence[Answer], records: float, growth: Growth, weights: Sequence[int]) -> list[list[float]]:
    """Return for each answer what each of its candidates is worth, `CANNOT` if it may not split the node.

    Where there is noise, of the coins or in the counts, an attribute must be worth more than that to split it;
    `records` are those of the root.
    """
    tables = [table for answer in answers for table in answer.tables]
    eligible = [may_split(map(sum, table.tolist()), growth) for table in tables]

    def measure(stack: Floats, impurity: Impurity) -> Floats:
        return whole_merit(stack * np.array(weights), impurity, records * max(weights))

    compared = _compared(answers, tables, eligible, growth.impurity, measure)
    noisy = iter([noise > TIE or growth.noise is not None for noise in _noises(answers, tables, growth.impurity)])
    return [
        [CANNOT if is_noisy and value <= TIE else value for value, is_noisy in zip(values, noisy, strict=False)]
        for values in compared
    ]


def estimated_merits(answers: Sequence[Answer], records: Sequence[float], growth: Growth) -> list[list[float]]:
    """Return the merits by estimated counts after projection, less what their noise brings: below 0 where that is more.

    What may not split its node is worth `CANNOT`. Negative cells count as 0. Rescaling to the node's total, the other
    half of a projection, would change no measure; it is done where records are compared with a limit.
    """
    tables = [positive_part(table.astype(np.float64)) for answer in answers for table in answer.tables]
    totals = [total for total, answer in zip(records, answers, strict=True) for _ in answer.tables]
    eligible = [_may_split_about(*each, growth) for each in zip(tables, totals, strict=True)]
    return _compared(answers, tables, eligible, growth.impurity, merit)


def _may_split_about(table: CountTable, total: float, growth: Growth) -> bool:
    scale = total / max(float(table.sum()), LEAST_MASS)
    return may_split((scale * sum(row) for row in table.tolist()), growth)


def _compared(
    answers: Sequence[Answer],
    tables: Sequence[CountTable],
    eligible: Sequence[bool],
    impurity: Impurity,
    measure: Measure,
) -> list[list[float]]:
    values = _beyond_noise(answers, tables, impurity, measure)
    is_ratio = impurity is Impurity.GAIN_RATIO
    gains = _beyond_noise(answers, tables, Impurity.INFORMATION_GAIN, measure) if is_ratio else None
    result, start = [], 0
    for answer in answers:
        part = slice(start, start + len(answer.tables))
        start = part.stop
        worth = values[part] if gains is None else _of_average_gain(values[part], gains[part], eligible[part])
        result.append([value if fits else CANNOT for value, fits in zip(worth, eligible[part], strict=True)])
    return result


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
