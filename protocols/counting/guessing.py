"""Guesses at what a response truly is: their weights, what it means under each, and models tested by listing them.

All that is used of a design are the weights of the guesses of each group's coin, and what a response means under each:
one value where a coin moves values, a distribution where the response may be personal.

A model without leaves is tested on disguised records by listing what the records may truly be (DESIGN 8). There are two
ways, and the cheaper one is taken. *By cells*: every true record over the columns that the model reads is classified
once for all responses; a response has a weight for each, a product over groups, so that the sum over all is a product
of matrices. *By guesses*: every guess of the coins of each response is classified, where a guess leaves one value;
these are few for a group of many columns. Either number multiplies over the groups that the model reads, and has a
limit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Classifier
from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.tables import Codes, Floats, Index, Schema

MAX_PATTERNS = 1 << 20
MAX_LISTED = 1 << 26
"""Of what has to be listed to test a model without leaves: at once, and of all records together."""
MAX_PRODUCTS = 1 << 36
"""Multiplications of weights by cells, of all records together: some ten seconds."""
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class GuessedRows:
    """Guesses at a node: the distinct record, the weight, and the guess of each group that still matters."""

    record: Index
    weight: Floats
    guess: Mapping[int, Index]

    def __len__(self) -> int:
        return len(self.record)

    def where(self, index: Index | NDArray[np.bool_]) -> "GuessedRows":
        """Return these rows alone."""
        return GuessedRows(self.record[index], self.weight[index], {k: guess[index] for k, guess in self.guess.items()})

    def weighed(self, factors: Floats) -> "GuessedRows":
        """Return the rows with these factors to their weights."""
        return GuessedRows(self.record, self.weight * factors, self.guess)

    def without(self, group: int) -> "GuessedRows":
        """Return the rows with a group's guess forgotten; rows that are alike otherwise stay apart."""
        return GuessedRows(self.record, self.weight, {k: guess for k, guess in self.guess.items() if k != group})


NOTHING = GuessedRows(np.zeros(0, dtype=np.intp), np.zeros(0), {})


def guess_weights(design: Design, group: int) -> Floats:
    """Return the weights of the guesses of a group's coin as floats."""
    return np.array([float(weight) for weight in design.guess_weights(group)])


def guess_values(design: Design, group: int, column: int) -> Floats:
    """Return what a response means under each guess of a group's coin, as floats: `guesses x sent x values`."""
    return np.array(design.guess_values(group, column), dtype=np.float64)


def leaves_one(meant: Floats) -> bool:
    """Return whether every guess leaves one value of what was sent."""
    return bool((meant.max(axis=2) == 1).all())


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
