"""The unrelated question (Surveys section 3; DESIGN 4.4): a group tells the truth or a *personal* record instead.

With chance theta a group sends its true values, otherwise those of an unrelated personal record `Y` whose distribution
the collector knows: `P*(E) = theta P(E) + (1 - theta) P(Y_E)` (Surveys equation 1). Several groups multiply, group by
group. It works at theta = 1/2, where the related question carries nothing, and at no theta does the collector learn
with certainty how two attributes of a record relate.

Deviation from the paper: `P(Y)` is known attribute by attribute, and personal attributes are independent of each other,
unless a group declares the *joint* distribution of its own; of the private ones they are independent. The paper's
experiments have every personal attribute uniform.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import lcm, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.design import (
    MAX_DENOMINATOR,
    Candidates,
    Draw,
    Factors,
    Kind,
    Matrix,
    Moments,
    OneKind,
    cells,
    numbered,
)
from protocols.tables import Codes, Expression


@dataclass(frozen=True)
class UnrelatedDesign(OneKind):
    """Which columns share a coin, its chance of the truth (not 0), and the distribution of the personal record.

    Args:
        personal: `P(Y = v)` for every value of every column; empty for plain columns.
        joint: For every group `P(Y = y)` for every cell of its columns, in row-major order; empty for a group whose
            personal answers are independent, and where all are.
    """

    kind: ClassVar[Kind] = Kind.UNRELATED
    asks_personally: ClassVar[bool] = True

    personal: tuple[tuple[Fraction, ...], ...]
    joint: tuple[tuple[Fraction, ...], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta == 0:
            raise InputError("theta = 0 makes every response a personal one, which carries nothing: choose another")
        if len(self.personal) != len(self.sizes):
            raise InputError("the personal record needs an entry for every column; an empty one for plain columns")
        for column, chances in enumerate(self.personal):
            self._check_chances(column, chances)
        if self.joint and len(self.joint) != len(self.groups):
            raise InputError("the joint chances need an entry for every group, an empty one for independent answers")
        for group, joint in zip(self.groups, self.joint, strict=False):
            if joint:
                self._check_joint(group, joint)

    def _check_joint(self, group: tuple[int, ...], joint: tuple[Fraction, ...]) -> None:
        sizes = [self.sizes[column] for column in group]
        if len(joint) != prod(sizes):
            raise InputError(f"the joint chances of columns {group} must be {prod(sizes)}, not {len(joint)}")
        if min(joint) < 0 or lcm(*(chance.denominator for chance in joint)) > MAX_DENOMINATOR:
            raise InputError(f"the joint chances of columns {group} are negative or too fine")
        if any(self.personal[column] != each for column, each in zip(group, marginals(joint, sizes), strict=True)):
            raise InputError(f"the joint chances of columns {group} contradict those of a column")

    def _check_chances(self, column: int, chances: tuple[Fraction, ...]) -> None:
        if self.group_of(column) is None:
            if chances:
                raise InputError(f"column {column} is sent as it is and has no personal question")
            return
        if len(chances) != self.sizes[column]:
            raise InputError(f"column {column} has {self.sizes[column]} values, its personal question {len(chances)}")
        if min(chances) < 0 or sum(chances) != 1:
            raise InputError(f"the personal chances of column {column} must be 0 or more and add up to 1")
        if lcm(*(chance.denominator for chance in chances)) > MAX_DENOMINATOR:
            raise InputError(f"the personal chances of column {column} need denominators of at most {MAX_DENOMINATOR}")

    def personal_chance(self, part: Expression) -> Fraction:
        """Return `P(Y_e)`."""
        return self._chance({term.column: term.value for term in part.terms})

    def joint_cells(self, column: int) -> list[tuple[dict[int, int], Fraction]]:
        """Return the possible personal answers of the column's group with their chances; empty where not declared."""
        group = self.group_of(column)
        if group is None or not self.joint or not self.joint[group]:
            return []
        columns = self.groups[group]
        every = zip(cells([self.sizes[each] for each in columns]), self.joint[group], strict=True)
        return [(dict(zip(columns, cell, strict=True)), chance) for cell, chance in every if chance]

    def _chance(self, answers: Mapping[int, int]) -> Fraction:
        """Return the chance of these personal answers, by their columns, all of them of one group."""
        joint = self.joint_cells(min(answers, default=-1))
        if joint:
            return sum((chance for cell, chance in joint if answers.items() <= cell.items()), Fraction(0))
        return prod((self.personal[column][value] for column, value in answers.items()), start=Fraction(1))

    def _chances(self, columns: Sequence[int]) -> Iterator[Fraction]:
        """Yield the chance of each cell of these columns of one group."""
        for cell in cells([self.sizes[column] for column in columns]):
            yield self._chance(dict(zip(columns, cell, strict=True)))

    def truths(self, draw: Draw) -> NDArray[np.bool_]:
        """Toss the coins of all records: whether a group tells the truth (`records x groups`)."""
        numerator, denominator = self.theta.numerator, self.theta.denominator
        truths = [np.zeros((len(draw(b"", 1)), 0), dtype=np.bool_)]  # an empty column that fixes the number of records
        truths += [(draw(_number(k), denominator) < numerator)[:, None] for k in range(len(self.groups))]
        return np.hstack(truths)

    def draw_personal(self, draw: Draw) -> Codes:
        """Draw personal records: for respondents who have no personal question at hand."""
        columns = [_drawn(draw, b"personal" + _number(column), chances) for column, chances in enumerate(self.personal)]
        for k, (group, joint) in enumerate(zip(self.groups, self.joint, strict=False)):
            if joint:
                sizes = [self.sizes[column] for column in group]
                drawn = np.unravel_index(_drawn(draw, b"joint" + _number(k), joint), sizes)
                for column, values in zip(group, drawn, strict=True):
                    columns[column] = values
        return np.stack(columns, axis=1).astype(np.uint8)

    def answer(self, codes: Codes, personal: Codes, truths: NDArray[np.bool_]) -> Codes:
        """Return the responses: where `truths` (`records x groups`) holds, the true values, else the personal ones.

        No answer stays no answer.
        """
        result = codes.copy()
        for k, group in enumerate(self.groups):
            for column in group:
                as_is = truths[:, k] | (codes[:, column] >= self.sizes[column])
                result[:, column] = np.where(as_is, codes[:, column], personal[:, column])
        return result

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; personal records are drawn too where none are given."""
        return self.answer(codes, self.draw_personal(draw) if personal is None else personal, self.truths(draw))

    def transition(self, group: int, columns: Sequence[int]) -> Matrix:
        """Return `theta [r = x] + (1 - theta) P(Y = r)`."""
        del group
        chances = list(self._chances(columns))
        lie = 1 - self.theta
        return tuple(
            tuple(self.theta * (row == truth) + lie * chance for truth in range(len(chances)))
            for row, chance in enumerate(chances)
        )

    def candidates(self, codes: Codes, group: int, columns: Sequence[int]) -> Candidates:
        """Return one list: the responses that were seen."""
        del group
        seen = codes[:, list(columns)]
        first, places = numbered(seen)
        base, lie = seen[first], 1 - self.theta
        other = tuple(lie * self._chance(dict(zip(columns, cell, strict=True))) for cell in base.tolist())
        return Candidates(np.zeros(len(codes), dtype=np.intp), places, self.theta, other, lambda _, where: base[where])

    def alone(self, column: int) -> OneKind:
        """Return the design of this column with the same theta and personal chances."""
        own = tuple(chances if k == column else () for k, chances in enumerate(self.personal))
        return replace(self, groups=((column,),), personal=own, joint=())

    def coin_chances(self, group: int) -> tuple[Fraction, ...]:
        """Return `theta` and `1 - theta`: whether the group tells the truth."""
        return self.truth(group), 1 - self.truth(group)

    def guess_weights(self, group: int) -> tuple[Fraction, ...]:
        """Return `1/theta` for a response taken at its word, `-(1 - theta)/theta` for one that is taken as personal.

        Where a joint distribution is declared the latter is shared out to the personal answers that a group may have.
        """
        joint = self.joint_cells(self.groups[group][0])
        personal = (self.theta - 1) / self.theta
        return 1 / self.theta, *(personal * chance for chance in [chance for _, chance in joint] or [Fraction(1)])

    def guess_values(self, group: int, column: int) -> tuple[Matrix, ...]:
        """Return what was sent for a response taken at its word, the personal chances for one that is personal."""
        del group
        size = self.sizes[column]
        own = tuple(tuple(Fraction(value == sent) for value in range(size)) for sent in range(size))
        joint = [own[cell[column]] for cell, _ in self.joint_cells(column)]
        return own, *((chances,) * size for chances in joint or [self.personal[column]])

    @property
    def draws(self) -> int:
        """One per column more, for the personal answers, and one per joint distribution."""
        return super().draws + len(self.sizes) + sum(map(bool, self.joint))

    def disclosed_modulus(self, first: int, second: int) -> int:
        """Return 1: with theta below 1 any two truths can give the response of one personal record."""
        del first, second
        return 1

    def declaration(self) -> dict[str, object]:
        """Return the chances of the personal record too, column by column, then any joint ones, group by group."""
        return {**super().declaration(), "personal": [list(map(str, each)) for each in (*self.personal, *self.joint)]}

    def factors(self, codes: Codes, part: Expression, group: int) -> Factors:
        """Return `([x* satisfies e] - (1 - theta) P(Y_e)) / theta`."""
        del group
        lie = (1 - self.theta) * self.personal_chance(part)
        return Factors(part.satisfied_by(codes).astype(np.intp), (-lie / self.theta, (1 - lie) / self.theta))

    def moments(self, group: int, part: Expression) -> Moments:
        """With `a = (1 - theta) P(Y_e)`: `((theta + a)(1 - a)^2 + (1 - theta - a) a^2)/theta^2`, `a(1 - a)/theta^2`.

        The latter is 0 where every column has one value: no truth fails the part.
        """
        del group
        lie = (1 - self.theta) * self.personal_chance(part)
        satisfied = (self.theta + lie) * (1 - lie) ** 2 + (1 - self.theta - lie) * lie**2
        constant = all(self.sizes[term.column] == 1 for term in part.terms)
        return satisfied / self.theta**2, Fraction(0) if constant else lie * (1 - lie) / self.theta**2

    def likelihood_ratio(self, group: int, columns: Sequence[int]) -> Fraction | None:
        """Return `(theta + (1 - theta) p)/((1 - theta) p)`, `p` the smallest chance of a personal cell."""
        del group
        if all(self.sizes[column] == 1 for column in columns):
            return Fraction(1)
        declared = self.joint_cells(columns[0])
        least = min(self._chances(columns)) if declared else prod(min(self.personal[column]) for column in columns)
        lie = (1 - self.theta) * least
        return (self.theta + lie) / lie if lie else None


def marginals(joint: Sequence[Fraction], sizes: Sequence[int]) -> list[tuple[Fraction, ...]]:
    """Return the chances of each column's values by those of all cells, which are in row-major order."""
    every = list(zip(cells(sizes), joint, strict=True))
    return [
        tuple(sum((chance for cell, chance in every if cell[place] == value), Fraction(0)) for value in range(size))
        for place, size in enumerate(sizes)
    ]


def _drawn(draw: Draw, purpose: bytes, chances: Sequence[Fraction]) -> NDArray[np.intp]:
    """Draw a place by its chance for every record; 0 where there are none."""
    scale = lcm(*(chance.denominator for chance in chances))
    steps = np.array([int(total * scale) for total in accumulate(chances)], dtype=np.int64)
    return np.searchsorted(steps, draw(purpose, scale), side="right")


def _number(place: int) -> bytes:
    return place.to_bytes(4, "big")
