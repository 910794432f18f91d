"""Plain ID3 written down a second time, as simply as possible; and engines that record or make up what is counted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

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

    `asked` has the number of counts that every node needs, level by level.
    """

    sizes: Sequence[int]
    classes: int
    max_depth: int | None = None
    min_leaf: int = 1
    impurity: str = "information_gain"
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
        worth = self._worth(as_groups, [a for a in left if self._parts(rows, a)])
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
        is_deep = len(self.sizes) - len(left) == self.max_depth
        return not is_deep and (self.min_leaf == 1 or len(rows) >= 2 * self.min_leaf)

    def _parts(self, rows: list[list[int]], attribute: int) -> bool:
        large = sum(size >= self.min_leaf for size in Counter(row[attribute] for row in rows).values())
        return self.min_leaf == 1 or large >= 2

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
