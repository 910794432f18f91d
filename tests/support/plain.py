"""Plain ID3 written down a second time, as simply as possible; and engines that record or make up what is counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from protocols.counts import Answer, Correct, CountEngine, Predictor, Query
from protocols.learning.tree import Leaf, Node, Split
from protocols.role import Role
from protocols.tables import Attribute, Expression, Schema, joint_schema

Nested = tuple[Any, ...]


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
    records: int = 0

    def grow(self, rows: list[list[int]]) -> Node:
        self.records = len(rows)
        return self._grow(rows, list(range(len(self.sizes))))

    def _grow(self, rows: list[list[int]], left: list[int]) -> Node:
        counts = self._counts(rows)
        label = counts.index(max(counts))
        leaf = Leaf(counts, label)
        depth = len(self.sizes) - len(left)
        if not self._is_asked(rows, left):
            return leaf
        self.asked.setdefault(depth, []).append(sum(self.sizes[a] for a in left) * self.classes)
        worth = self._worth(rows, [a for a in left if self._parts(rows, a)])
        if not worth:
            return leaf
        best = max(worth, key=lambda a: (worth[a], -a))
        children: list[Node] = []
        for value in range(self.sizes[best]):
            part = [row for row in rows if row[best] == value]
            rest = [a for a in left if a != best]
            is_large = len(part) >= max(self.min_leaf, 1)
            children.append(self._grow(part, rest) if is_large else Leaf(self._counts(part), label))
        return Split(counts, best, tuple(children))

    def _counts(self, rows: list[list[int]]) -> tuple[int, ...]:
        return tuple(sum(row[-1] == c for row in rows) for c in range(self.classes))

    def _worth(self, rows: list[list[int]], attributes: list[int]) -> Mapping[int, Fraction | int]:
        """Return what each attribute is worth; by the gain ratio those of less than average gain are worth nothing."""
        tables = {a: _table(rows, a, self.sizes[a], self.classes) for a in attributes}
        if self.impurity == "gini":
            return {a: -gini_mixture(table, self.records) for a, table in tables.items()}
        node = entropy_mixture(_table([[0, row[-1]] for row in rows], 0, 1, self.classes))
        gains = {a: node - entropy_mixture(table) for a, table in tables.items()}
        if self.impurity == "information_gain" or not gains:
            return gains
        worth: dict[int, Fraction | int] = dict.fromkeys(attributes, 0)
        for a, table in tables.items():
            own = entropy_mixture([[sum(row) for row in table]])  # of the attribute itself
            if gains[a] * len(gains) >= sum(gains.values()) and own > 0:
                worth[a] = Fraction(gains[a], own)
        return worth

    def _is_asked(self, rows: list[list[int]], left: list[int]) -> bool:
        """Steps 1 to 3 and the limits."""
        if len({row[-1] for row in rows}) == 1 or not left:
            return False
        is_deep = len(self.sizes) - len(left) == self.max_depth
        return not is_deep and (self.min_leaf == 1 or len(rows) >= 2 * self.min_leaf)

    def _parts(self, rows: list[list[int]], attribute: int) -> bool:
        large = sum(size >= self.min_leaf for size in Counter(row[attribute] for row in rows).values())
        return self.min_leaf == 1 or large >= 2


def reference_id3(rows: list[list[int]], sizes: Sequence[int], classes: int) -> Node:
    """Plain ID3 without limits."""
    return ReferenceId3(sizes, classes).grow(rows)


@dataclass(frozen=True)
class PlainCart:
    """CART on rows that end with the class: at each node every question that was not asked above competes.

    A question is a column and the values at which it is answered by yes, the first answer. Nodes are written as nested
    tuples: counts, then of a leaf its label, of a split its question and what follows from yes and from no.
    """

    questions: Sequence[tuple[int, frozenset[int]]]
    classes: int
    max_depth: int | None = None
    min_leaf: int = 1
    impurity: str = "information_gain"

    @classmethod
    def of(cls, columns: Sequence[Attribute], classes: int, **limits: Any) -> "PlainCart":
        """Ask below each cut of an ordered column, and for each other value; two values make one question."""
        questions = []
        for at, column in enumerate(columns):
            values = range(len(column.values))
            for value in values:
                below = value < column.ordered - 1
                alone = value >= column.ordered and not (len(values) == 2 and value == 1) and len(values) > 1
                if below or alone:
                    questions.append((at, frozenset(range(value + 1) if below else [value])))
        return cls(questions, classes, **limits)

    def answers(self, rows: list[list[int]]) -> list[list[int]]:
        """Return the answer of each row to each question, yes being 0, and its class."""
        return [[int(row[at] not in values) for at, values in self.questions] + [row[-1]] for row in rows]

    def grow(self, rows: list[list[int]]) -> Nested:
        return self._grow(self.answers(rows), frozenset(), len(rows))

    def _grow(self, rows: list[list[int]], asked: frozenset[int], records: int) -> Nested:
        counts = tuple(sum(row[-1] == label for row in rows) for label in range(self.classes))
        label = counts.index(max(counts))
        left = [question for question in range(len(self.questions)) if question not in asked]
        small = self.min_leaf > 1 and len(rows) < 2 * self.min_leaf
        if max(counts) == len(rows) or len(asked) == self.max_depth or small:
            return counts, label
        parts = {q: [[row for row in rows if row[q] == answer] for answer in (0, 1)] for q in left}
        fitting = [q for q in left if self.min_leaf == 1 or min(map(len, parts[q])) >= self.min_leaf]
        if not fitting:
            return counts, label
        best = min(fitting, key=lambda q: (self._mixture(parts[q], records), q))
        below = (
            self._grow(part, asked | {best}, records) if part else ((0,) * self.classes, label) for part in parts[best]
        )
        return counts, best, *below

    def _mixture(self, parts: Sequence[list[list[int]]], records: int) -> int:
        table = [[sum(row[-1] == label for row in part) for label in range(self.classes)] for part in parts]
        return gini_mixture(table, records) if self.impurity == "gini" else entropy_mixture(table)


def nested(node: Node) -> Nested:
    """Return a node as `PlainCart` writes it."""
    if isinstance(node, Leaf):
        return node.counts, node.label
    return node.counts, node.attribute, *map(nested, node.children)


def _table(rows: list[list[int]], attribute: int, values: int, classes: int) -> list[list[int]]:
    counts = Counter((row[attribute], row[-1]) for row in rows)
    return [[counts[value, label] for label in range(classes)] for value in range(values)]


def log2_line(piece: int) -> tuple[int, int]:
    """Return slope, by 2**10, and intercept, by 2**18, of the line nearest to `m log2 m` where `m` is in a piece."""
    with localcontext() as context:
        context.prec = 40
        low, high = 1 + Decimal(piece) / 256, 1 + Decimal(piece + 1) / 256
        slope = round((_m_log2_m(high) - _m_log2_m(low)) * 2**18)
        steep = Decimal(slope) / 2**10
        bottom = min(max(Decimal(2) ** (steep - 1 / Decimal(2).ln()), low), high)
        above = max(_m_log2_m(end) - steep * end for end in (low, high))
        below = _m_log2_m(bottom) - steep * bottom
        return slope, round(-(above + below) / 2 * 2**18)


def _m_log2_m(m: Decimal) -> Decimal:
    return m * m.ln() / Decimal(2).ln()


_LINES = [log2_line(piece) for piece in range(256)]


def whole_log(count: int) -> int:
    """Return `x log2 x` by 2**18, up to a multiple of `x`."""
    if not count:
        return 0
    place = count.bit_length() - 1
    slope, intercept = _LINES[int((Fraction(count, 2**place) - 1) * 256)]
    return (place * 2**10 + slope) * count * 2**8 - (intercept << place)


def entropy_mixture(table: Sequence[Sequence[int]]) -> int:
    """Return `U` of the information gain of counts by value and class, by 2**18."""
    return sum(whole_log(sum(row)) - sum(map(whole_log, row)) for row in table)


def gini_mixture(table: Sequence[Sequence[int]], records: int) -> int:
    """Return `U` of Gini's index by 2**12: between ends of 256 pieces an octave `1/m` is taken as a straight line."""
    top, classes = max(8, records.bit_length() - 1), len(table[0])
    bits = min(10, 64 - 3 * top + (classes <= 2))

    def end(at: int) -> int:
        return floor(((1 << 8 + bits) - 2) / (1 + Fraction(at, 256)) + Fraction(1, 2))

    total = Fraction(0)
    for row in table:
        size = sum(row)
        if size:
            octave = Fraction(2) ** (size.bit_length() - 1)
            at, part = divmod((size / octave - 1) * 256, 1)
            inverse = (end(int(at)) + (end(int(at) + 1) - end(int(at))) * part) / 2 ** (8 + bits) / octave
            total += sum(a * b for a, b in combinations(row, 2)) * inverse
    return floor(total * 2**12)


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
