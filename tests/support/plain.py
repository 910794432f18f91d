"""Plain ID3 written down a second time, as simply as possible; and engines that record or make up what is counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
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


def reference_id3(rows: list[list[int]], sizes: Sequence[int], classes: int) -> Node:
    """Quinlan's algorithm on rows that end with the class; ties as DESIGN 5.3 settles them."""
    return _grow(rows, list(range(len(sizes))), sizes, classes)


def _grow(rows: list[list[int]], candidates: list[int], sizes: Sequence[int], classes: int) -> Node:
    counts = tuple(sum(row[-1] == c for row in rows) for c in range(classes))
    if max(counts) == len(rows) or not candidates:
        return Leaf(counts, counts.index(max(counts)))
    gains = {a: _information(rows) - _information_after(rows, a) for a in candidates}
    best = next(a for a in candidates if gains[a] >= max(gains.values()) - TIE)
    children: list[Node] = []
    for value in range(sizes[best]):
        part = [row for row in rows if row[best] == value]
        rest = [a for a in candidates if a != best]
        empty = Leaf((0,) * classes, counts.index(max(counts)))
        children.append(_grow(part, rest, sizes, classes) if part else empty)
    return Split(counts, best, tuple(children))


def _information(rows: list[list[int]]) -> float:
    return -sum(n / len(rows) * log2(n / len(rows)) for n in Counter(row[-1] for row in rows).values())


def _information_after(rows: list[list[int]], attribute: int) -> float:
    parts = [[row for row in rows if row[attribute] == value] for value in {row[attribute] for row in rows}]
    return sum(len(part) / len(rows) * _information(part) for part in parts)


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
