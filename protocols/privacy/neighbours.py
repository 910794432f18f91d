"""Does a mechanism tell two neighbours apart further than it says? A test of one event (DESIGN 10, 14).

A mechanism that is `(epsilon, delta)`-private gives an event a chance `p` on one table of at most
`exp(epsilon) q + delta`, `q` its chance on any neighbour. Both are counted over independent runs; the claim is refuted
where the least that `p` can be passes what `q` at most allows, each by Chernoff's bound (`chernoff.py`) at half the
false-alarm rate. Nothing is shown by a pass but for departures that the number of runs was chosen to catch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from protocols.errors import InputError
from protocols.privacy.chernoff import divergence

_HALVINGS = 60
_MOST_RUNS = 1 << 40


@dataclass(frozen=True)
class Claim:
    """What a mechanism says of itself, and how often a test may refute it though it is true.

    Raises:
        InputError: Epsilon or delta is negative, or the rate not strictly between 0 and 1.
    """

    epsilon: float
    delta: float
    alarm: float

    def __post_init__(self) -> None:
        if self.epsilon < 0 or self.delta < 0 or not 0 < self.alarm < 1:
            raise InputError("a claim has epsilon and delta of 0 or more, and a false-alarm rate between 0 and 1")

    def refuted(self, hits: int, others: int, runs: int) -> bool:
        """Tell whether an event that came `hits` times, and `others` times on a neighbour, contradicts the claim.

        Args:
            hits: Of so many runs on one table.
            others: Of as many on its neighbour.
            runs: On each.
        """
        budget = log(2 / self.alarm) / runs
        return least_chance(hits / runs, budget) > exp(self.epsilon) * most_chance(others / runs, budget) + self.delta

    def runs_needed(self, chance: Fraction, other: Fraction, miss: float) -> int:
        """Return how many runs on each table refute the claim with a chance of at least `1 - miss`.

        Args:
            chance: The event's true chance on one table.
            other: On its neighbour.
            miss: How often the test may pass all the same.

        Raises:
            InputError: These chances do not contradict the claim.
        """
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


def least_chance(share: float, budget: float, *, reverse: bool = False) -> float:
    """Return the smallest `c` below `share` with a divergence of at most `budget`.

    Args:
        share: A share that was seen, of trials of chance `c`; a chance, with `reverse`, of which `c` is a share.
        budget: In nats per trial.
        reverse: The divergence is that of `c` from `share`.
    """
    return _furthest(share, 0.0, lambda c: _between(share, c, reverse) <= budget)


def most_chance(share: float, budget: float, *, reverse: bool = False) -> float:
    """Return the largest `c` above `share` with a divergence of at most `budget`; as `least_chance`."""
    return _furthest(share, 1.0, lambda c: _between(share, c, reverse) <= budget)


def _between(share: float, chance: float, reverse: bool) -> float:
    return divergence(chance, Fraction(share)) if reverse else divergence(share, Fraction(chance))


def _furthest(near: float, far: float, fits: Callable[[float], bool]) -> float:
    """Return, by halving, how far one can go from `near` towards `far`."""
    if fits(far):
        return far
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if fits(middle) else (near, middle)
    return far
