"""The unrelated question (Surveys section 3; DESIGN 4.4): a group tells the truth or a *personal* record instead.

With chance theta a group sends its true values, otherwise those of an unrelated personal record `Y` whose distribution
the collector knows: `P*(E) = theta P(E) + (1 - theta) P(Y_E)` (Surveys equation 1). Several groups multiply, group by
group. It works at theta = 1/2, where the related question carries nothing, and at no theta does the collector learn
with certainty how two attributes of a record relate.

Deviation from the paper: `P(Y)` is known attribute by attribute, and personal attributes are independent of each other
and of the private ones; the paper's experiments have every personal attribute uniform.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import lcm, prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.candidates import Candidates, numbered
from protocols.randomized_response.design import MAX_DENOMINATOR, Draw, Factors, Kind, Matrix, Moments, OneKind, cells
from protocols.tables.expression import Expression
from protocols.tables.table import Codes


@dataclass(frozen=True)
class UnrelatedDesign(OneKind):
    """Which columns share a coin, its chance, and the distribution of the personal record.

    Args:
        sizes: Domain size of every column.
        groups: Disjoint groups of column indices; columns in no group are sent as they are.
        theta: Chance of the truth; not 0, where a response carries nothing.
        personal: `P(Y = v)` for every value of every column; empty for plain columns.

    Raises:
        InputError: As for any design; or theta is 0, or the chances of a column are missing, too fine, negative or do
            not add up to 1.
    """

    kind: ClassVar[Kind] = Kind.UNRELATED
    asks_personally: ClassVar[bool] = True

    personal: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta == 0:
            raise InputError("theta = 0 makes every response a personal one, which carries nothing: choose another")
        if len(self.personal) != len(self.sizes):
            raise InputError("the personal record needs an entry for every column; an empty one for plain columns")
        for column, chances in enumerate(self.personal):
            self._check_chances(column, chances)

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
        return prod((self.personal[term.column][term.value] for term in part.terms), start=Fraction(1))

    def truths(self, draw: Draw) -> NDArray[np.bool_]:
        """Toss the coins of all records: whether a group tells the truth (`records x groups`)."""
        numerator, denominator = self.theta.numerator, self.theta.denominator
        truths = [np.zeros((len(draw(b"", 1)), 0), dtype=np.bool_)]  # an empty column that fixes the number of records
        truths += [(draw(k.to_bytes(4, "big"), denominator) < numerator)[:, None] for k in range(len(self.groups))]
        return np.hstack(truths)

    def draw_personal(self, draw: Draw) -> Codes:
        """Draw personal records: for respondents who have no personal question at hand."""
        columns = []
        for column, chances in enumerate(self.personal):
            scale = lcm(*(chance.denominator for chance in chances)) if chances else 1
            steps = np.array([int(total * scale) for total in accumulate(chances)], dtype=np.int64)
            uniform = draw(b"personal" + column.to_bytes(4, "big"), scale)
            columns.append(np.searchsorted(steps, uniform, side="right") if chances else 0 * uniform)
        return np.stack(columns, axis=1).astype(np.uint8)

    def answer(self, codes: Codes, personal: Codes, truths: NDArray[np.bool_]) -> Codes:
        """Return the responses: for each group the true values, or the personal ones; no answer stays no answer.

        Args:
            codes: True records.
            personal: Personal records, in the same columns; plain columns are not read.
            truths: Whether a group tells the truth, `records x groups`.
        """
        result = codes.copy()
        for k, group in enumerate(self.groups):
            for column in group:
                told = truths[:, k] | (codes[:, column] >= self.sizes[column])
                result[:, column] = np.where(told, codes[:, column], personal[:, column])
        return result

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; personal records are drawn too where none are given."""
        told = self.draw_personal(draw) if personal is None else personal
        return self.answer(codes, told, self.truths(draw))

    def transition(self, group: int, columns: Sequence[int]) -> Matrix:
        """Return `theta [r = x] + (1 - theta) P(Y = r)`."""
        del group
        every = cells([self.sizes[column] for column in columns])
        chances = [prod((self.personal[c][v] for c, v in zip(columns, cell, strict=True))) for cell in every]
        lie = 1 - self.theta
        return tuple(
            tuple(self.theta * (row == truth) + lie * chance for truth in range(len(every)))
            for row, chance in enumerate(chances)
        )

    def candidates(self, codes: Codes, group: int, columns: Sequence[int]) -> Candidates:
        """Return one list: the responses that were seen."""
        del group
        seen = codes[:, list(columns)]
        first, places = numbered(seen)
        base, lie = seen[first], 1 - self.theta
        other = tuple(
            lie * prod(self.personal[column][value] for column, value in zip(columns, cell, strict=True))
            for cell in base.tolist()
        )
        return Candidates(np.zeros(len(codes), dtype=np.intp), places, self.theta, other, lambda _, where: base[where])

    def alone(self, column: int) -> OneKind:
        """Return the design of this column with the same theta and personal chances."""
        own = tuple(chances if k == column else () for k, chances in enumerate(self.personal))
        return replace(self, groups=((column,),), personal=own)

    def coin_chances(self, group: int) -> tuple[Fraction, ...]:
        """Return `theta` and `1 - theta`: whether the group tells the truth."""
        return self.truth(group), 1 - self.truth(group)

    def guess_weights(self, group: int) -> tuple[Fraction, ...]:
        """Return `1/theta` for a response taken at its word, `-(1 - theta)/theta` for one that is taken as personal."""
        del group
        return 1 / self.theta, (self.theta - 1) / self.theta

    def guess_values(self, group: int, column: int) -> tuple[Matrix, ...]:
        """Return what was sent for a response taken at its word, the personal chances for one that is personal."""
        del group
        size = self.sizes[column]
        own = tuple(tuple(Fraction(value == sent) for value in range(size)) for sent in range(size))
        return own, (self.personal[column],) * size

    @property
    def draws(self) -> int:
        """One per column more, for the personal answers."""
        return super().draws + len(self.sizes)

    def disclosed_modulus(self, first: int, second: int) -> int:
        """Return 1: with theta below 1 any two truths can give the response of one personal record."""
        del first, second
        return 1

    def declaration(self) -> dict[str, object]:
        """Return the chances of the personal record too."""
        return {**super().declaration(), "personal": [list(map(str, chances)) for chances in self.personal]}

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
        lie = (1 - self.theta) * prod(min(self.personal[column]) for column in columns)
        return (self.theta + lie) / lie if lie else None
