"""Tables of codes, the schema that two parties agree on, and the expressions that select records (DESIGN 3 and 5.3).

The repr of a table shows its size, never its content. An expression `E` is a conjunction of `attribute = value`, as a
path from the root of a tree. The order of the terms is that of the path, so the parent of a node is its expression
without the last term.

The agreed order of attributes is: the parties in the order of their names, each party's columns in file order. Ties
between equal gains go by it, so both sides decide alike.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomness import canonical

MAX_DOMAIN = 256


@dataclass(frozen=True)
class MissingCells:
    """What becomes of a column's missing cells: their value, if it may be revealed, and which texts mean one."""

    value: str | None = None
    marks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Attribute:
    """A column of one party and the list of its values, coded `0 .. size - 1`."""

    party: str
    name: str
    values: tuple[str, ...]
    missing: MissingCells = MissingCells()

    def __post_init__(self) -> None:
        if self.missing.value not in (None, *self.values):
            raise InputError(f"column {self.name!r} lacks the value of its missing cells")
        if not 1 <= len(self.values) <= MAX_DOMAIN:
            raise InputError(
                f"column {self.name!r}: bin it or set max_values: it has {len(self.values)} values, 1 to {MAX_DOMAIN} "
                "are possible"
            )
        if len(set(self.values)) != len(self.values):
            raise InputError(f"column {self.name!r} lists a value twice")

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def encoded(self) -> bytes:
        """All of it, in canonical form (FAULTS A8)."""
        told = canonical(*(text.encode() for text in (self.party, self.name, *self.values)))
        if self.missing == MissingCells():
            return told
        value, marks = self.missing.value, self.missing.marks
        absent = canonical(*([] if value is None else [value.encode()]))
        return canonical(told, absent, *([] if marks is None else [canonical(*(mark.encode() for mark in marks))]))


@dataclass(frozen=True)
class Schema:
    """The joint schema: attributes in the agreed order, the class, and who holds it: one party or two.

    `class_attribute.party` is the owner, or the first of both.
    """

    attributes: tuple[Attribute, ...]
    class_attribute: Attribute
    class_owners: tuple[str, ...]

    def __post_init__(self) -> None:
        keys = [(a.party, a.name) for a in self.attributes]
        if len(set(keys)) != len(keys):
            raise InputError("a column name occurs twice at one party")
        if not self.attributes:
            raise InputError("neither party brings an attribute to split on")

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """The attributes, then the class: the column order of every joint matrix of codes."""
        return (*self.attributes, self.class_attribute)

    @property
    def class_index(self) -> int:
        """Index of the class in `columns`."""
        return len(self.attributes)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return self.class_attribute.size

    def held_by(self, party: str) -> tuple[int, ...]:
        """Indices into `columns` of what this party holds, the class included if it does."""
        own = tuple(i for i, a in enumerate(self.attributes) if a.party == party)
        return (*own, self.class_index) if party in self.class_owners else own

    def sizes_of(self, party: str) -> list[int]:
        """Return how many values each attribute of a party has."""
        return [attribute.size for attribute in self.attributes if attribute.party == party]


def joint_schema(attributes: Iterable[Attribute], class_attribute: Attribute, class_owners: Sequence[str]) -> Schema:
    """Bring both parties' attributes, each party's in file order, into the agreed order."""
    ordered = tuple(sorted(attributes, key=lambda a: a.party))
    return Schema(ordered, class_attribute, tuple(sorted(class_owners)))


Codes = NDArray[np.uint8]
Rows = NDArray[np.integer[Any]]
"""Codes of rows to be classified: one outside its attribute's domain, such as -1, stands for an unknown value."""
NO_ANSWER = 255
"""The code, outside every domain, of a survey question that was not answered."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Codes of `n` records by `k` attributes."""

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
        """Return for each row of joint codes whether it satisfies the expression."""
        result = np.ones(len(codes), dtype=np.bool_)
        for term in self.terms:
            result &= codes[:, term.column] == term.value
        return result


@dataclass(frozen=True)
class AnyOf:
    """What satisfies any of some expressions, each of which excludes the others."""

    expressions: tuple[Expression, ...]

    def satisfied_by(self, codes: Codes) -> NDArray[np.bool_]:
        """Return for each row of joint codes whether it satisfies one of the expressions."""
        result = np.zeros(len(codes), dtype=np.bool_)
        for expression in self.expressions:
            result |= expression.satisfied_by(codes)
        return result


ROOT = Expression()
