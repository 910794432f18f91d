"""Plain ID3 written down a second time, as simply as possible; and engines that record or make up what is counted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import e, factorial, log2, pi

import numpy as np
from numpy.typing import ArrayLike

from protocols.counts import Answer, Correct, CountEngine, Predictor, Query
from protocols.learning.impurity import TIE
from protocols.learning.tree import Leaf, Node, Split
from protocols.role import Role
from protocols.tables.expression import Expression
from protocols.tables.schema import Attribute, Schema, joint_schema


def schema_of(sizes: Sequence[int], classes: int, alice: int = 0) -> Schema:
    """Return a joint schema of which Alice holds the first columns, and Bob the others and the class."""
    columns = [
        Attribute("alice" if i < alice else "bob", f"x{i}", tuple(f"v{v}" for v in range(size)))
        for i, size in enumerate(sizes)
    ]
    return joint_schema(columns, Attribute("bob", "class", tuple(f"c{c}" for c in range(classes))), ("bob",))


@dataclass
class ReferenceId3:
    """Quinlan's algorithm on rows that end with the class; ties as DESIGN 5.3 settles them, limits as DESIGN 7.1.

    `asked` has the number of counts that every node needs, level by level. `theirs` are the columns of the side that
    does not hold the class, where exact counts are told to two parties, with the bounds of DESIGN 14; else None.
    """

    sizes: Sequence[int]
    classes: int
    max_depth: int | None = None
    min_leaf: int = 1
    impurity: str = "information_gain"
    theirs: Sequence[int] | None = None
    asked: dict[int, list[int]] = field(default_factory=dict)

    def grow(self, rows: list[list[int]]) -> Node:
        alone = [{c} for c in range(self.classes)]
        counts = [sum(row[-1] == c for row in rows) for c in range(self.classes)]
        return self._grow(rows, list(range(len(self.sizes))), alone, counts)

    def _grow(self, rows: list[list[int]], left: list[int], groups: list[set[int]], known: Sequence[float]) -> Node:
        """Grow a node; the classes of a group are one above it already, and `known` is what can be known of each."""
        groups = self._groups(rows, groups)
        label = known.index(max(known))
        leaf = Leaf(tuple(known), label)
        depth = len(self.sizes) - len(left)
        if not self._is_asked(rows, left, groups):
            return leaf
        self.asked.setdefault(depth, []).append(sum(self.sizes[a] for a in left) * len(groups))
        as_groups = [[*row[:-1], next(i for i, group in enumerate(groups) if row[-1] in group)] for row in rows]
        worth = self._worth(as_groups, [a for a in left if self._parts(rows, a, left, groups)])
        if not worth:
            return leaf
        best = next(a for a in worth if worth[a] >= max(worth.values()) - TIE)
        children: list[Node] = []
        for value in range(self.sizes[best]):
            part = [row for row in rows if row[best] == value]
            below = self._known(rows, part, groups, known)
            rest = [a for a in left if a != best]
            is_large = len(part) >= max(self.min_leaf, 1)
            children.append(self._grow(part, rest, groups, below) if is_large else Leaf(tuple(below), label))
        return Split(tuple(known), best, tuple(children))

    def _groups(self, rows: list[list[int]], groups: list[set[int]]) -> list[set[int]]:
        """Count rare classes together, where there is a limit."""

        def records(group: set[int]) -> int:
            return sum(row[-1] in group for row in rows)

        groups = list(groups)
        while self.min_leaf > 1:
            there = sorted((group for group in groups if records(group)), key=lambda g: (records(g), sorted(g)))
            if len(there) < 2 or records(there[0]) >= self.min_leaf:
                break
            groups = [group for group in groups if group not in there[:2]] + [there[0] | there[1]]
        return groups

    def _worth(self, rows: list[list[int]], attributes: list[int]) -> dict[int, float]:
        """Return what each attribute is worth; by the gain ratio those of less than average gain are worth nothing."""
        if self.impurity == "gini":
            return {a: _gini(rows) - _mean_of_parts(_gini, rows, a) for a in attributes}
        gains = {a: _information(rows) - _mean_of_parts(_information, rows, a) for a in attributes}
        if self.impurity == "information_gain" or not gains:
            return gains
        average = sum(gains.values()) / len(gains)
        worth = dict.fromkeys(attributes, 0.0)
        for a in attributes:
            own = _information([[row[a]] for row in rows])  # of the attribute itself
            if gains[a] >= average - TIE and own > 0:
                worth[a] = gains[a] / own
        return worth

    def _is_asked(self, rows: list[list[int]], left: list[int], groups: list[set[int]]) -> bool:
        """Steps 1 to 3 and the limits, at a node whose rare classes are in groups."""
        if sum(any(row[-1] in group for row in rows) for group in groups) == 1 or not left:
            return False
        if len(self.sizes) - len(left) == self.max_depth or (self.min_leaf > 1 and len(rows) < 2 * self.min_leaf):
            return False
        return self._tells_little([_sizes(rows, groups)], left)

    def _parts(self, rows: list[list[int]], attribute: int, left: list[int], groups: list[set[int]]) -> bool:
        large = sum(size >= self.min_leaf for size in Counter(row[attribute] for row in rows).values())
        if self.min_leaf > 1 and large < 2:
            return False
        if self.theirs is None or self.min_leaf == 1:
            return True
        rest = [a for a in left if a != attribute]
        together, apart, asked = [], [], 0
        for value in {row[attribute] for row in rows}:
            part = [row for row in rows if row[attribute] == value]
            below = self._groups(part, groups)
            sizes = _sizes(part, groups)
            if not self._is_asked(part, rest, below):
                apart.append(sizes)
                continue
            asked += 1
            for group in below:
                inside = [n if labels <= group else 0 for n, labels in zip(sizes, groups, strict=True)]
                if sum(n > 0 for n in inside) > 1:
                    together.append(inside)
        if not asked:
            return True
        return self._differences_are_large(apart, together) and self._tells_little([*apart, *together], rest)

    def _differences_are_large(self, apart: list[list[int]], together: list[list[int]]) -> bool:
        """Try every set of the node's groups: what its counts leave over when those of the branches are taken off."""
        every = range(len([*apart, *together, [0]][0]))
        for chosen in (set(some) for size in every for some in combinations(every, size + 1)):
            left = sum(sizes[g] for sizes in apart for g in chosen)
            for sizes in together:
                left += min(sum(sizes[g] for g in chosen), sum(sizes[g] for g in every if g not in chosen))
            if 0 < left < self.min_leaf:
                return False
        return True

    def _tells_little(self, strata: list[list[int]], left: list[int]) -> bool:
        """Compare the bits of the others' counts with those of all ways in which the strata may be labelled."""
        if self.theirs is None or self.min_leaf == 1:
            return True
        free = sum(self.sizes[a] - 1 for a in left if a in self.theirs)
        ways, bits = 1, []
        for sizes in strata:
            ways *= factorial(sum(sizes))
            for n in sizes:
                ways //= factorial(n)
        for columns in zip(*strata, strict=True):
            pairs = list(zip(columns, map(sum, strata), strict=True))
            variance = sum(Fraction(n * (all_ - n), 4 * (all_ - 1)) for n, all_ in pairs if all_ > 1)
            bits.append(0.5 * log2(2 * pi * e * (variance + Fraction(1, 12))) if variance else 0.0)
        return not bits or free * (sum(bits) - max(bits)) <= log2(ways) / 2 + 1e-9

    def _known(
        self, rows: list[list[int]], part: list[list[int]], groups: list[set[int]], known: Sequence[float]
    ) -> list[float]:
        """Share out the part's count of each group as its classes stand in all rows."""
        shares: list[float] = [0] * self.classes
        for group in groups:
            inside = sum(row[-1] in group for row in part)
            for c in group:
                if inside:
                    shares[c] = inside if len(group) == 1 else inside * known[c] / sum(r[-1] in group for r in rows)
        return shares


def reference_id3(rows: list[list[int]], sizes: Sequence[int], classes: int) -> Node:
    """Plain ID3 without limits."""
    return ReferenceId3(sizes, classes).grow(rows)


def _sizes(rows: list[list[int]], groups: list[set[int]]) -> list[int]:
    return [sum(row[-1] in group for row in rows) for group in groups]


def _information(rows: list[list[int]]) -> float:
    return -sum(n / len(rows) * log2(n / len(rows)) for n in Counter(row[-1] for row in rows).values())


def _gini(rows: list[list[int]]) -> float:
    return 1 - sum((n / len(rows)) ** 2 for n in Counter(row[-1] for row in rows).values())


def _mean_of_parts(measure: Callable[[list[list[int]]], float], rows: list[list[int]], attribute: int) -> float:
    parts = [[row for row in rows if row[attribute] == value] for value in {row[attribute] for row in rows}]
    return sum(len(part) / len(rows) * measure(part) for part in parts)


@dataclass
class RecordingEngine:
    """Passes queries on and remembers them, level by level."""

    engine: CountEngine
    levels: list[list[Query]] = field(default_factory=list)

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        self.levels.append(list(queries))
        return (yield from self.engine.count(queries))

    def count_correct(self, tree: Predictor) -> Role[Correct]:
        return (yield from self.engine.count_correct(tree))


@dataclass
class FixedTables:
    """Answers with the same table for an attribute wherever it is asked; for estimates and for counts."""

    tables: Mapping[int, ArrayLike]
    advanced: list[list[Expression]] = field(default_factory=list)

    def advance(self, expressions: Sequence[Expression]) -> None:
        self.advanced.append(list(expressions))

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        return [
            Answer(tuple(np.asarray(self.tables[candidate], dtype=np.float64) for candidate in query.candidates))
            for query in queries
        ]

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        yield from ()
        return self.answers(queries)

    def count_correct(self, tree: Predictor) -> Role[Correct]:
        del tree
        yield from ()
        return Correct(0.0)
