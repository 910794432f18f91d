"""What is done for the open nodes of a tree, whatever their rows are: splitting them, and counting at many at once."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from typing import Generic, TypeVar

import numpy as np

from protocols.counts import Query
from protocols.tables.arrays import Index
from protocols.tables.expression import ROOT, Expression

_Rows = TypeVar("_Rows", bound=Sized)
_Joined = TypeVar("_Joined")
_Counted = TypeVar("_Counted")


class NodeRows(Generic[_Rows]):
    """The rows of every open node, each split from those of the nearest node above without touching the others.

    Args:
        root: Makes the rows of the root.
        branches: Returns the rows of each branch of a node by a column; branches without rows may be missing.
        nothing: No rows.
    """

    def __init__(
        self,
        root: Callable[[], _Rows],
        branches: Callable[[_Rows, Expression, int], Mapping[int, _Rows]],
        nothing: _Rows,
    ) -> None:
        self._root, self._branches, self._nothing = root, branches, nothing
        self._kept: dict[Expression, _Rows] = {}
        self._last: tuple[Expression, int, Mapping[int, _Rows]] = (ROOT, -1, {})

    def advance(self, expressions: Iterable[Expression], room: int | None = None) -> None:
        """Move on to these nodes and forget all others.

        Args:
            expressions: The nodes.
            room: How many rows are kept in all; those of further nodes are made anew whenever they are asked for.
        """
        kept: dict[Expression, _Rows] = {}
        for expression in expressions:
            rows = self.rows(expression)
            if room is not None:
                room -= len(rows)
            if room is None or room >= 0:
                kept[expression] = rows
        self._kept, self._last = kept, (ROOT, -1, {})

    def rows(self, expression: Expression) -> _Rows:
        """Return the rows that satisfy the expression."""
        below: list[Expression] = []
        while expression != ROOT and expression not in self._kept:
            below.append(expression)
            expression = expression.parent
        rows = self._root() if expression == ROOT else self._kept[expression]
        for child in reversed(below):
            term = child.terms[-1]
            rows = self._split(rows, child.parent, term.column).get(term.value, self._nothing)
        return rows

    def _split(self, rows: _Rows, node: Expression, column: int) -> Mapping[int, _Rows]:
        """Split a node; its branches are kept until another is split, since they are asked for one after the other."""
        if self._last[:2] != (node, column):
            self._last = node, column, self._branches(rows, node, column)
        return self._last[2]


def split_by_value(values: Index) -> dict[int, Index]:
    """Return, for each value that is present, where it stands."""
    order = np.argsort(values, kind="stable")
    present, starts = np.unique(values[order], return_index=True)
    return dict(zip(present.tolist(), np.split(order, starts[1:]), strict=False))  # no values still make one part


def count_together(
    queries: Sequence[Query],
    alike: Sequence[Hashable],
    join: Callable[[Sequence[int]], _Joined],
    count: Callable[[int, _Joined], Iterable[_Counted]],
) -> list[list[_Counted]]:
    """Return for each query what is counted of its candidates, by one pass per candidate over all alike that ask.

    Args:
        queries: What is asked.
        alike: For each query, what those of one pass have in common.
        join: Puts the rows of the queries in these positions together.
        count: Returns what is counted of a candidate for each query joined.
    """
    asked: dict[tuple[int, Hashable], list[int]] = {}
    for position, query in enumerate(queries):
        for candidate in query.candidates:
            asked.setdefault((candidate, alike[position]), []).append(position)
    counted: dict[tuple[int, int], _Counted] = {}
    together: list[int] = []
    for (candidate, _), positions in sorted(asked.items(), key=lambda item: item[1]):
        if together != positions:
            together, joined = positions, join(positions)
        counted |= {(p, candidate): each for p, each in zip(positions, count(candidate, joined), strict=True)}
    return [[counted[position, candidate] for candidate in query.candidates] for position, query in enumerate(queries)]


def place_of_each(nodes: Sequence[Sized]) -> Index:
    """Return, for the rows of all nodes one after another, the position of each one's node."""
    return np.repeat(np.arange(len(nodes), dtype=np.intp), [len(node) for node in nodes])
