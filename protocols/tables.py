"""Tables of codes, the schema that two parties agree on, and the expressions that select records (DESIGN 3 and 5.3).

Of two-way splits a second schema follows from the agreed one, of conditions such as `age <= 30` and `job = clerk`, as
attributes of the values yes and no. What learns over it uses columns as CART does, and again below.

The repr of a table shows its size, never its content. An expression `E` is a conjunction of `attribute = value`, as a
path from the root of a tree. The order of the terms is that of the path, so the parent of a node is its expression
without the last term.

The agreed order of attributes is: the parties in the order of their names, each party's columns in file order. Ties
between equal gains go by it, so both sides decide alike.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomness import canonical

MAX_DOMAIN = 256
YES_OR_NO = ("yes", "no")


@dataclass(frozen=True)
class MissingCells:
    """What becomes of a column's missing cells: their value, if it may be revealed, and which texts mean one."""

    value: str | None = None
    marks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Attribute:
    """A column of one party and the list of its values, coded `0 .. size - 1`.

    The first `ordered` values rise, as bins and dates do; the others stand outside of the order.
    """

    party: str
    name: str
    values: tuple[str, ...]
    missing: MissingCells = MissingCells()
    ordered: int = 0

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
        if self.ordered and not 2 <= self.ordered <= len(self.values):
            raise InputError(f"column {self.name!r} must have 2 to {len(self.values)} values in order")

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def encoded(self) -> bytes:
        """All of it, in canonical form (FAULTS A8)."""
        texts = canonical(*(text.encode() for text in (self.party, self.name, *self.values)))
        if self.missing == MissingCells() and not self.ordered:
            return texts
        value, marks = self.missing.value, self.missing.marks
        absent = canonical(*([] if value is None else [value.encode()]))
        marked = [] if marks is None else [canonical(*(mark.encode() for mark in marks))]
        if self.ordered:
            return canonical(texts, absent, canonical(*marked), str(self.ordered).encode())
        return canonical(texts, absent, *marked)

    @property
    def conditions(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the two-way splits of the column: what each is called, and the codes of which it is true.

        Of values in order one below each but the last; of others one per value, of only two values the first alone.

        >>> [name for name, _ in Attribute("a", "age", ("<= 30", "(30, 50]", "> 50", "missing"), ordered=3).conditions]
        ['age <= 30', 'age <= 50', 'age = missing']
        """
        for code in range(self.ordered - 1):
            yield f"{self.name} {_up_to(self.values[code])}", tuple(range(code + 1))
        for code in range(self.ordered, self.size if self.size > 2 else self.size - 1):
            yield f"{self.name} = {self.values[code]}", (code,)


def _up_to(value: str) -> str:
    """Return the upper end of a value in order: of a bin its edge.

    >>> _up_to("<= 30"), _up_to("(30, 50]"), _up_to("low")
    ('<= 30', '<= 50', '<= low')
    """
    if value.startswith("(") and value.endswith("]") and ", " in value:
        return f"<= {value[value.rindex(', ') + 2 : -1]}"
    return value if value.startswith("<= ") else f"<= {value}"


@dataclass(frozen=True)
class Condition:
    """What is asked of a column: an index into `Schema.attributes`, and of which of its codes it is true."""

    column: int
    codes: tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """The joint schema: attributes in the agreed order, the class, and who holds it: one party or two.

    `class_attribute.party` is the owner, or the first of both. Where attributes are conditions on those of another
    schema, that is `derived_from`.
    """

    attributes: tuple[Attribute, ...]
    class_attribute: Attribute
    class_owners: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    derived_from: "Schema | None" = None

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

    @property
    def base(self) -> "Schema":
        """The schema of the columns that parties bring and files have: this one, or what its conditions are about."""
        return self.derived_from or self

    def base_columns(self, attributes: Iterable[int]) -> frozenset[int]:
        """Return the columns, as indices into those of `base`, that these attributes are about."""
        return frozenset(self.conditions[each].column if self.conditions else each for each in attributes)

    def recode(self, codes: "CodesOfRows") -> "CodesOfRows":
        """Return codes by the columns of `base`, with the class or without it, by the columns of this schema."""
        if not self.conditions:
            return codes
        width = codes.shape[1] - len(self.base.attributes) + len(self.conditions)
        result = np.empty_like(codes, shape=(len(codes), width))
        result[:, len(self.conditions) :] = codes[:, len(self.base.attributes) :]
        for place, condition in enumerate(self.conditions):
            column = codes[:, condition.column]
            result[:, place] = np.where(column < 0, NO_ANSWER, self.values_by_code(condition)[column])
        return result

    def implies(self, expression: "Expression", term: "Term") -> bool:
        """Return whether a term holds wherever an expression does: also by other conditions on the same column."""
        if not self.conditions or term.column == self.class_index:
            return term in expression.terms
        column, holding = self._codes_of(term)
        left = set(range(self.base.attributes[column].size))
        for each, codes in map(self._codes_of, expression.terms):
            left &= codes if each == column else left
        return left <= holding

    def decides(self, expression: "Expression", column: int) -> bool:
        """Return whether conditions on the path to a node leave another condition one answer."""
        return bool(self.conditions) and any(self.implies(expression, Term(column, value)) for value in (0, 1))

    def _codes_of(self, term: "Term") -> tuple[int, set[int]]:
        """Return the column that a condition is about, and the codes of which it is so or, by the term, not so."""
        condition = self.conditions[term.column]
        codes, every = set(condition.codes), range(self.base.attributes[condition.column].size)
        return condition.column, codes if term.value == 0 else {*every} - codes

    def values_by_code(self, condition: Condition) -> NDArray[np.uint8]:
        """Return the value that each code of a condition's column has, `NO_ANSWER` beyond its domain."""
        values = np.full(MAX_DOMAIN, NO_ANSWER, np.uint8)
        values[: self.base.attributes[condition.column].size] = 1
        values[list(condition.codes)] = 0
        return values


def two_way(schema: Schema) -> Schema:
    """Return the schema of all conditions on a schema's attributes."""
    attributes, conditions = [], []
    for column, attribute in enumerate(schema.attributes):
        for name, codes in attribute.conditions:
            attributes.append(Attribute(attribute.party, name, YES_OR_NO))
            conditions.append(Condition(column, codes))
    return Schema(tuple(attributes), schema.class_attribute, schema.class_owners, tuple(conditions), schema)


def joint_schema(attributes: Iterable[Attribute], class_attribute: Attribute, class_owners: Sequence[str]) -> Schema:
    """Bring both parties' attributes, each party's in file order, into the agreed order."""
    ordered = tuple(sorted(attributes, key=lambda a: a.party))
    return Schema(ordered, class_attribute, tuple(sorted(class_owners)))


Codes = NDArray[np.uint8]
Rows = NDArray[np.integer[Any]]
"""Codes of rows to be classified: one outside its attribute's domain, such as -1, stands for an unknown value."""
CodesOfRows = TypeVar("CodesOfRows", bound=Rows)
NO_ANSWER = 255
"""The code of a survey question that was not answered; surveys allow 255 values, to keep it free."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Codes of records by attributes."""

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
    """A disjunction of expressions, each of which excludes the others."""

    expressions: tuple[Expression, ...]

    def satisfied_by(self, codes: Codes) -> NDArray[np.bool_]:
        """Return for each row of joint codes whether it satisfies one of the expressions."""
        result = np.zeros(len(codes), dtype=np.bool_)
        for expression in self.expressions:
            result |= expression.satisfied_by(codes)
        return result


ROOT = Expression()
