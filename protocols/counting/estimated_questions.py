"""Estimated counts of a survey under any design (DESIGN 4, 5.2), for all counts of a node at once.

All that is used of a design are the weights of the guesses of each group's coin, and what a response means under each
(`guess_weights`, `guess_values`): one value where a coin moves values, a distribution where the response may be
personal. A column that has a group of its own is never guessed: each branch has all rows, by the factor of its value.

A model without leaves is tested on disguised records by listing what the records may truly be (DESIGN 8). There are two
ways, and the cheaper one is taken. *By cells*: every true record over the columns that the model reads is classified
once for all responses; a response has a weight for each, a product over groups, so that the sum over all is a product
of matrices. *By guesses*: every guess of the coins of each response is classified, where a guess leaves one value;
these are few for a group of many columns. Either number multiplies over the groups that the model reads, and has a
limit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from protocols.counting.guessing import (
    MAX_LISTED,
    MAX_PATTERNS,
    GuessedRows,
    GuessingEstimator,
    guess_values,
    guess_weights,
    leaves_one,
)
from protocols.counting.rows import split_by_value
from protocols.counts import Classifier
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.tables import Codes, Expression, Floats, Index, Schema

MAX_PRODUCTS = 1 << 36
"""Multiplications of weights by cells, of all records together: some ten seconds."""
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class _Group:
    """What a model and its test read of a group: columns, and for each what a response means under each guess."""

    columns: tuple[int, ...]
    sizes: tuple[int, ...]
    weights: Floats
    meant: tuple[Floats, ...]

    @property
    def cells(self) -> int:
        """How many true values its columns can have together."""
        return prod(self.sizes)

    def weigh(self, codes: Codes) -> Floats:
        """Return the weight of each cell for each response (`records x cells`)."""
        total = np.zeros((len(codes), self.cells))
        for guess, weight in enumerate(self.weights.tolist()):
            joint = np.full((len(codes), 1), weight)
            for column, meant in zip(self.columns, self.meant, strict=True):
                joint = _outer(joint, meant[guess][codes[:, column]])
            total += joint
        return total


def listed_factors(model: Classifier, schema: Schema, codes: Codes, design: Design) -> Floats:
    """Return what each distinct response adds to the number of records that the model classifies correctly."""
    read = model.columns | {schema.class_index}
    groups = [_group(design, k, read) for k, group in enumerate(design.groups) if read.intersection(group)]
    plain = sorted(read.intersection(design.plain))
    cells, guesses = prod(group.cells for group in groups), prod(len(group.weights) for group in groups)
    contexts = len(np.unique(codes[:, plain], axis=0))
    if cells <= MAX_PATTERNS and cells * contexts <= MAX_LISTED and cells * len(codes) <= MAX_PRODUCTS:
        return _by_cells(model, schema.class_index, codes, groups, plain)
    certain = all(leaves_one(meant) for group in groups for meant in group.meant)
    if certain and guesses <= MAX_PATTERNS and guesses * len(codes) <= MAX_LISTED:
        return _by_guesses(model, schema.class_index, codes, groups)
    raise InputError(
        f"a model that reads {len(groups)} groups at once cannot be tested on {len(codes):,} disguised records: each "
        f"may truly be any of {min(cells, guesses) if certain else cells:,}, all of which would be gone through; "
        "learn from fewer columns, learn a tree (its test goes path by path), or test it on answers in the clear"
    )


def _group(design: Design, group: int, read: frozenset[int]) -> _Group:
    columns = tuple(sorted(read.intersection(design.groups[group])))
    meant = tuple(guess_values(design, group, column) for column in columns)
    return _Group(columns, tuple(design.sizes[column] for column in columns), guess_weights(design, group), meant)


def _outer(left: Floats, right: Floats) -> Floats:
    """Multiply record by record every entry by every entry."""
    joint: Floats = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    return joint


def _by_cells(model: Classifier, label: int, codes: Codes, groups: list[_Group], plain: list[int]) -> Floats:
    """Weigh all cells of the first half of the groups and of the second, with what is correct between the two."""
    sizes = [group.cells for group in groups]
    half = next((k for k in range(len(sizes)) if prod(sizes[:k]) ** 2 >= prod(sizes)), len(sizes))
    shape = prod(sizes[:half]), prod(sizes[half:])
    factors = np.zeros(len(codes))
    contexts, of_each = np.unique(codes[:, plain], axis=0, return_inverse=True)
    for number, context in enumerate(contexts):
        truths = _truths(codes.shape[1], groups)
        truths[:, plain] = context
        correct = (model.predict(truths) == truths[:, label]).astype(np.float64).reshape(shape)
        for rows in _slices(np.flatnonzero(of_each.reshape(-1) == number), max(1, _BLOCK // max(shape))):
            weights = [np.ones((len(rows), 1)), np.ones((len(rows), 1))]
            for place, group in enumerate(groups):
                weights[place >= half] = _outer(weights[place >= half], group.weigh(codes[rows]))
            factors[rows] = ((weights[0] @ correct) * weights[1]).sum(axis=1)
    return factors


def _truths(width: int, groups: list[_Group]) -> Codes:
    """Return every true record over the columns of the groups; the other columns are 0."""
    columns, sizes = [c for group in groups for c in group.columns], [s for group in groups for s in group.sizes]
    truths = np.zeros((prod(sizes), width), dtype=np.uint8)
    truths[:, columns] = np.indices(sizes, dtype=np.uint8).reshape(len(columns), prod(sizes)).T
    return truths


def _by_guesses(model: Classifier, label: int, codes: Codes, groups: list[_Group]) -> Floats:
    guesses = np.indices([len(group.weights) for group in groups]).reshape(len(groups), -1)
    joint = np.prod([group.weights[guess] for group, guess in zip(groups, guesses, strict=True)], axis=0)
    factors = np.zeros(len(codes))
    for rows in _slices(np.arange(len(codes)), max(1, _BLOCK // len(joint))):
        truths = np.repeat(codes[rows], len(joint), axis=0)
        for group, guess in zip(groups, guesses, strict=True):
            for column, meant in zip(group.columns, group.meant, strict=True):
                truths[:, column] = meant.argmax(axis=2)[np.tile(guess, len(rows)), truths[:, column]]
        right = model.predict(truths) == truths[:, label]
        factors[rows] = right.reshape(len(rows), -1) @ joint
    return factors


def _slices(rows: Index, step: int) -> Iterator[Index]:
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


class SurveyCounts(GuessingEstimator):
    """Unbiased estimates of `N(E)` from disguised records; equal records are merged first.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, schema: Schema, codes: Codes, design: Design) -> None:
        super().__init__(schema, codes, design.groups)
        self._design = design
        self._weights = [guess_weights(design, k) for k in range(len(design.groups))]
        self._meant = {column: guess_values(design, k, column) for column, k in self._group.items()}
        self._factor = {c: np.tensordot(self._weights[k], self._meant[c], axes=1) for c, k in self._group.items()}
        certain = {column for column, meant in self._meant.items() if leaves_one(meant)}
        self._value = {column: self._meant[column].argmax(axis=2) for column in certain}

    def _guess_of(self, rows: GuessedRows, column: int) -> Index | None:
        """Return the guess of a column's group in each row; None where it is plain or not guessed."""
        return rows.guess.get(self._group.get(column, -1))

    def _values(self, rows: GuessedRows, column: int) -> Index:
        """Return a column's values: as the guesses have it if they say one value, else as they were sent."""
        sent, guess = self._sent(rows, column), self._guess_of(rows, column)
        values: Index = sent if guess is None or column not in self._value else self._value[column][guess, sent]
        return values

    def _children(self, rows: GuessedRows, node: Expression, column: int) -> dict[int, GuessedRows]:
        group = self._group.get(column)
        if group is None:
            return {value: rows.where(places) for value, places in split_by_value(self._sent(rows, column)).items()}
        if len(self._columns[group]) == 1:
            factors = self._factor[column][self._sent(rows, column)]
            return {value: rows.weighed(factors[:, value]) for value in range(self._sizes[column])}
        rows = self._guessed(rows, column, self._weights[group])
        over = self._is_over(node, column)
        if column in self._value:
            values = self._values(rows, column)
            rest = rows.without(group) if over else rows
            return {value: rest.where(places) for value, places in split_by_value(values).items()}
        children = self._distributed(rows, column)
        return {value: _merged(child, group) for value, child in children.items()} if over else children

    def _distributed(self, rows: GuessedRows, column: int) -> dict[int, GuessedRows]:
        """Return the branches of a column of which a guess has a distribution."""
        chances = self._meant[column][rows.guess[self._group[column]], self._sent(rows, column)]
        possible = {value: chances[:, value] > 0 for value in range(self._sizes[column])}
        return {value: rows.where(own).weighed(chances[own, value]) for value, own in possible.items()}

    def _count(self, candidate: int, rows: GuessedRows, node: Index, nodes: int) -> Floats:
        """Tally rows apart by the guesses that have distributions, and undo what was sent of other groups."""
        columns = (candidate, self._schema.class_index)
        shape = (nodes, self._sizes[candidate], self._schema.classes)
        first, second = (self._values(rows, column) for column in columns)
        keys, weights = (node * shape[1] + first) * shape[2] + second, rows.weight * self._repeats[rows.record]
        counts = np.zeros(shape)
        for guesses, own in self._apart(rows, columns):
            table = np.bincount(keys[own], weights[own], prod(shape)).astype(np.float64).reshape(shape)
            for axis, (column, guess) in enumerate(zip(columns, guesses, strict=True), 1):
                table = table if guess is None else _along(table, self._meant[column][guess], axis)
            counts += table
        return self._undone(counts, columns, rows)

    def _apart(self, rows: GuessedRows, columns: Sequence[int]) -> Iterator[tuple[list[int | None], Index | slice]]:
        """Yield each combination of guesses that have distributions, and its rows."""
        guesses = [None if column in self._value else self._guess_of(rows, column) for column in columns]
        given = [guess for guess in guesses if guess is not None]
        if not given:
            yield [None] * len(columns), slice(None)
            return
        combinations, inverse = np.unique(np.stack(given), axis=1, return_inverse=True)
        for number, combination in enumerate(combinations.T.tolist()):
            rest = iter(combination)
            yield [None if guess is None else next(rest) for guess in guesses], np.flatnonzero(inverse == number)

    def _undone(self, counts: Floats, columns: Sequence[int], rows: GuessedRows) -> Floats:
        """Apply the guesses of groups that are not guessed to the finished tables."""
        hidden: dict[int, list[tuple[int, int]]] = {}
        for axis, column in enumerate(columns, 1):
            if column in self._group and self._guess_of(rows, column) is None:
                hidden.setdefault(self._group[column], []).append((axis, column))
        for group, axes in hidden.items():
            if len(axes) == 1:
                counts = _along(counts, self._factor[axes[0][1]], axes[0][0])
                continue
            total = np.zeros_like(counts)
            for guess, weight in enumerate(self._weights[group].tolist()):
                table = counts
                for axis, column in axes:
                    table = _along(table, self._meant[column][guess], axis)
                total += weight * table
            counts = total
        return counts

    def _factors(self, column: int) -> Floats:
        return self._factor.get(column, np.eye(self._sizes[column]))

    def _cells(self, rows: GuessedRows, candidate: int) -> tuple[GuessedRows, Index]:
        label = self._schema.class_index
        for column in (candidate, label):
            if column in self._group:
                rows = self._guessed(rows, column, self._weights[self._group[column]])
        rows, values, index = self._settled(rows, candidate)
        rows, classes, index = self._settled(rows, label)
        return rows, values[index] * self._schema.classes + classes

    def _settled(self, rows: GuessedRows, column: int) -> tuple[GuessedRows, Index, Index]:
        """Give every row one value of a column, each that it may have; return what each row came from too."""
        guess = self._guess_of(rows, column)
        if guess is None or column in self._value:
            return rows, self._values(rows, column), np.arange(len(rows), dtype=np.intp)
        chances = self._meant[column][guess, self._sent(rows, column)]
        index, values = np.nonzero(chances)
        return rows.where(index).weighed(chances[index, values]), values, index

    def _listed_factors(self, model: Classifier) -> Floats:
        return listed_factors(model, self._schema, self._codes, self._design)


def _along(tables: Floats, matrix: Floats, axis: int) -> Floats:
    """Replace what was sent by values along one axis: the matrix is `sent x values`."""
    return np.moveaxis(np.tensordot(tables, matrix, axes=(axis, 0)), -1, axis)


def _merged(rows: GuessedRows, group: int) -> GuessedRows:
    """Forget a group's guess, and add up the rows that differed in it alone."""
    rest = rows.without(group)
    keys = rest.record
    for guess in rest.guess.values():
        keys = (int(guess.max(initial=0)) + 1) * keys + guess
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    weight = np.bincount(inverse, weights=rest.weight, minlength=len(first)).astype(np.float64)
    merged = rest.where(first)
    return GuessedRows(merged.record, weight, merged.guess)
