"""Margins of a design: small sets of events whose declared chances a sampler's responses are held against.

For one true record, counted over many responses to it:

* every column, cell by cell: a plain one must stay as it is;
* every two columns of a group, cell by cell; in a wide group, each with the first, and some further pairs: they share
  one coin, and personal answers are as the design says;
* a whole group of three or more columns, cell by cell, where it has few cells;
* one column each of every two groups, by whether each tells the truth: groups toss their own coins;
* one column per group in two consecutive records, by whether each tells the truth: records toss their own coins too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from protocols.privacy.entry import column_transition
from protocols.randomized_response.design import Design, Matrix, cells
from protocols.tables.table import Codes

MAX_MARGIN_CELLS = 256
MAX_PAIRS = 300  # per group; more take minutes

Record = tuple[int, ...]


@dataclass(frozen=True)
class Margin:
    """Events that exclude each other and exhaust the responses to one truth, each with its declared chance.

    Args:
        columns: The columns that are looked at.
        truth: The true codes on these columns.
        sizes: Domain size of each; 2 where it matters only whether the truth was told (1) or not (0).
        chances: Of every cell of `sizes` in row-major order.
        told: Look at whether each column tells the truth, not at its code.
        serial: Look at the last column in the next record; two records are one trial.
    """

    columns: tuple[int, ...]
    truth: Record
    sizes: tuple[int, ...]
    chances: tuple[Fraction, ...]
    told: bool = False
    serial: bool = False

    def observed(self, responses: Codes) -> NDArray[np.int64]:
        """Count the responses in every cell."""
        seen = responses[:, list(self.columns)].astype(np.int64)
        if self.told:
            seen = (seen == np.array(self.truth)).astype(np.int64)
        if self.serial:
            whole = len(seen) - len(seen) % 2
            seen = np.column_stack([seen[0:whole:2, 0], seen[1:whole:2, 1]])
        index = np.zeros(len(seen), dtype=np.int64)
        for position, size in enumerate(self.sizes):
            index = index * size + seen[:, position]
        counts: NDArray[np.int64] = np.bincount(index, minlength=len(self.chances))
        return counts


def margins(design: Design, records: Sequence[Record]) -> Iterator[Margin]:
    """Yield every margin of these true records."""
    for column in range(len(design.sizes)):
        yield from _cells(design, (column,), column_transition(design, column), records)
    for k, group in enumerate(design.groups):
        for columns in joint_columns(design, group):
            yield from _cells(design, columns, design.transition(k, columns), records)
    shown = [max(group, key=lambda column: design.sizes[column]) for group in design.groups]
    for first, second in [*combinations(shown, 2), *((column, column) for column in shown)]:
        for truth in _truths((first, second), records):
            yield _told_margin(design, first, second, truth)


def joint_columns(design: Design, group: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the sets of columns of a group whose joint responses are counted: pairs, and the whole if it is small."""
    sets = [*_pairs(group), *([tuple(group)] if len(group) > 2 else [])]
    return [columns for columns in sets if prod(design.sizes[column] for column in columns) <= MAX_MARGIN_CELLS]


def _pairs(group: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of a group that are looked at, those with its first column first: each shows a shared coin."""
    return list(combinations(group, 2))[: max(MAX_PAIRS, len(group) - 1)]


def untested_pairs(design: Design) -> tuple[tuple[int, ...], ...]:
    """Return the pairs of columns of one group that are not counted: too many pairs, or too many joint cells."""
    every = [pair for group in design.groups for pair in combinations(group, 2)]
    counted = {pair for group in design.groups for pair in joint_columns(design, group)}
    return tuple(pair for pair in every if pair not in counted)


def _cells(design: Design, columns: tuple[int, ...], matrix: Matrix, records: Sequence[Record]) -> Iterator[Margin]:
    sizes = tuple(design.sizes[column] for column in columns)
    for truth in _truths(columns, records):
        position = cells(sizes).index(truth)
        yield Margin(columns, truth, sizes, tuple(row[position] for row in matrix))


def _told_margin(design: Design, first: int, second: int, truth: Record) -> Margin:
    one, other = told_chance(design, first, truth[0]), told_chance(design, second, truth[1])
    chances = ((1 - one) * (1 - other), (1 - one) * other, one * (1 - other), one * other)
    serial = first == second
    return Margin((first, second), truth, (2, 2), chances, told=True, serial=serial)


def told_chance(design: Design, column: int, code: int) -> Fraction:
    """Return the chance that the response on a column is the truth."""
    return column_transition(design, column)[code][code]


def _truths(columns: Sequence[int], records: Sequence[Record]) -> list[Record]:
    return sorted({tuple(record[column] for column in columns) for record in records})
