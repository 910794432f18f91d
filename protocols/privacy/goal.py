"""What an audit promises, before it starts: how often it may be wrong, and what it must catch."""

from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational

from protocols.errors import InputError


@dataclass(frozen=True)
class Goal:
    """What an audit promises.

    Args:
        alarm: How often it may fail a sampler that is as declared, over all its counts.
        power: How often it must fail one whose theta is off by `shift` in some group.
        shift: The departure of theta that must be caught.

    Raises:
        InputError: A rate is not strictly between 0 and 1, or the shift is not an exact fraction above 0 and at most 1.
    """

    alarm: float = 1e-6
    power: float = 0.999
    shift: Fraction = Fraction(1, 100)

    def __post_init__(self) -> None:
        if not (0 < self.alarm < 1 and 0 < self.power < 1):
            raise InputError("an audit's false-alarm rate and power must lie strictly between 0 and 1")
        if not isinstance(self.shift, Rational) or not 0 < self.shift <= 1:
            raise InputError("the shift of theta to catch must be an exact fraction above 0 and at most 1")


DEFAULT_GOAL = Goal()
