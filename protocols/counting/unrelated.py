"""Estimated counts under the unrelated question (DESIGN 4.4, 5.2), for all counts of a node at once.

Multiplied out over its groups, the factor of a record is a sum over the sets `K` of groups that are taken at their
word: each group in `K` adds `1/theta` times what its response says, each other group `-(1 - theta)/theta` times what
its personal question would say on average. So a set `K` is a table of its own: the columns of the groups in `K` and the
plain ones as they were sent, all others spread over the personal distribution. Records alike on `K` are merged.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.counting.expanded import Index, RowSets, merge_equal, tally
from protocols.counts import Answer, CellWeights, Classifier, Contributions, CountTable, Query
from protocols.errors import InputError
from protocols.randomized_response.design import cells
from protocols.randomized_response.unrelated_question import UnrelatedQuestionDesign
from protocols.tables.expression import Expression
from protocols.tables.schema import Schema
from protocols.tables.table import Codes

Floats = NDArray[np.float64]
MAX_GROUPS = 10
MAX_CELLS = 1 << 24
MAX_BYTES = 1 << 30
_BLOCK = 1 << 18


class UnrelatedEstimator:
    """Unbiased estimates of `N(E)` from responses to unrelated questions; equal records are merged first.

    Args:
        schema: Of the columns of `codes`, the class last.
        codes: The responses.
        design: Over the same columns.

    Raises:
        InputError: The groups are too many to multiply out, at all or for so many records.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, codes: Codes, design: UnrelatedQuestionDesign) -> None:
        groups = len(design.groups)
        if groups > MAX_GROUPS:
            raise InputError(f"the unrelated question is mined with at most {MAX_GROUPS} groups, not {groups}")
        self._schema = schema
        distinct, _, self._repeats = merge_equal(codes)
        if distinct.size << groups > MAX_BYTES:
            raise InputError(f"{len(distinct)} different records are too many for {groups} groups: use fewer groups")
        kept = product((False, True), repeat=groups)
        self._parts = [_Part(schema, distinct, self._repeats, design, which) for which in kept]

    @property
    def repeats(self) -> NDArray[np.int64]:
        """How many records each distinct record stands for."""
        return self._repeats

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        for part in self._parts:
            part.advance(expressions)

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        """Estimate every candidate of every query."""
        shares = [part.answers(queries) for part in self._parts]
        return [
            Answer(tuple(sum(tables[1:], tables[0]) for tables in zip(*(a.tables for a in same), strict=True)))
            for same in zip(*shares, strict=True)
        ]

    def contributions(self, expression: Expression, weights: CellWeights) -> Contributions:
        """Return what each record adds to a weighted sum of the cells of some candidates at a node."""
        parts = (part.contributions(expression, weights) for part in self._parts)
        return Contributions(sum(parts, np.zeros(len(self._repeats))), self._repeats)

    def correct_factors(self, model: Classifier) -> Floats:
        """Return what each distinct record adds to the number of records that the model classifies rightly.

        Surveys 3.4 for one group: `([correct] - (1 - theta) P(Y correct)) / theta`.

        Raises:
            InputError: The personal cells that the model tells apart are too many to go through.
        """
        return sum((part.correct_factors(model) for part in self._parts), np.zeros(len(self._repeats)))


class _Part:
    """The responses with the groups in `K` taken at their word and all others spread.

    `hidden` are the columns of the others; in `codes` they are 0.
    """

    def __init__(
        self,
        schema: Schema,
        distinct: Codes,
        repeats: NDArray[np.int64],
        design: UnrelatedQuestionDesign,
        kept: Sequence[bool],
    ) -> None:
        groups = zip(design.groups, kept, strict=True)
        self.hidden = frozenset(column for group, keep in groups if not keep for column in group)
        self._schema, self._sizes = schema, design.sizes
        theta = design.theta
        weight = prod((1 / theta if keep else (theta - 1) / theta for keep in kept), start=theta / theta)
        self._weight = float(weight)
        self._chances = {column: np.array([float(p) for p in design.personal[column]]) for column in self.hidden}
        masked = distinct.copy()
        masked[:, sorted(self.hidden)] = 0
        self.codes, self._row_of, _ = merge_equal(masked)
        self._counts = np.bincount(self._row_of, weights=repeats).astype(np.float64)
        self._sets = RowSets(self.codes)

    def _seen(self, expression: Expression) -> Expression:
        """The terms on columns that are not hidden, in the order of the path."""
        return Expression(tuple(term for term in expression.terms if term.column not in self.hidden))

    def _weight_at(self, expression: Expression) -> float:
        """Weight of a record at this node: the hidden terms hold with their personal chances."""
        hidden = (term for term in expression.terms if term.column in self.hidden)
        return self._weight * prod(float(self._chances[term.column][term.value]) for term in hidden)

    def _spread(self, tables: Floats, candidate: int) -> Floats:
        """Spread `... x values x classes` over the personal distribution where value or class is hidden."""
        if candidate in self.hidden:
            tables = self._chances[candidate][:, None] * tables.sum(axis=-2, keepdims=True)
        if self._schema.class_index in self.hidden:
            tables = tables.sum(axis=-1, keepdims=True) * self._chances[self._schema.class_index]
        return tables

    def advance(self, expressions: Sequence[Expression]) -> None:
        self._sets.advance(dict.fromkeys(map(self._seen, expressions)))

    def answers(self, queries: Sequence[Query]) -> list[Answer]:
        nodes = [self._sets.rows(self._seen(query.expression)) for query in queries]
        counted = tally(self.codes, nodes, queries, self._schema, self._counts)
        return [
            Answer(tuple(self._table(query, c, t) for c, t in zip(query.candidates, answer.tables, strict=True)))
            for query, answer in zip(queries, counted, strict=True)
        ]

    def _table(self, query: Query, candidate: int, table: CountTable) -> Floats:
        return self._weight_at(query.expression) * self._spread(np.asarray(table, dtype=np.float64), candidate)

    def contributions(self, expression: Expression, weights: CellWeights) -> Floats:
        rows = self._sets.rows(self._seen(expression))
        label = self._schema.class_index
        sums = np.zeros(len(self.codes))
        for candidate, weight in weights.items():
            sums[rows] += self._unspread(weight, candidate)[self.codes[rows, candidate], self.codes[rows, label]]
        adds: Floats = self._weight_at(expression) * sums[self._row_of]
        return adds

    def _unspread(self, weights: Floats, candidate: int) -> Floats:
        """Return the mean weight of a cell over the personal distribution where value or class is hidden."""
        if candidate in self.hidden:
            weights = np.broadcast_to((self._chances[candidate][:, None] * weights).sum(axis=0), weights.shape)
        if self._schema.class_index in self.hidden:
            chances = self._chances[self._schema.class_index]
            weights = np.broadcast_to((weights * chances).sum(axis=1, keepdims=True), weights.shape)
        return weights

    def correct_factors(self, model: Classifier) -> Floats:
        hits = np.zeros(len(self.codes))
        for rows, codes, chances in self._filled(model.columns | {self._schema.class_index}):
            right = model.predict(codes) == codes[:, self._schema.class_index]
            hits += np.bincount(rows, weights=right * chances, minlength=len(hits))
        factors: Floats = (self._weight * hits)[self._row_of]
        return factors

    def _filled(self, columns: frozenset[int]) -> Iterator[tuple[Index, Codes, Floats]]:
        """Yield the rows with every filling of the hidden ones of these columns: row, codes and chance."""
        own = sorted(self.hidden & columns)
        fillings = prod(self._sizes[column] for column in own)
        if fillings * len(self.codes) > MAX_CELLS:
            raise InputError(
                f"{fillings} personal records are too many to test with: use a smaller model or more plain columns"
            )
        values = np.array(cells([self._sizes[column] for column in own]), dtype=np.uint8).reshape(fillings, -1)
        chances = np.ones(fillings)
        for position, column in enumerate(own):
            chances = chances * self._chances[column][values[:, position]]
        step = max(1, _BLOCK // len(self.codes))
        for start in range(0, fillings, step):
            block = values[start : start + step]
            codes = np.repeat(self.codes, len(block), axis=0)
            codes[:, own] = np.tile(block, (len(self.codes), 1))
            rows = np.repeat(np.arange(len(self.codes), dtype=np.intp), len(block))
            yield rows, codes, np.tile(chances[start : start + step], len(self.codes))
