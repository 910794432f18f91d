"""Distributions over 0, 1, 2, ... as whole numbers over one denominator: what exact sampling needs.

A number is drawn by inversion: a uniform number in `0 .. 1`, read as a stream of 64-bit words, falls below the first
cumulative chance that exceeds it. One word decides unless it is the very one in which a boundary lies; then the next
words do. So each outcome has its chance exactly, without a float anywhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, lcm

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64
_KEPT_TABLES = 1024

Bounds = tuple[NDArray[np.uint64], NDArray[np.uint64]]


@dataclass(frozen=True)
class Chances(ABC):
    """A distribution over `0 .. most`: outcome `i` has the chance `weight i / total`."""

    @property
    @abstractmethod
    def total(self) -> int:
        """The common denominator."""

    @abstractmethod
    def weights(self) -> Iterator[int]:
        """Yield the numerators, outcome by outcome; they add up to `total`."""

    @abstractmethod
    def __getitem__(self, outcome: int) -> Fraction:
        """Return the chance of one outcome; 0 for an impossible one."""

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The chances of all outcomes."""
        return _fractions(self)

    def outcome(self, start: int, bits: int) -> int | None:
        """Return the outcome for every uniform number whose first `bits` bits are `start`; None if it is still open."""
        scale = 1 << bits
        for number, cumulative in enumerate(accumulate(self.weights())):
            if cumulative * scale > start * self.total:
                return number if cumulative * scale >= (start + 1) * self.total else None
        raise AssertionError("weights add up to the total")


@dataclass(frozen=True)
class Listed(Chances):
    """Chances that are given one by one."""

    chances: tuple[Fraction, ...]

    @property
    def total(self) -> int:
        """The least common denominator."""
        return lcm(*(chance.denominator for chance in self.chances))

    def weights(self) -> Iterator[int]:
        """Yield the numerators."""
        total = self.total
        return (chance.numerator * (total // chance.denominator) for chance in self.chances)

    def __getitem__(self, outcome: int) -> Fraction:
        return self.chances[outcome] if 0 <= outcome < len(self.chances) else Fraction(0)


@dataclass(frozen=True)
class Binomial(Chances):
    """How many of `trials` independent coins of this chance fall on it."""

    trials: int
    chance: Fraction

    @property
    def total(self) -> int:
        """`q^n`, the chance being `p/q`."""
        return int(self.chance.denominator**self.trials)

    def weights(self) -> Iterator[int]:
        """Yield `C(n, i) p^i (q - p)^(n - i)`."""
        hit, miss = self.chance.numerator, self.chance.denominator - self.chance.numerator
        if not miss:
            yield from (0 for _ in range(self.trials))
            yield self.total
            return
        weight = miss**self.trials
        for i in range(self.trials + 1):
            yield weight
            weight = weight * (self.trials - i) * hit // ((i + 1) * miss)

    def __getitem__(self, outcome: int) -> Fraction:
        if not 0 <= outcome <= self.trials:
            return Fraction(0)
        return comb(self.trials, outcome) * self.chance**outcome * (1 - self.chance) ** (self.trials - outcome)


@dataclass(frozen=True)
class Hypergeometric(Chances):
    """How many of `marked` among `population` things are in a uniform choice of `drawn` of them.

    Where there are not enough things, every weight is 0.
    """

    population: int
    marked: int
    drawn: int

    @property
    def total(self) -> int:
        """Number of choices."""
        return comb(self.population, self.drawn)

    def weights(self) -> Iterator[int]:
        """Yield the number of choices with each number of marked things."""
        for i in range(min(self.marked, self.drawn) + 1):
            yield self._ways(i)

    def __getitem__(self, outcome: int) -> Fraction:
        return Fraction(self._ways(outcome), self.total) if 0 <= outcome <= self.drawn else Fraction(0)

    def _ways(self, i: int) -> int:
        if self.marked > self.population:
            return 0
        return comb(self.marked, i) * comb(self.population - self.marked, self.drawn - i)


@lru_cache(_KEPT_TABLES)
def _fractions(chances: Chances) -> tuple[Fraction, ...]:
    total = chances.total
    return tuple(Fraction(weight, total) for weight in chances.weights())


@lru_cache(_KEPT_TABLES)
def bounds(chances: Chances) -> Bounds:
    """Return every cumulative chance below 1 in units of `2^-64`, rounded up and rounded down."""
    total = chances.total
    lows, highs = [], []
    for cumulative in accumulate(chances.weights()):
        if cumulative == total:
            break
        low, rest = divmod(cumulative << WORD_BITS, total)
        lows.append(low)
        highs.append(low + (rest > 0))
    # a bound that rounds up to 1 is left out: no word reaches it
    high = np.array([bound for bound in highs if bound < 1 << WORD_BITS], dtype=np.uint64)
    return high, np.array(lows, dtype=np.uint64)


def outcomes(chances: Chances, words: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the outcome of each word, and the positions of those that leave it open to `Chances.outcome`."""
    high, low = bounds(chances)
    decided = np.searchsorted(high, words, side="right")
    beyond = np.searchsorted(low, words, side="right")
    return decided.astype(np.int64), np.flatnonzero(decided != beyond)
