"""What every design of randomized response declares, from which everything else follows (DESIGN 4).

A design says which columns share a coin and, for every group, the chance of each response to each truth: its
*transition matrix*. Estimates, intervals, sample sizes, models and privacy measures need that declaration and nothing
more. There are two families: the related question (`RelatedDesign`: Warner, one group and several are its special
cases, and the crosswise question has the same matrix) and the unrelated question (`UnrelatedDesign`: the forced and the
triangular response have matrices of its form). `MixedDesign` gives every group a kind and a theta of its own. Columns
in no group are sent as they are (partial disguise); the class is a column like any other, disguised or plain.

The *candidates* of a record are the truths that could have made its response, as its receiver lists them (DESIGN 10):
the coin of a group leaves a short list. Under the related question these are the response moved by every offset:
records that differ by an offset have the same list, each at another place of it. Under the unrelated question any truth
could have been replaced by the personal answers; a most likely distribution has only truths that were sent, so the list
is that of the responses seen. In both, a response has one chance under itself and one under all others of its list:
`T[r][x] = plus [r = x] + other(r)`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.tables import Codes, Expression, Index


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """The lists of the responses of one group.

    Args:
        lists: The number of each record's list.
        places: Where on it the response itself stands.
        plus: By how much likelier a response is under itself than under any other of its list.
        other: The chance of the response at each place under any other truth of the list.
        codes: Returns what stands at these places of these lists, records by columns of the group.
    """

    lists: Index
    places: Index
    plus: Fraction
    other: tuple[Fraction, ...]
    codes: Callable[[Index, Index], Codes]

    @property
    def length(self) -> int:
        """How many candidates every list has."""
        return len(self.other)

    def __repr__(self) -> str:
        return f"<Candidates {len(self.lists)} records, {self.length} each>"


def numbered(columns: NDArray[np.integer[Any]]) -> tuple[Index, Index]:
    """Number the distinct rows; return the first row of every number, and the number of every row."""
    numbers = np.zeros(len(columns), dtype=np.intp)
    first = np.zeros(min(len(columns), 1), dtype=np.intp)
    for column in columns.T:
        _, first, numbers = np.unique(
            numbers * (int(column.max(initial=0)) + 1) + column, return_index=True, return_inverse=True
        )
    return first, numbers


MAX_DENOMINATOR = 10**9

Matrix = tuple[tuple[Fraction, ...], ...]
Moments = tuple[Fraction, Fraction]
"""`s1`, the expected square of a group's factor where the truth satisfies its part, and `s0`, the largest where not."""


class Kind(Enum):
    """What a group is asked.

    Related: the truth or a lie. Unrelated: the truth, or the answer to a personal question. Forced: the truth, or what
    the coin says. Crosswise: whether a statement and a harmless one of known prevalence are both true or both not, or
    one of them alone. Triangular: whether neither of the two is true.
    """

    RELATED = "related"
    UNRELATED = "unrelated"
    FORCED = "forced"
    CROSSWISE = "crosswise"
    TRIANGULAR = "triangular"


class Draw(Protocol):
    """Chance as an argument: integers uniform in `0 .. bound - 1`, one per record, independent; each purpose once."""

    def __call__(self, purpose: bytes, bound: int, /) -> NDArray[np.int64]:
        """Draw."""


@dataclass(frozen=True, eq=False, repr=False)
class Factors:
    """One factor per record: that of record `i` is `values[kinds[i]]`, an exact fraction."""

    kinds: NDArray[np.intp]
    values: tuple[Fraction, ...]


@dataclass(frozen=True)
class Design(ABC):
    """Which columns share a coin, in disjoint groups of their indices; columns in no group are sent as they are.

    `truth` is the chance that a group's coin lets the truth be sent.
    """

    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        columns = [column for group in self.groups for column in group]
        if len(set(columns)) != len(columns):
            raise InputError("a column is in two groups: name each once")
        if not all(0 <= column < len(self.sizes) for column in columns) or not all(self.groups):
            raise InputError(f"a group is empty or names an unknown column: columns are 0 to {len(self.sizes) - 1}")

    @abstractmethod
    def part(self, group: int) -> "OneKind":
        """Return the design of one kind that says how this group is asked."""

    @abstractmethod
    def truth(self, group: int) -> Fraction:
        """Chance that this group tells the truth."""

    @property
    @abstractmethod
    def draws(self) -> int:
        """How many draws `randomize` makes for every record: coins, and personal answers that are not given."""

    @abstractmethod
    def with_sizes(self, sizes: tuple[int, ...]) -> "Design":
        """Return the same design for columns of other domain sizes."""

    @property
    def plain(self) -> tuple[int, ...]:
        """Columns that are sent as they are."""
        return tuple(column for column in range(len(self.sizes)) if self.group_of(column) is None)

    def group_of(self, column: int) -> int | None:
        """Return the group of a column; None if it is plain."""
        return self._places.get(column)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {column: k for k, group in enumerate(self.groups) for column in group}

    def touched(self, expression: Expression) -> tuple[tuple[int, Expression], ...]:
        """Return the groups that an expression touches, each with the expression's part `e_k` on it."""
        parts = ((k, expression.restricted(frozenset(group))) for k, group in enumerate(self.groups))
        return tuple((k, part) for k, part in parts if part.terms)

    def answered(self, codes: Codes, columns: Iterable[int]) -> NDArray[np.bool_]:
        """Return which records have an answer in all of these columns."""
        given = np.ones(len(codes), dtype=np.bool_)
        for column in columns:
            given &= codes[:, column] < self.sizes[column]
        return given

    def check_fits(self, codes: Codes) -> None:
        """Refuse records that this design cannot have disguised."""
        if codes.ndim != 2 or codes.shape[1] != len(self.sizes):
            raise InputError(f"the design has {len(self.sizes)} columns, the table {codes.shape[-1]}")
        if (codes >= np.array(self.sizes)).any():
            raise InputError("the table holds a code outside the design's domains")

    @abstractmethod
    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the disguised records; `personal` answers are drawn if not given, plain columns of them not read."""

    @abstractmethod
    def transition(self, group: int, columns: Sequence[int]) -> Matrix:
        """Return the chance of each response (row) to each truth (column) over the cells of these columns of a group.

        Cells are in row-major order, the last of `columns` fastest; only the truth on these columns matters.
        """

    @abstractmethod
    def candidates(self, codes: Codes, group: int, columns: Sequence[int]) -> Candidates:
        """Return which truths could have made these responses on these columns of a group, all of them answered."""

    @abstractmethod
    def alone(self, column: int) -> "OneKind":
        """Return the design that asks this column as now, by a coin of its own, and no other column."""

    @abstractmethod
    def coin_chances(self, group: int) -> tuple[Fraction, ...]:
        """Return the chances of a group's coin, the truth first."""

    @abstractmethod
    def guess_weights(self, group: int) -> tuple[Fraction, ...]:
        """Return the weight of each guess of a group's coin, the truth first; they add up to 1 (DESIGN 5.1)."""

    @abstractmethod
    def disclosed_modulus(self, first: int, second: int) -> int:
        """Return the `m` for which every response shows how two columns of a group differ modulo `m`: 1 for none."""

    @abstractmethod
    def guess_values(self, group: int, column: int) -> tuple[Matrix, ...]:
        """Return what a response means under each guess of the group's coin: what was sent (row) by values (column).

        Entries are the chances of a column's true values: weighted by `guess_weights` over the guesses they are its
        factors.
        """

    @abstractmethod
    def declaration(self) -> dict[str, object]:
        """Return what decides how records are disguised, in a form fit for JSON."""

    @abstractmethod
    def factors(self, codes: Codes, part: Expression, group: int) -> Factors:
        """Return each response's factor, whose expectation is 1 if the true record satisfies `part`, else 0."""

    @abstractmethod
    def moments(self, group: int, part: Expression) -> Moments:
        """Return the expected square of the factor where the truth satisfies `part`, and the largest where not."""

    @abstractmethod
    def likelihood_ratio(self, group: int, columns: Sequence[int]) -> Fraction | None:
        """Return the largest ratio of the chances of one response under two truths on the columns; None if infinite."""


@dataclass(frozen=True)
class OneKind(Design):
    """A design whose groups are all asked in one way, with one theta: the chance of the truth."""

    kind: ClassVar[Kind]
    asks_personally: ClassVar[bool]
    """Whether a response rests on something that is true of the respondent, beside what is asked about."""

    theta: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1:
            raise InputError(f"must be between 0 and 1, not {self.theta}", field="theta")
        if self.theta.denominator > MAX_DENOMINATOR:
            raise InputError(f"must be a fraction with a denominator of at most {MAX_DENOMINATOR}", field="theta")
        super().__post_init__()

    def part(self, group: int) -> "OneKind":
        """Return the design itself."""
        del group
        return self

    def truth(self, group: int) -> Fraction:
        """Return theta."""
        del group
        return self.theta

    @property
    def draws(self) -> int:
        """One per group, and one that fixes the number of records."""
        return 1 + len(self.groups)

    def with_sizes(self, sizes: tuple[int, ...]) -> Self:
        """Return the same design for columns of other domain sizes."""
        return replace(self, sizes=sizes)

    def alone(self, column: int) -> "OneKind":
        """Return the design of this column with the same theta."""
        return replace(self, groups=((column,),))

    def declaration(self) -> dict[str, object]:
        """Return kind, theta, groups, and the personal chances, if there are any."""
        return {
            "kind": self.kind.value,
            "theta": str(self.theta),
            "groups": [list(group) for group in self.groups],
            "personal": [],
        }


def cells(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return all cells of these domains in row-major order."""
    return list(product(*(range(size) for size in sizes)))
