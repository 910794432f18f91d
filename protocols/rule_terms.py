"""The terms of finding association rules together, beside those of every run (`protocols.terms`)."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from protocols.errors import InputError

MOST_SETS: Final = 100_000
MOST_LENGTH: Final = 32
_LONGEST: Final = 1024  # of a label, in characters, as of any other
_MOST_DIGITS: Final = 18


@dataclass(frozen=True)
class RuleTerms:
    """What rules are looked for, and how many exact counts may be told for them.

    `min_support` is the share of all records that a set of items must have, `max_len` the most items of a set,
    `most_sets` the most sets of each side's own items, and the most sets with items of both, whose exact counts are
    told. `absent` are values that are no items: what a column of 0 and 1 says of a basket without the item.

    Raises:
        InputError: A term that no run can have; `field` names it.
    """

    min_support: Fraction
    max_len: int
    most_sets: int
    absent: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.min_support <= 1 or self.min_support.denominator >= 10**_MOST_DIGITS:
            raise InputError("must be above 0 and at most 1, such as 1/20", field="min_support")
        if not 1 <= self.max_len <= MOST_LENGTH:
            raise InputError(f"must be an integer from 1 to {MOST_LENGTH}", field="max_len")
        if not 0 <= self.most_sets <= MOST_SETS:
            raise InputError(f"must be an integer from 0 to {MOST_SETS}", field="most_sets")
        if not all(1 <= len(label) <= _LONGEST for label in self.absent) or len(set(self.absent)) != len(self.absent):
            raise InputError(f"must be different texts of 1 to {_LONGEST} characters", field="absent")

    def least(self, records: int) -> int:
        """Return the fewest records that a frequent set has, of so many in all.

        >>> RuleTerms(Fraction(1, 20), 3, 100).least(101)
        6
        """
        return max(1, ceil(self.min_support * records))

    @property
    def most_told(self) -> int:
        """The most exact counts that a run tells: those of both sides' own sets, those of both, and the records."""
        return 3 * self.most_sets + 1
