"""Estimated counts: the expanded table with numbers as weights (DESIGN 5.1, 5.2), expanded no further than needed.

The weights of all guesses of a group that an expression does not touch add up to 1, so a node's rows are guesses of the
groups on its path alone. A candidate whose group is not among them is tallied as it was sent; what its guesses would
do to the single rows is then done to the finished table, where it costs nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.expanded import Index, cell_count, expand, merge_equal
from protocols.counting.view import View
from protocols.counts import Answer, CellWeights, Classifier, Contributions, CountTable, Query
from protocols.tables.expression import ROOT, Expression, Term

Floats = NDArray[np.float64]
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Spread:
    """Estimates of one candidate's cells with what bounds their error.

    `counts` are the unbiased estimates, `variances` their unbiased variance estimates over the peer's coins, `live` the
    records that could lie in the cell whatever the coins were: no other record can contribute an error.
    """

    counts: Floats
    variances: Floats
    live: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class _Rows:
    """Guesses at a node: the distinct record, the weight of the guess, and the guessed coin of each group so far."""

    record: Index
    weight: Floats
    coins: dict[int, Index]

    def where(self, index: Index) -> "_Rows":
        coins = {group: coin[index] for group, coin in self.coins.items()}
        return _Rows(self.record[index], self.weight[index], coins)


class Estimator:
    """Unbiased estimates of `N(E)` from one party's view; equal records are merged first.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, view: View) -> None:
        self._view, self._schema, self._design = view, view.schema, view.design
        codes, _, self._repeats = merge_equal(view.codes)
        self._codes = np.asfortranarray(codes)
        self._sizes = [column.size for column in view.schema.columns]
        groups = enumerate(view.design.groups)
        self._group = {view.peer_columns[column]: k for k, group in groups for column in group}
        self._weights = [_coin_weights(view, k) for k in range(len(view.design.groups))]
        self._nodes: dict[Expression, _Rows] = {}

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How many records each distinct record stands for."""
        return self._repeats

    def advance(self, expressions: Iterable[Expression]) -> None:
        """Move on to these nodes and forget all others."""
        self._nodes = {expression: self._rows(expression) for expression in expressions}

    def _rows(self, expression: Expression) -> _Rows:
        if expression == ROOT:
            every = np.arange(len(self._codes), dtype=np.intp)
            return _Rows(every, np.ones(len(every)), {})
        if expression not in self._nodes:
            self._split(expression.parent, expression.terms[-1].column)
        return self._nodes.get(expression, _Rows(np.zeros(0, dtype=np.intp), np.zeros(0), {}))

    def _split(self, parent: Expression, column: int) -> None:
        rows = self._guess(self._rows(parent), [column])
        values = self._values(rows, column)
        order = np.argsort(values, kind="stable")
        present, starts = np.unique(values[order], return_index=True)
        for value, part in zip(present.tolist(), np.split(order, starts[1:]), strict=False):
            self._nodes[parent & Term(column, value)] = rows.where(part)

    def _guess(self, rows: _Rows, columns: Iterable[int]) -> _Rows:
        """Expand the rows by the coins of these columns' groups, where they are not guessed yet."""
        for group in dict.fromkeys(self._group[column] for column in columns if column in self._group):
            if group not in rows.coins:
                weights = self._weights[group]
                repeated = rows.where(np.repeat(np.arange(len(rows.record), dtype=np.intp), len(weights)))
                coin = np.tile(np.arange(len(weights), dtype=np.intp), len(rows.record))
                rows = _Rows(repeated.record, repeated.weight * weights[coin], {**repeated.coins, group: coin})
        return rows

    def _values(self, rows: _Rows, column: int) -> Index:
        """Return a column's true values under the guesses, or its values as sent where its group is not guessed."""
        sent: Index = self._codes[rows.record, column].astype(np.intp)
        coin = rows.coins.get(self._group.get(column, -1))
        return sent if coin is None else (sent - coin) % self._sizes[column]

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate every candidate of every query, one pass a candidate over all nodes alike in what they guess."""
        nodes = [self._rows(query.expression) for query in queries]
        asked: dict[tuple[int, frozenset[int]], list[int]] = {}
        for position, query in enumerate(queries):
            guessed = frozenset(nodes[position].coins)
            for candidate in query.candidates:
                asked.setdefault((candidate, guessed), []).append(position)
        joined: dict[tuple[int, ...], tuple[_Rows, Index]] = {}
        tables: dict[tuple[int, int], CountTable] = {}
        for (candidate, _), positions in asked.items():
            key = tuple(positions)
            if key not in joined:
                joined[key] = _join([nodes[p] for p in positions])
            stack = self._count(candidate, *joined[key], len(positions))
            tables |= {(p, candidate): table for p, table in zip(positions, stack, strict=True)}
        return [
            Answer(tuple(tables[position, candidate] for candidate in query.candidates))
            for position, query in enumerate(queries)
        ]

    def _count(self, candidate: int, rows: _Rows, node: Index, nodes: int) -> Floats:
        """Tally a candidate at several nodes, and undo what was sent of groups that are not guessed."""
        label = self._schema.class_index
        shape = (nodes, self._sizes[candidate], self._sizes[label])
        keys = (node * shape[1] + self._values(rows, candidate)) * shape[2] + self._values(rows, label)
        weights = rows.weight * self._repeats[rows.record]
        counts = np.bincount(keys, weights=weights, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)
        hidden: dict[int, list[int]] = {}
        for axis, column in ((1, candidate), (2, label)):
            group = self._group.get(column)
            if group is not None and group not in rows.coins:
                hidden.setdefault(group, []).append(axis)
        for group, axes in hidden.items():
            guesses = enumerate(self._weights[group].tolist())
            counts = sum(weight * np.roll(counts, (-coin,) * len(axes), axes) for coin, weight in guesses)
        return counts.astype(np.float64)

    def _cells(self, expression: Expression, candidate: int) -> tuple[_Rows, Index]:
        """Return the rows of a node with all guesses that a candidate's cells need, and the cell of each."""
        label = self._schema.class_index
        rows = self._guess(self._rows(expression), [candidate, label])
        return rows, self._values(rows, candidate) * self._schema.classes + self._values(rows, label)

    def contributions(self, expression: Expression, weights: CellWeights) -> Contributions:
        """Return what each record adds to a weighted sum of the cells of some candidates at a node."""
        rows, adds = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
        for candidate, weight in weights.items():
            guesses, cell = self._cells(expression, candidate)
            rows.append(guesses.record)
            adds.append(guesses.weight * weight.ravel()[cell])
        present, local = np.unique(np.concatenate(rows), return_inverse=True)
        sums = np.bincount(local, weights=np.concatenate(adds), minlength=len(present)).astype(np.float64)
        return Contributions(sums, self._repeats[present])

    def spread(self, expression: Expression, candidate: int) -> Spread:
        """Estimate one candidate's cells together with their errors."""
        rows, cell = self._cells(expression, candidate)
        cells = cell_count(candidate, self._schema)
        present, local = np.unique(rows.record, return_inverse=True)
        keys = local * cells + cell
        size = len(present) * cells
        factors = np.bincount(keys, weights=rows.weight, minlength=size).astype(np.float64).reshape(-1, cells)
        possible = (np.bincount(keys, minlength=size) > 0).reshape(-1, cells)
        repeats = self._repeats[present]
        counts: Floats = repeats @ factors
        shape = (-1, self._schema.classes)
        return Spread(
            counts.reshape(shape),
            (repeats @ factors**2 - counts).reshape(shape),
            (repeats @ possible).astype(np.int64).reshape(shape),
        )

    def correct_factors(self, model: Classifier) -> Floats:
        """Return what each distinct record adds to the number of records that the model classifies rightly.

        DESIGN 8: every variation of a record is classified, and what is right is added with the guess's weight.
        """
        weights = np.array([float(weight) for weight in self._design.pattern_weights()])
        step = max(1, _BLOCK // len(weights))
        factors = [np.zeros(0)]
        for start in range(0, len(self._codes), step):
            table = expand(self._codes[start : start + step], self._design, self._view.peer_columns)
            right = model.predict(table.codes) == table.codes[:, self._schema.class_index]
            factors.append(right.reshape(-1, len(weights)) @ weights)
        return np.concatenate(factors)

    def correct(self, model: Classifier) -> float:
        """Estimate how many records the model classifies rightly."""
        return float(self._repeats @ self.correct_factors(model))

    def correct_error(self, model: Classifier) -> float:
        """Return the standard error of `correct`: the root of `sum f_i^2 - sum f_i` (DESIGN 5.2)."""
        factors = self.correct_factors(model)
        return sqrt(max(0.0, float(self._repeats @ (factors**2 - factors))))


def _coin_weights(view: View, group: int) -> Floats:
    """Return `w(s)` of every coin of a group."""
    return np.array([float(weight) for weight in view.design.coin_weights(group)])


def _join(nodes: Sequence[_Rows]) -> tuple[_Rows, Index]:
    """Return the rows of nodes that guess the same groups one after another, and the position of each one's node."""
    lengths = [len(node.record) for node in nodes]
    coins = {group: np.concatenate([node.coins[group] for node in nodes]) for group in nodes[0].coins}
    rows = _Rows(np.concatenate([n.record for n in nodes]), np.concatenate([n.weight for n in nodes]), coins)
    return rows, np.repeat(np.arange(len(nodes), dtype=np.intp), lengths)
