"""What one party counts on: its view of the records, and the expanded table of guesses at the true ones (DESIGN 5.1).

A view is what one party can count on: its own columns as they are, the peer's as they were sent (Hybrid 3.1: `D_1`,
`D_2`).

A disguised record together with a guess of its coins is one candidate for the true record. Every record contributes
one row per guess; the true row is among them. Any count is then a sum of row weights over the rows that satisfy `E`,
and only the weights differ: numbers for estimates, ciphertexts for exact counts.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from math import prod
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Answer, Query
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

    `codes` is records by `schema.columns`. Column `peer_columns[j]` was disguised as column `j` of `design`; all other
    columns are the party's own. A party that has no copy of the peer's columns (method `smc`) holds zeros there.
    """

    schema: Schema
    codes: Codes
    design: RelatedDesign
    peer_columns: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def rows(self, index: Index) -> "View":
        """Return the view of these records only."""
        return View(self.schema, self.codes[index], self.design, self.peer_columns)


def peer_columns(schema: Schema, party: str) -> tuple[int, ...]:
    """Joint columns that only the peer of `party` holds, in the order in which the peer sends them."""
    own = set(schema.held_by(party))
    return tuple(column for column in range(len(schema.columns)) if column not in own)


def make_view(schema: Schema, party: str, own: Codes, peer: Codes | None, design: RelatedDesign) -> View:
    """Put a party's own codes (`schema.held_by`) beside the peer's disguised ones (`peer_columns`), if any."""
    codes = np.zeros((len(own), len(schema.columns)), dtype=np.uint8)
    codes[:, list(schema.held_by(party))] = own
    columns = peer_columns(schema, party)
    if peer is not None:
        codes[:, list(columns)] = peer
    return View(schema, codes, design, columns)


def view_of_copies(view: View, party: str, copy: Codes, design: RelatedDesign) -> View:
    """Put both disguised copies side by side: what both parties can count on, in the same form for both.

    `copy` is by the party's columns in the joint schema; a class that both hold is in neither. Both have one theta.
    """
    schema, own = view.schema, view.schema.held_by(party)[: copy.shape[1]]
    codes = view.codes.copy()
    codes[:, list(own)] = copy
    joint = [
        (tuple(sorted(columns[c] for c in group)), toss)
        for each, columns in ((design, own), (view.design, view.peer_columns))
        for group, toss in zip(each.groups, each.tossed or each.orders, strict=True)
    ]
    sizes = tuple(column.size for column in schema.columns)
    groups, tossed = zip(*sorted(joint), strict=True) if joint else ((), ())
    both = RelatedDesign(sizes, groups, design.theta, tossed)
    return View(schema, codes, both, tuple(range(len(sizes))))


@dataclass(frozen=True, eq=False, repr=False)
class ExpandedTable:
    """Candidate records over the joint columns; `record` and `pattern` say whose guess a row is."""

    codes: Codes
    record: Index
    pattern: Index

    def __len__(self) -> int:
        return len(self.codes)


def expand(codes: Codes, design: RelatedDesign, columns: Sequence[int]) -> ExpandedTable:
    """Expand joint records, the viewer's own columns true: rows in the order of records, then patterns.

    `columns` are joint ones, for each column of the peer's design.
    """
    guesses = design.pattern_coins().astype(np.int64)
    rows = np.repeat(codes[:, None, :], len(guesses), axis=1)
    for k, group in enumerate(design.groups):
        for column in group:
            sent = codes[:, columns[column], None].astype(np.int64)
            rows[:, :, columns[column]] = (sent - guesses[:, k]) % design.sizes[column]
    record = np.repeat(np.arange(len(codes), dtype=np.intp), len(guesses))
    pattern_index = np.tile(np.arange(len(guesses), dtype=np.intp), len(codes))
    return ExpandedTable(rows.reshape(-1, codes.shape[1]), record, pattern_index)


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


def rows_by_node(codes: Codes) -> NodeRows[Index]:
    """Return the rows of each node, of a table in which every row is one record or one guess."""

    def branches(rows: Index, node: Expression, column: int) -> dict[int, Index]:
        del node
        return {value: rows[places] for value, places in split_by_value(codes[rows, column]).items()}

    return NodeRows(lambda: np.arange(len(codes), dtype=np.intp), branches, np.zeros(0, dtype=np.intp))


def tally(codes: Codes, nodes: Sequence[Index], queries: Sequence[Query], schema: Schema) -> list[Answer]:
    """Count the rows of every node, one pass per candidate over all nodes that ask for it."""

    def join(positions: Sequence[int]) -> tuple[Index, Index, int]:
        joined = [nodes[position] for position in positions]
        return np.concatenate(joined), place_of_each(joined), len(joined)

    def count(candidate: int, joined: tuple[Index, Index, int]) -> NDArray[np.int64]:
        rows, node, number = joined
        shape = (number, schema.attributes[candidate].size, schema.classes)
        keys = (node * shape[1] + codes[rows, candidate]) * shape[2] + codes[rows, schema.class_index]
        return np.bincount(keys, minlength=prod(shape)).reshape(shape)

    counted = count_together(queries, [None] * len(queries), join, count)
    return [Answer(tuple(tables)) for tables in counted]
