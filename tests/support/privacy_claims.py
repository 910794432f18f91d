"""Does a mechanism distinguish two neighbours further than it says? A test of one event (DESIGN 10, 14).

A mechanism that is `(epsilon, delta)`-private gives an event a chance `p` on one table of at most
`exp(epsilon) q + delta`, `q` its chance on any neighbour. Both are counted over independent runs; the claim is refuted
where the least that `p` can be passes what `q` at most allows, each by Chernoff's bound at half the false-alarm rate.
Nothing is shown by a pass but for departures that the number of runs was chosen to catch.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from protocols.errors import InputError
from protocols.privacy.chernoff import least_chance, most_chance

_MOST_RUNS = 1 << 40


@dataclass(frozen=True)
class Claim:
    """What a mechanism says of itself, and how often a test may refute it though it is true."""

    epsilon: float
    delta: float
    alarm: float

    def __post_init__(self) -> None:
        if self.epsilon < 0 or self.delta < 0 or not 0 < self.alarm < 1:
            raise InputError("a claim has epsilon and delta of 0 or more, and a false-alarm rate between 0 and 1")

    def refuted(self, hits: int, others: int, runs: int) -> bool:
        """Return whether an event that came `hits` times, and `others` times on a neighbour, contradicts the claim."""
        budget = log(2 / self.alarm) / runs
        return least_chance(hits / runs, budget) > exp(self.epsilon) * most_chance(others / runs, budget) + self.delta

    def runs_needed(self, chance: Fraction, other: Fraction, miss: float) -> int:
        """Return how many runs on each table refute the claim with a chance of at least `1 - miss`."""
        low, high = 0, 1
        while not self._catches(chance, other, high, miss):
            low, high = high, 2 * high
            if high > _MOST_RUNS:
                raise InputError("these chances are what the claim allows, or too near: no number of runs refutes it")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._catches(chance, other, middle, miss) else (middle, high)
        return high

    def _catches(self, chance: Fraction, other: Fraction, runs: int, miss: float) -> bool:
        budget = log(2 / miss) / runs
        fewest = least_chance(float(chance), budget, reverse=True)
        most = most_chance(float(other), budget, reverse=True)
        return self.refuted(int(fewest * runs), int(-(-most * runs // 1)), runs)
