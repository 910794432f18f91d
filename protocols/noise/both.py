"""The noise of both sides in one run, as each of them handles it (DESIGN 14, "Noise").

The evaluator adds its own to what it seals, the key holder adds its own to what it decrypts, before it checks or tells
anything. So neither sees a number without noise that it does not know: the key holder sees the count with the
evaluator's noise, the evaluator the told number, in which its own is no secret to it. What crosses is lifted by the
largest noise in it, so that it is never negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, log1p, sinh, sqrt
from typing import Protocol

from protocols.counts import Correct, ModelParts, Query
from protocols.noise.accounting import Spending
from protocols.noise.geometric import Geometric, most_variance
from protocols.noise.own import OwnNoise
from protocols.tables.schema import Schema

_STEPS = 32


@dataclass(frozen=True)
class Lift:
    """The largest noise of each side in a number."""

    own: int
    theirs: int

    @property
    def both(self) -> int:
        """The largest noise in a number that both have changed."""
        return self.own + self.theirs


class Noises(Protocol):
    """What is added to the numbers of a run."""

    @property
    def cells(self) -> Lift:
        """Of the noise in each cell."""
        ...

    @property
    def accuracy(self) -> Lift:
        """Of the noise in the number of rightly classified held-out records."""
        ...

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        """Return our noise for every count of a batch."""
        ...

    def of_accuracy(self, model: ModelParts) -> int:
        """Return our noise for the number of held-out records that a model of these parts classifies rightly."""
        ...

    def correct(self, told: int, tests: int) -> Correct:
        """Return a told number of rightly classified records as what it is good for."""
        ...


class NoNoise:
    """Exact counts: nothing is added."""

    cells = accuracy = Lift(0, 0)

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        """Return zeros."""
        return [0] * sum(sum(query.cells(schema)) for query in queries)

    def of_accuracy(self, model: ModelParts) -> int:
        """Return zero."""
        del model
        return 0

    def correct(self, told: int, tests: int) -> Correct:
        """Return the exact number."""
        del tests
        return Correct(float(told))


EXACT = NoNoise()


@dataclass(frozen=True)
class BothNoises:
    """Our noise, and what the peer's is known to be like."""

    own: OwnNoise
    theirs: Spending

    @property
    def cells(self) -> Lift:
        """Of the noise in each cell."""
        return Lift(self.own.spending.cells.cut, self.theirs.cells.cut)

    @property
    def accuracy(self) -> Lift:
        """Of the noise in the number of rightly classified held-out records."""
        return Lift(self.own.spending.accuracy.cut, self.theirs.accuracy.cut)

    @property
    def variance(self) -> float:
        """The most that the variance of a told cell can be, the same float on both sides."""
        return most_variance(self.own.spending.cells, self.theirs.cells)

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        """Draw ours for every count of a batch, candidate by candidate."""
        return [
            noise
            for query in queries
            for candidate, cells in zip(query.candidates, query.cells(schema), strict=True)
            for noise in self.own.cells(query.expression, candidate, cells)
        ]

    def of_accuracy(self, model: ModelParts) -> int:
        """Draw ours."""
        return self.own.accuracy(model)

    def correct(self, told: int, tests: int) -> Correct:
        """Return the number, kept between none and all, and the standard error of its noise."""
        variance = most_variance(self.own.spending.accuracy, self.theirs.accuracy)
        return Correct(float(min(max(told, 0), tests)), sqrt(variance))

    def cell_bound(self, alarm: float) -> float:
        """Return what the noise in a told cell passes with a chance of at most `exp(-alarm)`."""
        return sum_bound([(self.own.spending.cells, 1), (self.theirs.cells, 1)], alarm)


def sum_bound(terms: Sequence[tuple[Geometric, int]], alarm: float) -> float:
    """Return `t` such that the sum of independent noise passes `t`, up or down, with a chance of at most `exp(-alarm)`.

    Chernoff's bound: the moment generating function of two-sided geometric noise of scale `b` at `s < 1/b` is
    `1 / (1 - (sinh(s/2) / sinh(1/(2b)))**2)`, and the cut lowers it.

    Args:
        terms: Noise of each kind, and how many of it.
        alarm: Minus the natural logarithm of the chance.
    """
    present = [(law, times) for law, times in terms if times]
    largest = float(max((law.scale for law, _ in present), default=1))
    certain = float(sum(times * law.cut for law, times in present))
    steps = (step / _STEPS / largest for step in range(1, _STEPS))
    return min(certain, *((alarm + log(2) + _log_moment(present, step)) / step for step in steps))


def _log_moment(terms: Sequence[tuple[Geometric, int]], step: float) -> float:
    ratios = ((sinh(step / 2) / sinh(1 / (2 * float(law.scale))), times) for law, times in terms)
    return -sum(times * log1p(-(ratio**2)) for ratio, times in ratios)
