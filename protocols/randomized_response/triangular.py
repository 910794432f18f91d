"""The triangular question (Yu, Tian and Tang 2008; DESIGN 4.8): is neither of two statements true, or at least one?

As with the crosswise question, a harmless statement of known prevalence `p` stands beside the one that is asked about.
"At least one" is sent as the column's second value, "neither" as its first. So the truth is told with the chance
`theta = 1 - p`, where the harmless statement is not true, and "true" is said otherwise: a forced response (4.9) that
the respondent's own life forces. It is more efficient than the crosswise question, and "neither" gives a "not true"
away: fit only where that is nothing to hide.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.crosswise import check_statements
from protocols.randomized_response.design import Draw, Kind
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables.table import Codes

_ALWAYS_TRUE = (Fraction(0), Fraction(1))


@dataclass(frozen=True)
class TriangularDesign(UnrelatedDesign):
    """A statement in each group, its second value "true"; made by `of_prevalence`.

    Raises:
        InputError: As for the unrelated question; or a group has more than one column, or one not of two values, or
            the personal chances are not those of a statement that is always true.
    """

    kind: ClassVar[Kind] = Kind.TRIANGULAR

    @classmethod
    def of_prevalence(cls, sizes: tuple[int, ...], groups: tuple[tuple[int, ...], ...], prevalence: Fraction) -> Self:
        """Return the design whose harmless statements are true with this chance.

        Raises:
            InputError: As for the class.
        """
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
        """Return the responses; whether the harmless statement is true (1) or not (0) is drawn where it is not told."""
        columns = [group[0] for group in self.groups]
        told = self.truths(draw) if personal is None else personal[:, columns] == 0
        return self.answer(codes, np.ones_like(codes), told)
