"""Each side of a run draws and adds noise of its own, and a learner refines the numbers (DESIGN 14, "Noise").

Each number's noise is a function of the owner's secret, of the tables and the peer, of what is asked and of the noise's
own scale, and unknown to anybody else. Asking again gives the same number, in whichever run, so nothing can be averaged
away. Noise of another scale is other noise, and its run spends its own epsilon.

The evaluator adds its own to what it seals, the key holder adds its own to what it decrypts, before it checks or sends
anything: neither sees a number without noise that it does not know. What crosses is lifted by the largest noise in it,
so that it is never negative.

A revealed number may be negative, and the cells of two candidates at one node need not add up alike. What a learner
makes of them is computed from revealed numbers alone, so it spends nothing, and in one order, so both parties get the
same bits:

* the node's class counts are the mean of what the level above revealed and of what each candidate adds up to, each
  weighted by one over its variance;
* each candidate's cells are moved, equally, so that they add up to these counts: least squares (Barak et al. 2007, Hay
  et al. 2010);
* a branch without a positive count is empty. Another one has the node's own shares of the classes, and differs from
  them only as far as it stands out of the noise: its differences are shrunk by `1 - 9 (k - 1) variance / their squares`
  and are nothing where that is negative (James and Stein 1961, with three standard errors in the place of one: of those
  tried on adult and mushroom, 1 to 6 at epsilon 0.5 to 5, three lost least on the whole);
* what is negative then is 0, and all is rounded to whole records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log1p, sinh, sqrt
from types import MappingProxyType
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from protocols.counts import Answer, Correct, CountEngine, Learned, ModelParts, Query
from protocols.noise.accounting import Spending, TreeSpending
from protocols.noise.geometric import Geometric, OneSided, most_variance
from protocols.randomness import KeyedRandomness, canonical, keyed_digest
from protocols.role import Role
from protocols.tables import ROOT, Expression, Floats, Schema

S = TypeVar("S")
_AS_THEY_STAND: Final[Mapping[int, int]] = MappingProxyType({})


class KeyedNoise:
    """Draws the noise of one owner, by its secret of 32 bytes, for what is asked of tables with this digest.

    `places` number the columns so that their order does not matter; as they stand unless given.
    """

    def __init__(self, secret: bytes, tables: bytes, places: Mapping[int, int] = _AS_THEY_STAND) -> None:
        self._key, self._places = keyed_digest(secret, b"cotally noise", tables), places

    def of_model(self, law: Geometric, count: int, label: bytes, model: ModelParts) -> list[int]:
        """Draw the noise of numbers about a model of these parts, in whatever order they come."""
        return self._draw(law, count, label, *sorted(canonical(self._node(path), content) for path, content in model))

    def _draw(self, law: Geometric | OneSided, count: int, *label: bytes) -> list[int]:
        scale = f"{law.scale.numerator}/{law.scale.denominator}".encode()
        if isinstance(law, OneSided):  # no number of one law may follow from one of the other
            scale += b" one-sided"
        chance = KeyedRandomness(self._key, canonical(scale, *label))
        return [law.draw(chance) for _ in range(count)]

    def _node(self, expression: Expression) -> bytes:
        """Return what stands for a node: the same in whatever order its path fixes the columns."""
        return canonical(*sorted(canonical(self._column(t.column), _integer(t.value)) for t in expression.terms))

    def _column(self, column: int) -> bytes:
        return _integer(self._places.get(column, column))


class _SpendingNoise(KeyedNoise, Generic[S]):
    """Draws as `KeyedNoise`; `spending` is that of our side."""

    def __init__(self, secret: bytes, tables: bytes, spending: S, places: Mapping[int, int] = _AS_THEY_STAND) -> None:
        super().__init__(secret, tables, places)
        self.spending = spending

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.spending})"


class OwnNoise(_SpendingNoise[Spending]):
    """Draws our noise in counts."""

    def class_counts(self, classes: int) -> list[int]:
        """Draw the noise of the training records' class counts."""
        return self._draw(self.spending.cells, classes, b"class counts")

    def cells(self, expression: Expression, candidate: int, count: int) -> list[int]:
        """Draw the noise of a candidate's cells at a node, in the order of a batch."""
        return self._draw(self.spending.cells, count, b"cells", self._node(expression), self._column(candidate))

    def accuracy(self, model: ModelParts) -> int:
        """Draw the noise of the number of held-out records that a model of these parts classifies correctly."""
        (noise,) = self.of_model(self.spending.accuracy, 1, b"accuracy", model)
        return noise


class TreeNoise(_SpendingNoise[TreeSpending]):
    """Draws our noise of a tree of which nothing is opened but winners and labels."""

    def worth(self, expression: Expression, candidate: int) -> int:
        """Draw the noise of what a candidate is worth at a node."""
        (noise,) = self._draw(self.spending.worth, 1, b"worth", self._node(expression), self._column(candidate))
        return noise

    def label(self, expression: Expression, classes: int) -> list[int]:
        """Draw the noise of the class counts of a leaf."""
        return self._draw(self.spending.label, classes, b"label", self._node(expression))


def _integer(value: int) -> bytes:
    return value.to_bytes(4, "big")


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


class Noises:
    """What is added to the numbers of a run: nothing, where counts are exact."""

    @property
    def cells(self) -> Lift:
        """Of the noise in each cell, and in each class count."""
        return Lift(0, 0)

    @property
    def accuracy(self) -> Lift:
        """Of the noise in the number of rightly classified held-out records."""
        return Lift(0, 0)

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        """Return our noise for every count of a batch."""
        return [0] * sum(sum(query.cells(schema)) for query in queries)

    def of_class_counts(self, classes: int) -> list[int]:
        """Return our noise for the class counts."""
        return [0] * classes

    def of_accuracy(self, model: ModelParts) -> int:
        """Return our noise for the number of held-out records that a model of these parts classifies rightly."""
        del model
        return 0

    def correct(self, number: int, tests: int) -> Correct:
        """Return a revealed number of rightly classified records as what it is good for."""
        del tests
        return Correct(float(number))

    def cell_bound(self, alarm: float) -> float:
        """Return what the noise in a revealed cell passes with a chance of at most `exp(-alarm)`."""
        del alarm
        return 0.0

    def class_bound(self, classes: int, alarm: float) -> float:
        """Return what the peer's noise in the sum of the class counts passes with a chance of at most `exp(-alarm)`."""
        del classes, alarm
        return 0.0


EXACT = Noises()


@dataclass(frozen=True)
class BothNoises(Noises):
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
        """The most that the variance of a revealed cell can be, the same float on both sides."""
        return most_variance(self.own.spending.cells, self.theirs.cells)

    def of_cells(self, queries: Sequence[Query], schema: Schema) -> list[int]:
        """Draw ours for every count of a batch, candidate by candidate."""
        return [
            noise
            for query in queries
            for candidate, cells in zip(query.candidates, query.cells(schema), strict=True)
            for noise in self.own.cells(query.expression, candidate, cells)
        ]

    def of_class_counts(self, classes: int) -> list[int]:
        """Draw ours."""
        return self.own.class_counts(classes)

    def of_accuracy(self, model: ModelParts) -> int:
        """Draw ours."""
        return self.own.accuracy(model)

    def correct(self, number: int, tests: int) -> Correct:
        """Return the number, kept between none and all, and the standard error of its noise."""
        variance = most_variance(self.own.spending.accuracy, self.theirs.accuracy)
        return Correct(float(min(max(number, 0), tests)), sqrt(variance))

    def cell_bound(self, alarm: float) -> float:
        """Bound the noise of both."""
        return sum_bound([(self.own.spending.cells, 1), (self.theirs.cells, 1)], alarm)

    def class_bound(self, classes: int, alarm: float) -> float:
        """Bound the sum of the peer's."""
        return sum_bound([(self.theirs.cells, classes)], alarm)


def sum_bound(terms: Sequence[tuple[Geometric, int]], alarm: float) -> float:
    """Return `t` such that the sum of independent noise passes `t`, up or down, with a chance of at most `exp(-alarm)`.

    Chernoff's bound: the moment generating function of two-sided geometric noise of scale `b` at `s < 1/b` is `1 / (1 -
    (sinh(s/2) / sinh(1/(2b)))**2)`, and the cut lowers it.
    """
    present = [(law, times) for law, times in terms if times]
    largest = float(max((law.scale for law, _ in present), default=1))
    certain = float(sum(times * law.cut for law, times in present))
    steps = (step / _STEPS / largest for step in range(1, _STEPS))
    return min(certain, *((alarm + log(2) + _log_moment(present, step)) / step for step in steps))


def _log_moment(terms: Sequence[tuple[Geometric, int]], step: float) -> float:
    ratios = ((sinh(step / 2) / sinh(1 / (2 * float(law.scale))), times) for law, times in terms)
    return -sum(times * log1p(-(ratio**2)) for ratio, times in ratios)


_TIMES = 9.0  # the square of how many standard errors explain a difference


@dataclass(frozen=True)
class KnownSums:
    """The class counts of a node as the level above showed them, and the variance of each; 0 where they are exact."""

    counts: tuple[float, ...]
    variance: float


def refined(known: KnownSums, tables: Sequence[ArrayLike], variance: float) -> tuple[KnownSums, list[Floats]]:
    """Return a node's class counts and its candidates' (`values x classes`), as far as they show through the noise."""
    cells = [np.asarray(table, dtype=np.float64) for table in tables]
    sums = _sums(known, cells, variance)
    positive = np.maximum(sums.counts, 0.0)
    total = _added(positive)
    if total <= 0:
        return sums, [np.zeros_like(table) for table in cells]
    moved = [table + (np.asarray(sums.counts) - table.sum(axis=0)) / len(table) for table in cells]
    return sums, [_shrunk(table, positive / total, branch_variance(len(table), sums, variance)) for table in moved]


def branch_variance(values: int, sums: KnownSums, variance: float) -> float:
    """Return the variance of each cell of a candidate of this many values that adds up to the node's class counts."""
    return variance * (1 - 1 / values) + sums.variance / values**2


def _sums(known: KnownSums, tables: Sequence[Floats], variance: float) -> KnownSums:
    if not known.variance:
        return known
    weight = 1 / known.variance
    total = np.asarray(known.counts, dtype=np.float64) * weight
    for table in tables:
        each = 1 / (len(table) * variance)
        total = total + table.sum(axis=0) * each  # whole numbers add up exactly, in any order
        weight += each
    return KnownSums(tuple((total / weight).tolist()), 1 / weight)


def _shrunk(table: Floats, shares: Floats, variance: float) -> Floats:
    sizes = np.maximum(_added(table), 0.0)
    usual = sizes[:, None] * shares
    differences = table - usual
    squares = _added(differences**2)
    explained = _TIMES * (len(shares) - 1) * variance
    kept = np.maximum(0.0, 1.0 - np.divide(explained, squares, out=np.full_like(squares, np.inf), where=squares > 0))
    result: Floats = np.rint(np.where(sizes[:, None] > 0, np.maximum(usual + kept[:, None] * differences, 0.0), 0.0))
    return result


def _added(values: Floats) -> Floats:
    """Add along the last axis, in one order on every machine."""
    total: Floats = np.zeros(values.shape[:-1])
    for k in range(values.shape[-1]):
        total = total + values[..., k]
    return total


class RefinedCounts:
    """An engine whose numbers have noise, as a learner sees it: whole, not negative, no finer than the noise leaves.

    What crosses stays as it is between the parties and for their checks. The variances are of the noise in each
    revealed cell, and in each class count of the training records.

    Discloses: whatever `engine` discloses.
    """

    def __init__(self, engine: CountEngine, schema: Schema, variance: float, class_variance: float) -> None:
        self._engine, self._schema = engine, schema
        self._variance, self._class_variance = variance, class_variance
        self._above: dict[Expression, KnownSums] = {}

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Ask the engine, and make the best of what it answers."""
        noisy = yield from self._engine.count(queries)
        answers, level = [], {}
        for query, answer in zip(queries, noisy, strict=True):
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
