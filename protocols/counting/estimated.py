"""What one party estimates from its own columns and the other's copy (DESIGN 5.1, 5.2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.counting.estimated_questions import SurveyCounts
from protocols.counting.guessing import guess_weights
from protocols.counting.rows import View, merge_equal
from protocols.counts import Answer, Classifier, Estimates, Query
from protocols.randomized_response.estimate import quadratic, squares_of_truth, table_shares
from protocols.tables import Expression, Floats, Schema


@dataclass(frozen=True)
class Spread:
    """Estimates of one candidate's cells with what bounds their error.

    `counts` are the unbiased estimates, `live` the records that could lie in the cell whatever the coins were: no other
    record can contribute an error.
    """

    counts: Floats
    live: NDArray[np.int64]


class Estimator(SurveyCounts):
    """Unbiased estimates of `N(E)` from one party's view, with what bounds their errors.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, view: View) -> None:
        super().__init__(view.schema, view.codes, view.design)

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
            (column,) = group
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
