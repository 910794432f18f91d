"""Estimated counts under the unrelated question (DESIGN 4.4, 5.2), for all counts of a node at once.

A guess of a group is whether its response is taken at its word, with the weight `1/theta`, or stands for a personal
record, with the weight `-(1 - theta)/theta`; of the latter a column has each value with its personal chance. Both
together are the factor of a record.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from protocols.counting.guessing import MAX_LISTED, MAX_PATTERNS, GuessedRows, GuessingEstimator, guess_weights
from protocols.counts import Classifier
from protocols.errors import InputError
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables.arrays import Floats, Index
from protocols.tables.expression import Expression
from protocols.tables.schema import Schema
from protocols.tables.table import Codes

_BLOCK = 1 << 20


class UnrelatedEstimator(GuessingEstimator):
    """Unbiased estimates of `N(E)` from responses to unrelated questions; equal records are merged first.

    Args:
        schema: Of the columns of `codes`, the class last.
        codes: The responses.
        design: Over the same columns.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, codes: Codes, design: UnrelatedDesign) -> None:
        super().__init__(schema, codes, design.groups)
        self._chances = [np.array([float(chance) for chance in chances]) for chances in design.personal]
        self._weights = guess_weights(design, 0)

    def _is_personal(self, rows: GuessedRows, column: int) -> Index | None:
        """Return of each row whether it stands for a personal record; None where the column's group is not guessed."""
        return rows.guess.get(self._group.get(column, -1))

    def _children(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        if column not in self._group:
            sent = self._sent(rows, column)
            return {value: rows.where(sent == value) for value in range(self._sizes[column])}
        if len(self._columns[self._group[column]]) == 1:
            return self._weighed_children(rows, column)
        rows = self._guessed(rows, column, self._weights)
        children = self._guessed_children(rows, column)
        if self._is_over(node, column):
            return {value: _merged(child, self._group[column]) for value, child in children.items()}
        return children

    def _weighed_children(self, rows: GuessedRows, column: int) -> dict[int, GuessedRows]:
        """Return the branches of a column that has a coin of its own: all rows, by the factor of each value."""
        sent = self._sent(rows, column)
        told, personal = self._weights
        return {
            value: rows.weighed(told * (sent == value) + personal * self._chances[column][value])
            for value in range(self._sizes[column])
        }

    def _guessed_children(self, rows: GuessedRows, column: int) -> dict[int, GuessedRows]:
        sent, personal = self._sent(rows, column), rows.guess[self._group[column]] == 1
        children = {}
        for value, chance in enumerate(self._chances[column].tolist()):
            own = personal | (sent == value)
            children[value] = rows.where(own).weighed(np.where(personal[own], chance, 1.0))
        return children

    def _count(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Tally rows apart by what they guess of candidate and class, and undo what was sent of other groups."""
        label = self._schema.class_index
        flags = [self._is_personal(rows, column) for column in (candidate, label)]
        kinds = sum(
            place * (flag if flag is not None else np.zeros(len(rows), dtype=np.intp))
            for place, flag in zip((1, 2), flags, strict=True)
        )
        shape = (nodes, self._sizes[candidate], self._sizes[label])
        keys = (node * shape[1] + self._sent(rows, candidate)) * shape[2] + self._sent(rows, label)
        weights = rows.weight * self._repeats[rows.record]
        counts = np.zeros(shape)
        for kind in np.unique(kinds).tolist():
            own = kinds == kind
            table = np.bincount(keys[own], weights[own], prod(shape)).astype(np.float64).reshape(shape)
            axes = [axis for axis, place in ((1, 1), (2, 2)) if kind & place]
            counts += self._spread(table, candidate, axes)
        return self._undone(counts, candidate, flags)

    def _undone(self, counts: Floats, candidate: int, flags: Sequence[Index | None]) -> Floats:
        """Apply the guesses of groups that are not guessed to the finished tables."""
        hidden: dict[int, list[int]] = {}
        for axis, (column, flag) in enumerate(zip((candidate, self._schema.class_index), flags, strict=True), 1):
            if column in self._group and flag is None:
                hidden.setdefault(self._group[column], []).append(axis)
        told, personal = self._weights
        for axes in hidden.values():
            counts = told * counts + personal * self._spread(counts, candidate, axes)
        return counts

    def _spread(self, tables: Floats, candidate: int, axes: Sequence[int]) -> Floats:
        """Spread `nodes x values x classes` over the personal distribution along these axes."""
        for axis in axes:
            chances = self._chances[candidate if axis == 1 else self._schema.class_index]
            tables = tables.sum(axis=axis, keepdims=True) * (chances[:, None] if axis == 1 else chances)
        return tables

    def _cells(self, rows: GuessedRows, candidate: int) -> tuple[GuessedRows, Index]:
        label = self._schema.class_index
        for column in (candidate, label):
            if column in self._group:
                rows = self._guessed(rows, column, self._weights)
        rows, values, index = self._settled(rows, candidate)
        rows, classes, index = self._settled(rows, label)
        return rows, values[index] * self._schema.classes + classes

    def _settled(self, rows: GuessedRows, column: int) -> tuple[GuessedRows, Index, Index]:
        """Give every row one value of a column, a personal row each of its values; return what each came from too."""
        every, sent = np.arange(len(rows), dtype=np.intp), self._sent(rows, column)
        flag = self._is_personal(rows, column)
        if flag is None:
            return rows, sent, every
        repeats = np.where(flag == 1, self._sizes[column], 1)
        index = np.repeat(every, repeats)
        turn = np.arange(len(index), dtype=np.intp) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        personal = flag[index] == 1
        chances = self._chances[column][np.where(personal, turn, 0)]
        values = np.where(personal, turn, sent[index])
        return rows.where(index).weighed(np.where(personal, chances, 1.0)), values, index

    def _listed_factors(self, model: Classifier) -> Floats:
        """Go through every record that the model tells apart, with its weight for each response (Surveys 3.4)."""
        label = self._schema.class_index
        groups = [sorted(group & (model.columns | {label})) for group in self._columns]
        own = [column for group in groups for column in group]
        number = prod(self._sizes[column] for column in own)
        if number > MAX_PATTERNS or number * len(self._codes) > MAX_LISTED:
            raise InputError(
                f"to test on disguised records a model that reads {len(own)} disguised columns at once, {number} "
                f"records would be gone through for each of {len(self._codes)}, more than {MAX_LISTED} in all: "
                "test it on answers in the clear, or on fewer"
            )
        values = np.indices([self._sizes[column] for column in own], dtype=np.uint8).reshape(len(own), number).T
        step = max(1, _BLOCK // number)
        factors = [np.zeros(0)]
        for start in range(0, len(self._codes), step):
            block = self._codes[start : start + step]
            codes = np.repeat(block, number, axis=0)
            codes[:, own] = np.tile(values, (len(block), 1))
            right = model.predict(codes) == codes[:, label]
            factors.append((right.reshape(len(block), number) * self._weights_of(block, values, groups)).sum(axis=1))
        return np.concatenate(factors)

    def _weights_of(self, block: Codes, values: Codes, groups: Sequence[Sequence[int]]) -> Floats:
        """Return the weight of each true record for each response (`responses x records`), the product over groups."""
        told, personal = self._weights
        weights = np.ones((len(block), len(values)))
        place = 0
        for group in filter(None, groups):
            cells = values[:, place : place + len(group)]
            place += len(group)
            chances = [self._chances[column][cells[:, position]] for position, column in enumerate(group)]
            alike = [block[:, column, None] == cells[:, position] for position, column in enumerate(group)]
            weights *= told * np.logical_and.reduce(alike) + personal * np.prod(chances, axis=0)
        return weights


def _merged(rows: GuessedRows, group: int) -> GuessedRows:
    """Forget a group's guess, and add up the rows that differed in it alone."""
    rest = rows.without(group)
    keys = rest.record
    for guess in rest.guess.values():
        keys = 2 * keys + guess
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(inverse, weights=rest.weight, minlength=len(first)).astype(np.float64)
    merged = rest.where(first)
    return GuessedRows(merged.record, weight, merged.guess)
