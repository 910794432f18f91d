"""The expanded table: one idea for every engine (DESIGN 5.1).

A disguised record together with a guess of its coins is one candidate for the true record. Every record contributes
one row a guess; the true row is among them. Any count is then a sum of row weights over the rows that satisfy `E`,
and only the weights differ: numbers for estimates, ciphertexts for exact counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.multi_group import MultiGroupDesign, undo
from protocols.tables.expression import ROOT, Expression, Term
from protocols.tables.schema import Schema
from protocols.tables.table import Codes

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class ExpandedTable:
    """Candidate records over the joint columns; `record` and `pattern` say whose guess a row is."""

    codes: Codes
    record: Index
    pattern: Index

    def __len__(self) -> int:
        return len(self.codes)


def expand(codes: Codes, design: MultiGroupDesign, columns: Sequence[int]) -> ExpandedTable:
    """Expand joint records: rows in the order of records, then patterns.

    Args:
        codes: Joint codes, the viewer's own columns true and the peer's as they were sent.
        design: The peer's disguise.
        columns: Joint column of each column of the design.
    """
    selected = list(columns)
    guesses = design.pattern_coins()
    rows = np.repeat(codes[:, None, :], len(guesses), axis=1)
    for pattern, coins in enumerate(guesses):
        repeated = np.broadcast_to(coins, (len(codes), len(coins)))
        rows[:, pattern, selected] = undo(codes[:, selected], repeated, design)
    record = np.repeat(np.arange(len(codes), dtype=np.intp), len(guesses))
    pattern_index = np.tile(np.arange(len(guesses), dtype=np.intp), len(codes))
    return ExpandedTable(rows.reshape(-1, codes.shape[1]), record, pattern_index)


def merge_equal(codes: Codes) -> tuple[Codes, Index, NDArray[np.int64]]:
    """Return the distinct rows, for each row the index of its distinct one, and how often each occurs."""
    packed = np.ascontiguousarray(codes).view(np.dtype((np.void, codes.shape[1]))).ravel()
    _, first, inverse, repeats = np.unique(packed, return_index=True, return_inverse=True, return_counts=True)
    return codes[first], inverse.astype(np.intp), repeats.astype(np.int64)


class RowSets:
    """The rows of every open node, each split from its parent's without touching the others."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._rows: dict[Expression, Index] = {}

    def advance(self, expressions: Iterable[Expression]) -> None:
        """Move on to these nodes and forget all others."""
        self._rows = {expression: self.rows(expression) for expression in expressions}

    def rows(self, expression: Expression) -> Index:
        """Return the rows that satisfy the expression."""
        if expression == ROOT:
            return np.arange(len(self._codes), dtype=np.intp)
        if expression not in self._rows:
            self._split(expression.parent, expression.terms[-1].column)
        return self._rows.get(expression, np.zeros(0, dtype=np.intp))

    def _split(self, parent: Expression, column: int) -> None:
        rows = self.rows(parent)
        values = self._codes[rows, column]
        order = np.argsort(values, kind="stable")
        present, starts = np.unique(values[order], return_index=True)
        parts = np.split(rows[order], starts[1:])
        for value, part in zip(present.tolist(), parts, strict=False):
            self._rows[parent & Term(column, value)] = part


def cell_keys(codes: Codes, rows: Index, candidate: int, schema: Schema) -> Index:
    """Return for each row its cell in the candidate's `values x classes` matrix, row by row."""
    values = codes[rows, candidate].astype(np.intp)
    keys: Index = values * schema.classes + codes[rows, schema.class_index]
    return keys


def cell_count(candidate: int, schema: Schema) -> int:
    """Number of cells in the candidate's `values x classes` matrix."""
    return schema.attributes[candidate].size * schema.classes
