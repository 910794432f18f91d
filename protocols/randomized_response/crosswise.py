"""The crosswise question (Yu, Tian and Tang 2008; DESIGN 4.7): are two statements alike, or is one of them true?

Beside the statement that is asked about stands a harmless one, whose prevalence `p` is known and which has nothing to
do with the first. The respondent says "the same" (both are true, or neither is) or "different". No coin is tossed and
no answer is a confession, which is what makes people answer honestly.

"The same" is sent as the column's second value, the one that says that the statement is true; "different" as its
first. So the response is the truth where the harmless statement is true, which has the chance `p`, and its opposite
otherwise: Warner's matrix with `theta = p`. Who knows whether the harmless statement is true of a respondent knows
the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Draw, Kind
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.tables.table import Codes


@dataclass(frozen=True)
class CrosswiseDesign(RelatedDesign):
    """A statement in each group, its second value "true"; theta is the prevalence of the harmless statement.

    Raises:
        InputError: As for the related question; or a group has more than one column, or one not of two values, or the
            prevalence is one half.
    """

    kind: ClassVar[Kind] = Kind.CROSSWISE
    asks_personally: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_statements(self.sizes, self.groups)
        if self.theta == Fraction(1, 2):
            raise InputError("a harmless statement that is true of half of all makes every answer carry nothing")
        super().__post_init__()

    @property
    def prevalence(self) -> Fraction:
        """Chance that the harmless statement is true of a respondent."""
        return self.theta

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; whether the harmless statement is true (1) or not (0) is drawn where it is not told."""
        if personal is None:
            return disguise(codes, self.coins(draw), self)
        columns = [group[0] for group in self.groups]
        return disguise(codes, (1 - personal[:, columns]).astype(np.uint8), self)


def check_statements(sizes: Sequence[int], groups: Sequence[Sequence[int]]) -> None:
    """Refuse what is no statement beside a harmless one of its own.

    Raises:
        InputError: A group has more than one column, or one not of two values.
    """
    for group in groups:
        if len(group) != 1:
            raise InputError("a statement beside a harmless one has a group of its own: one column")
        if 0 <= group[0] < len(sizes) and sizes[group[0]] != 2:
            raise InputError("a statement is not true or true: its column has two values, in this order")
