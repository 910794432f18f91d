"""The terms of finding association rules together, beside those of every run (`protocols.terms`)."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil
from typing import Final, NoReturn

from protocols.errors import InputError

MOST_SETS: Final = 100_000
MOST_LENGTH: Final = 32
_LONGEST: Final = 1024  # of a label, in characters, as of any other
_MOST_DIGITS: Final = 18
_COMPARED_BITS: Final = 63


class RuleMetric(StrEnum):
    """What is compared of rules on shares: their other measures are no products of counts and public numbers."""

    CONFIDENCE = "confidence"
    LIFT = "lift"

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        del value
        raise InputError('must be "confidence" or "lift": no other is compared without counts', field="metric")


@dataclass(frozen=True)
class RuleTerms:
    """What rules are looked for, and how many exact counts may be told for them.

    `min_support` is the share of all records that a set of items must have, `max_len` the most items of a set,
    `most_sets` the most sets of each side's own items, and the most sets with items of both, whose exact counts are
    told. `absent` are values that are no items: what a column of 0 and 1 says of a basket without the item.
    `min_threshold` is what the `metric` of a rule must reach where no count is told; None if no rule is asked about.

    Raises:
        InputError: A term that no run can have; `field` names it.
    """

    min_support: Fraction
    max_len: int
    most_sets: int
    absent: tuple[str, ...] = ()
    metric: RuleMetric = RuleMetric.CONFIDENCE
    min_threshold: Fraction | None = None

    def __post_init__(self) -> None:
        if not 0 < self.min_support <= 1 or self.min_support.denominator >= 10**_MOST_DIGITS:
            raise InputError("must be above 0 and at most 1, such as 1/20", field="min_support")
        if not 1 <= self.max_len <= MOST_LENGTH:
            raise InputError(f"must be an integer from 1 to {MOST_LENGTH}", field="max_len")
        if not 0 <= self.most_sets <= MOST_SETS:
            raise InputError(f"must be an integer from 0 to {MOST_SETS}", field="most_sets")
        if not all(1 <= len(label) <= _LONGEST for label in self.absent) or len(set(self.absent)) != len(self.absent):
            raise InputError(f"must be different texts of 1 to {_LONGEST} characters", field="absent")
        RuleMetric(self.metric)
        self._check_threshold()

    def _check_threshold(self) -> None:
        least = self.min_threshold
        if least is None:
            if self.metric is not RuleMetric.CONFIDENCE:
                raise InputError('goes with a min_threshold, such as "3/2"', field="metric")
            return
        most = 1 if self.metric is RuleMetric.CONFIDENCE else 10**_MOST_DIGITS
        if not 0 < least <= most or max(least.as_integer_ratio()) >= 10**_MOST_DIGITS:
            end = " and at most 1, such as 4/5" if most == 1 else ", such as 3/2"
            raise InputError(f"must be above 0{end}", field="min_threshold")

    def least(self, records: int) -> int:
        """Return the fewest records that a frequent set has, of that many in all.

        >>> RuleTerms(Fraction(1, 20), 3, 100).least(101)
        6
        """
        return max(1, ceil(self.min_support * records))

    def compared_width(self, records: int) -> int:
        """Return the bits, a sign among them, of what is compared of a rule; 0 where none is asked about.

        Raises:
            InputError: There are more than numbers on shares have.
        """
        if self.min_threshold is None:
            return 0
        counts = records if self.metric is RuleMetric.CONFIDENCE else records**2
        width = (max(self.min_threshold.as_integer_ratio()) * counts).bit_length() + 1
        if width > _COMPARED_BITS:
            raise InputError(
                f"min_threshold {self.min_threshold} is too fine for {records:,} records: round it, such as to 1/100"
            )
        return width

    @property
    def most_told(self) -> int:
        """The most exact counts that a run tells: those of both sides' own sets, those of both, and the records."""
        return 3 * self.most_sets + 1
