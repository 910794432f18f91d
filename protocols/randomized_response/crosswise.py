"""Three questions about a single column: crosswise, triangular and forced response (DESIGN 4.7 to 4.9).

The crosswise question (Yu, Tian and Tang 2008) asks whether two statements are alike, or one of them is true. Beside
the statement that is asked about stands a harmless one, whose prevalence `p` is known and which has nothing to do with
the first. The respondent says "the same" (both are true, or neither is) or "different". No coin is tossed and no answer
is a confession, which is what makes people answer honestly.

"The same" is sent as the column's second value, the one that says that the statement is true; "different" as its
first. So the response is the truth where the harmless statement is true, which has the chance `p`, and its opposite
otherwise: Warner's matrix with `theta = p`. A person who knows whether the harmless statement is true of a
respondent knows the answer.

The triangular question (Yu, Tian and Tang 2008) asks whether neither of two statements is true, or at least one. As
with the crosswise question, a harmless statement of known prevalence `p` stands beside the one that is asked about. "At
least one" is sent as the column's second value, "neither" as its first. So the truth is sent with the chance `theta = 1
- p`, where the harmless statement is not true, and "true" is said otherwise: a forced response (4.9) that the
respondent's own life forces. It is more efficient than the crosswise question, and "neither" gives a "not true" away:
fit only where that is nothing to hide.

The forced response (Boruch 1971) is with chance theta the truth, otherwise what a device shows. A die that shows 2 to 5
asks for the truth, 1 for "no" and 6 for "yes": theta is 2/3 and each forced answer has the chance 1/2 of what is left.
The matrix is that of the unrelated question whose personal answers have these chances, but nobody has such an answer
outside the survey: there is nothing about the respondent that could be known beforehand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Draw, Kind
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Codes


@dataclass(frozen=True)
class CrosswiseDesign(RelatedDesign):
    """A statement in each group, its second value "true"; theta is the prevalence of the harmless statement."""

    kind: ClassVar[Kind] = Kind.CROSSWISE
    asks_personally: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_statements(self.sizes, self.groups)
        if self.theta == Fraction(1, 2):
            raise InputError(
                "a harmless statement that is true of half of all makes every answer carry nothing: choose a rarer one"
            )
        super().__post_init__()

    @property
    def prevalence(self) -> Fraction:
        """Chance that the harmless statement is true of a respondent."""
        return self.theta

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; whether the harmless statement is true (1) or not (0) is drawn if not given."""
        if personal is None:
            return disguise(codes, self.coins(draw), self)
        columns = [group[0] for group in self.groups]
        return disguise(codes, (1 - personal[:, columns]).astype(np.uint8), self)


def check_statements(sizes: Sequence[int], groups: Sequence[Sequence[int]]) -> None:
    """Refuse what is no statement beside a harmless one of its own."""
    for group in groups:
        if len(group) != 1:
            raise InputError("a statement beside a harmless one has a group of its own: name one column")
        if 0 <= group[0] < len(sizes) and sizes[group[0]] != 2:
            raise InputError("a statement is not true or true: its column has two values, in this order")


_ALWAYS_TRUE = (Fraction(0), Fraction(1))


@dataclass(frozen=True)
class TriangularDesign(UnrelatedDesign):
    """A statement in each group, its second value "true"; made by `of_prevalence`."""

    kind: ClassVar[Kind] = Kind.TRIANGULAR

    @classmethod
    def of_prevalence(cls, sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...], prevalence: Fraction) -> Self:
        """Return the design whose harmless statements are true with this chance."""
        grouped = {column for group in groups for column in group}
        personal = tuple(_ALWAYS_TRUE if column in grouped else () for column in range(len(sizes)))
        return cls(sizes, groups, 1 - prevalence, personal)

    def __post_init__(self) -> None:
        check_statements(self.sizes, self.groups)
        super().__post_init__()
        if any(chances not in ((), _ALWAYS_TRUE) for chances in self.personal):
            raise InputError("a triangular question answers true where its harmless statement is")

    @property
    def prevalence(self) -> Fraction:
        """Chance that the harmless statement is true of a respondent."""
        return 1 - self.theta

    @property
    def draws(self) -> int:
        """One per group, and one that fixes the number of records."""
        return 1 + len(self.groups)

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; whether the harmless statement is true (1) or not (0) is drawn if not given."""
        columns = [group[0] for group in self.groups]
        truths = self.truths(draw) if personal is None else personal[:, columns] == 0
        return self.answer(codes, np.ones_like(codes), truths)


@dataclass(frozen=True)
class ForcedDesign(UnrelatedDesign):
    """Which columns share a device, the chance of the truth, and in `personal` the chances of the forced answers."""

    kind: ClassVar[Kind] = Kind.FORCED
    asks_personally: ClassVar[bool] = False

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; nothing personal is asked for."""
        if personal is not None:
            raise InputError("the forced response has no personal answers")
        return super().randomize(codes, draw)
