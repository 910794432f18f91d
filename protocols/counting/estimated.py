"""Estimated counts under the related question: the expanded table with numbers as weights (DESIGN 5.1, 5.2).

A guess of a group is its offset `s`, the weights are `w(0) = (1-q)/(theta-q)` and `w(s) = -q/(theta-q)`, and under a
guess every column of the group has one value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.guessing import MAX_LISTED, MAX_PATTERNS, GuessedRows, GuessingEstimator, guess_weights
from protocols.counting.rows import View, expand, merge_equal, split_by_value
from protocols.counts import Answer, Classifier, Estimates, Query
from protocols.errors import InputError
from protocols.randomized_response.estimate import quadratic, squares_of_truth, table_shares
from protocols.tables import Expression, Floats, Index, Schema

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Spread:
    """Estimates of one candidate's cells with what bounds their error.

    `counts` are the unbiased estimates, `live` the records that could lie in the cell whatever the coins were: no other
    record can contribute an error.
    """

    counts: Floats
    live: NDArray[np.int64]


class Estimator(GuessingEstimator):
    """Unbiased estimates of `N(E)` from one party's view; equal records are merged first.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, view: View) -> None:
        self._view, self._design = view, view.design
        groups = [[view.peer_columns[column] for column in group] for group in view.design.groups]
        super().__init__(view.schema, view.codes, groups)
        self._weights = [guess_weights(view.design, k) for k in range(len(groups))]

    def _values(self, rows: GuessedRows, column: int) -> Index:
        """Return a column's true values under the guesses, or its values as sent where its group is not guessed."""
        sent, offset = self._sent(rows, column), rows.guess.get(self._group.get(column, -1))
        return sent if offset is None else (sent - offset) % self._sizes[column]

    def _guess(self, rows: GuessedRows, columns: Iterable[int]) -> GuessedRows:
        for column in columns:
            if column in self._group:
                rows = self._guessed(rows, column, self._weights[self._group[column]])
        return rows

    def _children(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        rows = self._guess(rows, [column])
        values = self._values(rows, column)
        if column in self._group and self._is_over(node, column):
            rows = rows.without(self._group[column])
        return {value: rows.where(places) for value, places in split_by_value(values).items()}

    def _count(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Tally, and undo what was sent of groups that are not guessed."""
        label = self._schema.class_index
        shape = (nodes, self._sizes[candidate], self._sizes[label])
        keys = (node * shape[1] + self._values(rows, candidate)) * shape[2] + self._values(rows, label)
        weights = rows.weight * self._repeats[rows.record]
        counts = np.bincount(keys, weights=weights, minlength=prod(shape)).reshape(shape)
        hidden: dict[int, list[int]] = {}
        for axis, column in ((1, candidate), (2, label)):
            group = self._group.get(column)
            if group is not None and group not in rows.guess:
                hidden.setdefault(group, []).append(axis)
        for group, axes in hidden.items():
            guesses = enumerate(self._weights[group].tolist())
            counts = sum(weight * np.roll(counts, (-offset,) * len(axes), axes) for offset, weight in guesses)
        return counts.astype(np.float64)

    def _factors(self, column: int) -> Floats:
        size, group = self._sizes[column], self._group.get(column)
        weights = [1.0] if group is None else self._weights[group].tolist()
        moved = (weight * np.roll(np.eye(size), offset, axis=0) for offset, weight in enumerate(weights))
        return sum(moved, np.zeros((size, size)))

    def _cells(self, rows: GuessedRows, candidate: int) -> tuple[GuessedRows, Index]:
        label = self._schema.class_index
        rows = self._guess(rows, [candidate, label])
        return rows, self._values(rows, candidate) * self._schema.classes + self._values(rows, label)

    def spread(self, expression: Expression, candidate: int) -> Spread:
        """Estimate one candidate's cells together with their errors."""
        rows, cell = self.cells(expression, candidate)
        cells = self._sizes[candidate] * self._schema.classes
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
            (repeats @ possible).astype(np.int64).reshape(shape),
        )

    def _listed_factors(self, model: Classifier) -> Floats:
        """List every pattern of the coins of the groups that the model or the class touches."""
        read = model.columns | {self._schema.class_index}
        touched = [k for k in range(len(self._design.groups)) if self._columns[k] & read]
        design = self._design.of_groups(touched)
        if design.patterns > MAX_PATTERNS or design.patterns * len(self._codes) > MAX_LISTED:
            raise InputError(
                f"to test on disguised records a model that reads {len(touched)} groups at once, {design.patterns} "
                f"coin patterns of each of {len(self._codes)} records would be gone through, over {MAX_LISTED} in all: "
                "test it on answers in the clear, or on fewer"
            )
        weights = np.ones(1)
        for k in range(len(touched)):
            weights = np.outer(weights, guess_weights(design, k)).ravel()
        step = max(1, _BLOCK // len(weights))
        factors = [np.zeros(0)]
        for start in range(0, len(self._codes), step):
            table = expand(self._codes[start : start + step], design, self._view.peer_columns)
            right = model.predict(table.codes) == table.codes[:, self._schema.class_index]
            factors.append(right.reshape(-1, len(weights)) @ weights)
        return np.concatenate(factors)

    def correct(self, model: Classifier) -> float:
        """Estimate how many records the model classifies correctly."""
        return float(self._repeats @ self.correct_factors(model))

    def correct_error(self, model: Classifier) -> float:
        """Return the standard error of `correct`: the root of `sum f_i^2 - sum f_i` (DESIGN 5.2)."""
        factors = self.correct_factors(model)
        return sqrt(max(0.0, float(self._repeats @ (factors**2 - factors))))


class ConditionEstimates:
    """Unbiased estimates of counts of conditions, from one party's view in which no two columns share a coin.

    What a record adds to a count is then a product over columns: for each the weights of the guesses of its coin under
    which the conditions on it hold, which follow from what was sent alone.

    Args:
        view: By the columns that the conditions of `schema` are about.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, view: View, schema: Schema) -> None:
        codes, _, self._repeats = merge_equal(view.codes)
        self._codes, self._schema = np.asfortranarray(codes), schema
        self._factors = [np.eye(column.size) for column in schema.base.columns]
        for k, group in enumerate(view.design.groups):
            (column,) = (view.peer_columns[place] for place in group)
            guesses, one = enumerate(guess_weights(view.design, k).tolist()), self._factors[column]
            self._factors[column] = sum((w * np.roll(one, s, axis=0) for s, w in guesses), np.zeros(one.shape))

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Keep nothing: the rows of all nodes are those of the table."""

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate the counts of all queries; cells may be negative."""
        return [Answer(*zip(*self._tables(query), strict=True)) for query in queries]

    def _tables(self, query: Query) -> Iterator[tuple[Floats, Floats]]:
        """Yield the table of each candidate, and the variances that `Answer` speaks of."""
        left, label = self._left(query.expression), self._schema.base.class_index
        added = {column: self._factors[column][self._codes[:, column]] @ held for column, held in left.items()}
        whole = self._product(added)
        shape, right = (-1, self._schema.classes), self._factors[label]
        sums: dict[int, tuple[Floats, Floats]] = {}
        for candidate in query.candidates:
            condition = self._schema.conditions[candidate]
            column, size = condition.column, len(self._factors[condition.column])
            if column not in sums:
                others = {c: weights for c, weights in added.items() if c != column}
                weights = self._product(others) if column in added else whole
                keys = self._codes[:, column].astype(np.intp) * shape[1] + self._codes[:, label]
                one, square = (np.bincount(keys, weights**k * self._repeats, size * shape[1]) for k in (1, 2))
                sums[column] = one.astype(np.float64).reshape(shape), square.astype(np.float64).reshape(shape)
            sent, squared = sums[column]
            branches = self._schema.values_by_code(condition)[:size, None] == np.arange(2)
            of_values = self._factors[column] @ (left.get(column, np.ones(size))[:, None] * branches)
            table = of_values.T @ sent @ right
            shares, classes = (each[0] for each in table_shares(table[None]))
            apart = (of_values - of_values.sum(1, keepdims=True) * shares)[None], (right - classes)[None]
            yield table, (quadratic(squared[None], *apart) - squares_of_truth(table[None]))[0]

    def _product(self, factors: Mapping[int, Floats]) -> Floats:
        return reduce(np.multiply, factors.values(), np.ones(len(self._codes)))

    def _left(self, expression: Expression) -> dict[int, Floats]:
        """Return of each column that an expression is about which values it leaves, as 0 and 1."""
        left: dict[int, Floats] = {}
        for term in expression.terms:
            condition = self._schema.conditions[term.column]
            size = len(self._factors[condition.column])
            holds = self._schema.values_by_code(condition)[:size] == term.value
            left[condition.column] = left.get(condition.column, np.ones(size)) * holds
        return left


def estimates_over(schema: Schema, view: View) -> Estimates:
    """Return estimates of what may split a node by this schema: of the columns of a view, or of conditions on them."""
    return ConditionEstimates(view, schema) if schema.conditions else Estimator(view)
