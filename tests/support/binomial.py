"""Exact binomial tails, and tests of a share whose false-alarm rate and power are known before they are run."""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, fsum, lgamma, log


def log_mass(trials: int, chance: Fraction, hits: int) -> float:
    """Return the natural logarithm of `P(X = hits)`, `0 < chance < 1`."""
    choose = lgamma(trials + 1) - lgamma(hits + 1) - lgamma(trials - hits + 1)
    return choose + hits * log(chance) + (trials - hits) * log(1 - chance)


def upper_tail(trials: int, chance: Fraction, hits: int) -> float:
    """Return `P(X >= hits)`."""
    if chance in (0, 1) or not 0 < hits <= trials:
        return float(hits <= (trials if chance == 1 else 0) or (0 < chance < 1 and hits <= 0))
    if hits <= trials * chance:
        return 1.0 - _sum_from(trials, chance, hits - 1, -1)
    return _sum_from(trials, chance, hits, 1)


def lower_tail(trials: int, chance: Fraction, hits: int) -> float:
    """Return `P(X <= hits)`."""
    return upper_tail(trials, 1 - chance, trials - hits)


def _sum_from(trials: int, chance: Fraction, first: int, step: int) -> float:
    """Add the masses from `first` outwards until they no longer matter, each from the one before."""
    odds = float(chance / (1 - chance)) ** step
    masses, hits = [exp(log_mass(trials, chance, first))], first
    while masses[-1] > 1e-18 * masses[0]:
        rest, there = (trials - hits, hits + 1) if step > 0 else (hits, trials - hits + 1)
        masses.append(masses[-1] * odds * rest / there)
        hits += step
    return fsum(masses)


@dataclass(frozen=True)
class ShareTest:
    """A two-sided test that a share is `chance`: it fires outside `low .. high`, each side with at most half `alarm`.

    Args:
        trials: Number of independent trials.
        chance: The share that is claimed.
        alarm: How often the test may fire though the claim is true.
    """

    trials: int
    chance: Fraction
    alarm: float

    @property
    def high(self) -> int:
        """The largest number of hits that is accepted."""
        low, high = int(self.trials * self.chance), self.trials
        while low < high:
            middle = (low + high) // 2
            if upper_tail(self.trials, self.chance, middle + 1) <= self.alarm / 2:
                high = middle
            else:
                low = middle + 1
        return high

    @property
    def low(self) -> int:
        """The smallest number of hits that is accepted."""
        return self.trials - ShareTest(self.trials, 1 - self.chance, self.alarm).high

    def accepts(self, hits: int) -> bool:
        """Tell whether this many hits are compatible with the claim."""
        return self.low <= hits <= self.high

    def power(self, truth: Fraction) -> float:
        """Return the chance that the test fires when the share is `truth`."""
        return lower_tail(self.trials, truth, self.low - 1) + upper_tail(self.trials, truth, self.high + 1)
