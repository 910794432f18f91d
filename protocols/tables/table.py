"""A table: records as rows of codes. Its repr shows size, never content.

Expressions `E`: conjunctions of `attribute = value`, as paths from the root of a tree.

The order of the terms is that of the path, so the parent of a node is its expression without the last term.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.tables.schema import Attribute

Codes = NDArray[np.uint8]
Rows = NDArray[np.integer[Any]]
"""Codes of rows to be classified: one outside its attribute's domain, such as -1, stands for an unknown value."""
NO_ANSWER = 255
"""The code, outside every domain, of a survey question that was not answered."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Codes of `n` records by `k` attributes.

    Raises:
        InputError: The shape does not fit, or a code lies outside its attribute's domain.
    """

    attributes: tuple[Attribute, ...]
    codes: Codes

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] != len(self.attributes):
            raise InputError("a table's codes must be records by attributes")
        sizes = np.array([a.size for a in self.attributes])
        if (self.codes >= sizes).any():
            raise InputError("a table holds a code outside its attribute's domain")

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    def __repr__(self) -> str:
        return f"<Table {len(self)} x {len(self.attributes)}>"

    def rows(self, index: Sequence[int] | NDArray[np.intp]) -> "Table":
        """Return the table of these records, in this order."""
        return Table(self.attributes, self.codes[np.asarray(index, dtype=np.intp)])


Floats = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, order=True)
class Term:
    """`column = value`: an index into `Schema.columns` and a code."""

    column: int
    value: int


@dataclass(frozen=True)
class Expression:
    """A conjunction of terms on distinct columns; the empty one holds for every record."""

    terms: tuple[Term, ...] = ()

    def __and__(self, term: Term) -> "Expression":
        return Expression((*self.terms, term))

    def child(self, column: int, value: int) -> "Expression":
        """The expression of the branch `column = value` below."""
        return self & Term(column, value)

    @property
    def parent(self) -> "Expression":
        """The expression of the node above."""
        return Expression(self.terms[:-1])

    @property
    def columns(self) -> frozenset[int]:
        """Columns that the path has fixed."""
        return frozenset(term.column for term in self.terms)

    def restricted(self, columns: frozenset[int]) -> "Expression":
        """The part of the expression on these columns, in canonical order (`E_a` or `E_b`)."""
        return Expression(tuple(sorted(t for t in self.terms if t.column in columns)))

    def satisfied_by(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell for each row of joint codes whether it satisfies the expression."""
        result = np.ones(len(codes), dtype=np.bool_)
        for term in self.terms:
            result &= codes[:, term.column] == term.value
        return result


@dataclass(frozen=True)
class AnyOf:
    """What satisfies any of some expressions, each of which excludes the others."""

    expressions: tuple[Expression, ...]

    def satisfied_by(self, codes: Codes) -> NDArray[np.bool_]:
        """Tell for each row of joint codes whether it satisfies one of the expressions."""
        result = np.zeros(len(codes), dtype=np.bool_)
        for expression in self.expressions:
            result |= expression.satisfied_by(codes)
        return result


ROOT = Expression()
