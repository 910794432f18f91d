"""One attribute as its receiver sees it: what was believed before, and the chance of each response to each truth.

All measures of one attribute (DESIGN 10) follow from these two, by Bayes' rule, in exact fractions. The receiver knows
the design; *prior* is what else is known of the attribute: its distribution, or anyone's belief.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational

from protocols.errors import InputError
from protocols.randomized_response.design import Design, Matrix

Prior = Sequence[Fraction]
MatrixRow = tuple[Fraction, ...]


@dataclass(frozen=True)
class Entry:
    """A prior over the values of one attribute, and the declared chance of each response (row) to each truth (column).

    Raises:
        InputError: The prior is not a distribution, or the matrix does not hold one distribution per truth.
    """

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
    """Return one column as the receiver of this design sees it.

    Args:
        design: How the records are disguised; plain columns are sent as they are.
        column: Index of the column.
        prior: Chance of each value before the response; all equally likely if not given.

    Raises:
        InputError: There is no such column, or the prior is not a distribution over its values.
    """
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
    """Refuse a column that the design does not have.

    Raises:
        InputError: There is none with this index.
    """
    if not 0 <= column < len(design.sizes):
        raise InputError(f"there is no column {column}: the design has columns 0 to {len(design.sizes) - 1}")


def check_group(design: Design, group: int) -> None:
    """Refuse a group that the design does not have.

    Raises:
        InputError: There is none with this index.
    """
    if not 0 <= group < len(design.groups):
        raise InputError(f"there is no group {group}: the design has {len(design.groups)}, counted from 0")


def check_chances(chances: Iterable[Fraction], what: str) -> None:
    """Refuse anything but exact chances.

    Raises:
        InputError: One is a float, or lies outside `0 .. 1`.
    """
    if not all(isinstance(chance, Rational) and 0 <= chance <= 1 for chance in chances):
        raise InputError(f"{what} must hold exact fractions between 0 and 1")


def check_distribution(chances: Sequence[Fraction], what: str) -> None:
    """Refuse chances that do not add up to 1.

    Raises:
        InputError: Their sum is not exactly 1, or one of them is not a chance.
    """
    check_chances(chances, what)
    if sum(chances) != 1:
        raise InputError(f"{what} must add up to 1 exactly, not {sum(chances)}")
