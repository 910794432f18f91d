"""The forced response (Boruch 1971; DESIGN 4.9): with chance theta the truth, otherwise what the device says.

A die that shows 2 to 5 asks for the truth, 1 for "no" and 6 for "yes": theta is 2/3 and each forced answer has the
chance 1/2 of what is left. The matrix is that of the unrelated question whose personal answers have these chances, but
nobody has such an answer outside the survey: there is nothing about the respondent that could be known beforehand.
"""

from dataclasses import dataclass
from typing import ClassVar

from protocols.errors import InputError
from protocols.randomized_response.design import Draw, Kind
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables.table import Codes


@dataclass(frozen=True)
class ForcedDesign(UnrelatedDesign):
    """Which columns share a device, the chance of the truth, and in `personal` the chances of the forced answers.

    Raises:
        InputError: As for the unrelated question.
    """

    kind: ClassVar[Kind] = Kind.FORCED
    asks_personally: ClassVar[bool] = False

    def randomize(self, codes: Codes, draw: Draw, personal: Codes | None = None) -> Codes:
        """Return the responses; nothing personal is asked for."""
        if personal is not None:
            raise InputError("the forced response has no personal answers")
        return super().randomize(codes, draw)
