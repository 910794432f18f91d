"""A run with noise in one process: the joined table's counts with both sides' noise, for experiments and audits.

What is sent, checked and learned from is what a real run sends: noise, sensitivity and learner are the same code. Of a
tree alone the law is written again, by counts that are there for all to see: that a run follows it is tested.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp
from typing import Protocol

import numpy as np

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer, Correct, CountTable, Learned, ModelParts, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled, shares_in_tenths
from protocols.learning.whole import Gini
from protocols.noise.accounting import Spending, TreeSpending, most_changes
from protocols.noise.both import RefinedCounts
from protocols.noise.geometric import Geometric, OneSided, most_variance
from protocols.role import Role, run_alone
from protocols.simulation.two_party import HoldOut
from protocols.tables import ROOT, Codes, Expression, Schema
from protocols.terms import ALL, Growth, Leaves


class SideNoise(Protocol):
    """One side's noise; `OwnNoise` is one."""

    @property
    def spending(self) -> Spending:
        """What it spends."""

    def class_counts(self, classes: int) -> Sequence[int]:
        """Return the noise of the class counts."""

    def cells(self, expression: Expression, candidate: int, count: int) -> Sequence[int]:
        """Return the noise of a candidate's cells at a node."""

    def accuracy(self, model: ModelParts) -> int:
        """Return the noise of the number of rightly classified held-out records."""


class SideTreeNoise(Protocol):
    """One side's noise of a tree alone; `TreeNoise` is one."""

    def worth(self, expression: Expression, candidate: int) -> int:
        """Return the noise of what a candidate is worth at a node."""

    def label(self, expression: Expression, classes: int) -> Sequence[int]:
        """Return the noise of the class counts of a leaf."""


class BulkNoise:
    """Noise in bulk from a seeded generator, so neither secret nor bound to what is asked, and without a cut."""

    def __init__(self, generator: np.random.Generator, spending: Spending) -> None:
        self._generator, self.spending = generator, spending

    def class_counts(self, classes: int) -> list[int]:
        """Draw for each class."""
        return self._draw(self.spending.cells, classes)

    def cells(self, expression: Expression, candidate: int, count: int) -> list[int]:
        """Draw for each cell."""
        del expression, candidate
        return self._draw(self.spending.cells, count)

    def accuracy(self, model: ModelParts) -> int:
        """Draw once."""
        del model
        return self._draw(self.spending.accuracy, 1)[0]

    def _draw(self, law: Geometric, count: int) -> list[int]:
        """Draw differences of two geometric variables: that is two-sided geometric noise."""
        ends = 1 - exp(-1 / law.scale)
        one, other = self._generator.geometric(ends, (2, count))
        drawn: list[int] = (one - other).tolist()
        return drawn


class BulkTreeNoise:
    """Noise of a tree alone in bulk; as `BulkNoise`."""

    def __init__(self, generator: np.random.Generator, spending: TreeSpending) -> None:
        self._generator = generator
        self._worths, self._labels = self._drawn(spending.worth), self._drawn(spending.label)

    def worth(self, expression: Expression, candidate: int) -> int:
        """Draw once."""
        del expression, candidate
        return next(self._worths)

    def label(self, expression: Expression, classes: int) -> list[int]:
        """Draw for each class."""
        del expression
        return [next(self._labels) for _ in range(classes)]

    def _drawn(self, law: OneSided | Geometric) -> Iterator[int]:
        while True:
            one, other = self._generator.geometric(1 - exp(-1 / law.scale), (2, _BLOCK)) - 1
            yield from (one if isinstance(law, OneSided) else one - other).tolist()


_BLOCK = 4096


@dataclass(frozen=True)
class NoisyRun:
    """What a run with noise revealed and gave; `cells` are noisy numbers by node and candidate, `values x classes`."""

    tree: Tree
    class_counts: tuple[int, ...]
    cells: Mapping[tuple[Expression, int], CountTable]
    correct: int


def side_spending(schema: Schema, noise: Fraction, depth: int) -> dict[str, Spending]:
    """Return what each side spends where all candidates are counted."""
    sides = {*schema.class_owners, *(attribute.party for attribute in schema.attributes)}
    return {side: Spending(noise, most_changes(schema, side, ALL, depth)) for side in sorted(sides)}


def grow_with_noise(split: HoldOut, sides: Mapping[str, SideNoise], growth: Growth) -> NoisyRun:
    """Grow a tree from noisy numbers, all candidates counted."""
    schema = split.schema
    if growth.noise is None:
        raise InputError("a run with noise needs growth with noise")
    exact = PlaintextEngine(schema, split.train, split.test)
    engine, counts, class_variance = _Told(exact, schema, sides), exact.class_counts, 0.0
    if len(schema.class_owners) == 1:
        (owner,) = schema.class_owners
        noise = sides[owner].class_counts(schema.classes)
        counts = tuple(count + z for count, z in zip(counts, noise, strict=True))
        class_variance = most_variance(sides[owner].spending.cells)
    variance = most_variance(*(side.spending.cells for side in sides.values()))
    refined = RefinedCounts(engine, schema, variance, class_variance)
    learner = HybridId3(schema, [max(0, count) for count in counts], ALL, refined, growth=growth)
    tree = run_alone(learner.build()).tree
    return NoisyRun(tree, counts, engine.cells, int(run_alone(engine.count_correct(tree)).count))


_DECIDED = 1 << 60  # above all that may win


def grow_alone_with_noise(schema: Schema, rows: Codes, sides: Sequence[SideTreeNoise], growth: Growth) -> Tree:
    """Grow a tree of noisy winners and noisy labels, level by level, of which nothing else is shown; two classes."""
    sizes, label = np.array([attribute.size for attribute in schema.attributes]), rows[:, -1].astype(np.int64)
    measure, nodes = Gini(len(rows)), dict[Expression, Node]()
    level, at = [ROOT], np.zeros(len(rows), np.int64)
    for _ in range(min(growth.max_depth or len(sizes), len(sizes))):
        cost = np.full((len(level), len(sizes)), np.iinfo(np.int64).max)
        for column, size in enumerate(sizes):
            cells = np.bincount((at * size + rows[:, column]) * 2 + label, minlength=len(level) * size * 2)
            mixed = measure.mixture(cells.reshape(-1, size, 2)).tolist()
            for number, path in enumerate(level):
                if column not in path.columns:
                    behind = _DECIDED if schema.decides(path, column) else 0
                    cost[number, column] = mixed[number] + behind - sum(side.worth(path, column) for side in sides)
        best = cost.argmin(1)
        nodes |= {path: Split((), int(column), ()) for path, column in zip(level, best, strict=True)}
        at = (np.cumsum(sizes[best]) - sizes[best])[at] + rows[np.arange(len(rows)), best[at]]
        split = zip(level, best.tolist(), strict=True)
        level = [path.child(column, value) for path, column in split for value in range(sizes[column])]
    counts = np.bincount(at * 2 + label, minlength=2 * len(level)).reshape(-1, 2)
    for path, own in zip(level, counts, strict=True):
        noisy = own + np.sum([side.label(path, 2) for side in sides], axis=0)
        tenths = shares_in_tenths(noisy.tolist()) if growth.leaves == Leaves.TENTHS else ()
        nodes[path] = Leaf((), int(noisy.argmax()), tenths)
    return assembled(schema, nodes.items(), growth)


@dataclass
class _Told:
    """Exact counts with both sides' noise, and what was revealed."""

    exact: PlaintextEngine
    schema: Schema
    sides: Mapping[str, SideNoise]
    cells: dict[tuple[Expression, int], CountTable] = field(default_factory=dict)

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        answers = yield from self.exact.count(queries)
        noisy = []
        for query, answer in zip(queries, answers, strict=True):
            tables = []
            for candidate, table in zip(query.candidates, answer.tables, strict=True):
                asked = (query.expression, candidate, table.size)
                noise = [side.cells(*asked) for side in self.sides.values()]
                tables.append(table + np.sum(noise, axis=0, dtype=np.int64).reshape(table.shape))
                self.cells[query.expression, candidate] = tables[-1]
            noisy.append(Answer(tuple(tables)))
        return noisy

    def count_correct(self, model: Learned) -> Role[Correct]:
        correct = yield from self.exact.count_correct(model)
        return Correct(correct.count + sum(side.accuracy(model.parts()) for side in self.sides.values()))
