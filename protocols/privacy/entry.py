"""What a response shows of one attribute: what its receiver believes before and after, breaches and secret bits.

All measures of one attribute (DESIGN 10) follow from what was believed before, the *prior*, and from the chance of each
response to each truth, by Bayes' rule, in exact fractions. A *breach of level b* is a value that some response makes
true with chance b or more (Review section 4, there of an item in a transaction), beliefs that were strong before
included. Values are taken one by one, not in sets.

The secret bits left are the entropy of a record's coins, and of an attribute once its response is known. Under the
related question a response and its coin give the truth away, so the coins' entropy is *the most* that a record keeps
secret, however many attributes it has. Under the unrelated question a group that did not tell the truth keeps all of it
secret.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum, log2
from numbers import Rational

from protocols.errors import InputError
from protocols.randomized_response.design import Design, Matrix

Prior = Sequence[Fraction]
MatrixRow = tuple[Fraction, ...]


@dataclass(frozen=True)
class Entry:
    """A prior over values of one attribute, and the declared chance of each response (row) to each truth (column)."""

    prior: MatrixRow
    matrix: Matrix

    def __post_init__(self) -> None:
        check_distribution(self.prior, "a prior")
        if any(len(row) != len(self.prior) for row in self.matrix):
            raise InputError(f"a prior of {len(self.prior)} values needs as many chances in every row of the matrix")
        for truth in range(len(self.prior)):
            check_distribution([row[truth] for row in self.matrix], f"column {truth} of a transition matrix")

    @cached_property
    def joint(self) -> Matrix:
        """`P(x, r)`: response by truth."""
        return tuple(
            tuple(before * chance for before, chance in zip(self.prior, row, strict=True)) for row in self.matrix
        )

    @cached_property
    def responses(self) -> MatrixRow:
        """`P(r)` of every response."""
        return tuple(sum(row, Fraction(0)) for row in self.joint)

    @cached_property
    def posteriors(self) -> tuple[MatrixRow | None, ...]:
        """`P(x | r)` for every response; None for a response that is never given."""
        return tuple(
            tuple(share / total for share in row) if total else None
            for row, total in zip(self.joint, self.responses, strict=True)
        )


def entry_of(design: Design, column: int, prior: Prior | None = None) -> Entry:
    """Return one column as the receiver sees it; without a prior all values are equally likely before."""
    check_column(design, column)
    size = design.sizes[column]
    before = (Fraction(1, size),) * size if prior is None else tuple(prior)
    if len(before) != size:
        raise InputError(f"a prior needs a chance for each of the {size} values of column {column}, not {len(before)}")
    return Entry(before, column_transition(design, column))


def column_transition(design: Design, column: int) -> Matrix:
    """Return the transition matrix of one column, the identity if it is plain."""
    group = design.group_of(column)
    if group is not None:
        return design.transition(group, (column,))
    size = design.sizes[column]
    return tuple(tuple(Fraction(response == truth) for truth in range(size)) for response in range(size))


def check_column(design: Design, column: int) -> None:
    """Refuse a column that the design does not have."""
    if not 0 <= column < len(design.sizes):
        raise InputError(f"there is no column {column}: the design has columns 0 to {len(design.sizes) - 1}")


def check_group(design: Design, group: int) -> None:
    """Refuse a group that the design does not have."""
    if not 0 <= group < len(design.groups):
        raise InputError(f"there is no group {group}: the design has {len(design.groups)}, counted from 0")


def check_chances(chances: Iterable[Fraction], what: str) -> None:
    """Refuse anything but exact chances."""
    if not all(isinstance(chance, Rational) and 0 <= chance <= 1 for chance in chances):
        raise InputError(f"{what} must hold exact fractions between 0 and 1")


def check_distribution(chances: Sequence[Fraction], what: str) -> None:
    """Refuse chances that do not add up to 1."""
    check_chances(chances, what)
    if sum(chances) != 1:
        raise InputError(f"{what} must add up to 1 exactly, not {sum(chances)}")


@dataclass(frozen=True)
class Breach:
    """The largest posterior, and every (response, value) that reaches it."""

    level: Fraction
    where: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rise:
    """The largest rise of a belief: a value, the response that raises it, and the chances before and after."""

    response: int
    value: int
    before: Fraction
    after: Fraction


def breach(entry: Entry) -> Breach:
    """Return the breach level of an attribute: the largest chance that any response gives any value."""
    chances = _chances(entry)
    level = max(chances.values())
    return Breach(level, tuple(place for place, chance in chances.items() if chance == level))


def largest_rise(entry: Entry) -> Rise:
    """Return the value that some response raises most, `P(x | r) - P(x)`; ties go to the first."""
    chances = _chances(entry)
    response, value = max(chances, key=lambda place: chances[place] - entry.prior[place[1]])
    return Rise(response, value, entry.prior[value], chances[response, value])


def repeated(entry: Entry, times: int) -> Entry:
    """Return what the receiver has if the *same* response came `times` times, each with fresh coins (DESIGN 4.6).

    The first rows are "response r every time"; the last is everything else.
    """
    if times < 1:
        raise InputError("a response is given once or more")
    rows = tuple(tuple(chance**times for chance in row) for row in entry.matrix)
    rest = tuple(1 - sum(column) for column in zip(*rows, strict=True))
    return Entry(entry.prior, (*rows, rest))


def repeated_level(entry: Entry, times: int) -> Fraction:
    """Return the largest chance that the same response, `times` times with fresh coins, gives a value."""
    every = repeated(entry, times).posteriors[: len(entry.matrix)]
    return max(max(posterior) for posterior in every if posterior is not None)


def _chances(entry: Entry) -> dict[tuple[int, int], Fraction]:
    """Return the posterior of every (response, value), responses that are never given left out."""
    return {
        (response, value): chance
        for response, posterior in enumerate(entry.posteriors)
        if posterior is not None
        for value, chance in enumerate(posterior)
    }


def entropy_bits(chances: Iterable[Fraction]) -> float:
    """Return `sum p log2(1/p)` in bits, with `0 log 0 = 0`.

    >>> entropy_bits([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)])
    1.5
    """
    return fsum(float(p) * (log2(p.denominator) - log2(p.numerator)) for p in chances if p)


def group_coin_entropy(design: Design, group: int) -> float:
    """Return the bits of one group's coin."""
    check_group(design, group)
    return entropy_bits(design.coin_chances(group))


def record_coin_entropy(design: Design) -> float:
    """Return the bits of all coins of a record: the sum over groups, each of which tosses its own."""
    return fsum(group_coin_entropy(design, group) for group in range(len(design.groups)))


def entropy_before(entry: Entry) -> float:
    """Return `H(X)`: what the receiver does not know of an attribute before the response."""
    return entropy_bits(entry.prior)


def entropy_left(entry: Entry) -> float:
    """Return `H(X | response)`: what the receiver does not know of an attribute, on average, given the response."""
    return fsum(
        float(chance) * entropy_bits(posterior)
        for chance, posterior in zip(entry.responses, entry.posteriors, strict=True)
        if posterior is not None
    )
