"""What one party counts on: its own columns as they are, the peer's as they were sent (Hybrid 3.1: `D_1`, `D_2`)."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from math import prod
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Query
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import ROOT, Codes, Expression, Index, Schema

_Rows = TypeVar("_Rows", bound=Sized)
_Joined = TypeVar("_Joined")
_Counted = TypeVar("_Counted")


class NodeRows(Generic[_Rows]):
    """The rows of every open node, each split from those of the nearest node above without touching the others.

    `root` makes the rows of the root, `branches` those of each branch of a node by a column, but for empty ones.
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
        """Move on to these nodes and forget all others; keep `room` rows in all, and make others again if asked."""
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

    `join` puts the rows of the queries in these positions together, `count` returns what is counted for each of them.
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


@dataclass(frozen=True, eq=False, repr=False)
class View:
    """Joint codes as one party sees them.

    `codes` is records by `schema.columns`, and so is `design`, by which the peer's were disguised; the party's own are
    plain. A party that has no copy of the peer's columns (method `smc`) holds zeros there.
    """

    schema: Schema
    codes: Codes
    design: RelatedDesign

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, index: Index) -> "View":
        """Return the view of these records only."""
        return View(self.schema, self.codes[index], self.design)


def peer_columns(schema: Schema, party: str) -> tuple[int, ...]:
    """Joint columns that only the peer of `party` holds, in the order in which the peer sends them."""
    own = set(schema.held_by(party))
    return tuple(column for column in range(len(schema.columns)) if column not in own)


def make_view(schema: Schema, party: str, own: Codes, peer: Codes | None, design: RelatedDesign) -> View:
    """Put a party's own codes (`schema.held_by`) beside the peer's disguised ones (`peer_columns`), if any.

    `design` is by the columns that the peer sends.
    """
    codes = np.zeros((len(own), len(schema.columns)), dtype=np.uint8)
    codes[:, list(schema.held_by(party))] = own
    columns = peer_columns(schema, party)
    if peer is not None:
        codes[:, list(columns)] = peer
    groups = tuple(tuple(columns[column] for column in group) for group in design.groups)
    return View(schema, codes, replace(design, sizes=tuple(column.size for column in schema.columns), groups=groups))


def view_of_copies(view: View, party: str, copy: Codes, design: RelatedDesign) -> View:
    """Put both disguised copies side by side: what both parties can count on, in the same form for both.

    `copy` is by the party's columns in the joint schema; a class that both hold is in neither. Both have one theta.
    """
    schema, own = view.schema, view.schema.held_by(party)[: copy.shape[1]]
    codes = view.codes.copy()
    codes[:, list(own)] = copy
    groups = (*(tuple(own[column] for column in group) for group in design.groups), *view.design.groups)
    tosses = (toss for each in (design, view.design) for toss in each.tossed or each.orders)
    joint = sorted((tuple(sorted(group)), toss) for group, toss in zip(groups, tosses, strict=True))
    ordered, tossed = zip(*joint, strict=True) if joint else ((), ())
    return View(schema, codes, RelatedDesign(view.design.sizes, ordered, design.theta, tossed))


def merge_equal(codes: Codes) -> tuple[Codes, Index, NDArray[np.int64]]:
    """Return the distinct rows, for each row the index of its distinct one, and how often each occurs."""
    _, first, inverse, repeats = np.unique(_row_keys(codes), return_index=True, return_inverse=True, return_counts=True)
    return codes[first], inverse.astype(np.intp), repeats.astype(np.int64)


def _row_keys(codes: Codes) -> NDArray[np.void] | NDArray[np.int64]:
    """Return something for each row that sorts as the row does: one integer where 63 bits hold it, which is faster."""
    sizes = [int(column.max(initial=0)) + 1 for column in codes.T]
    if prod(sizes) >= 1 << 63:
        keys: NDArray[np.void] = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
        return keys
    packed = np.zeros(len(codes), dtype=np.int64)
    for column, size in zip(codes.T, sizes, strict=True):
        packed *= size
        packed += column
    return packed
