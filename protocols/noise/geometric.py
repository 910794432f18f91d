"""Two-sided geometric noise, the discrete Laplace distribution, sampled exactly (DESIGN 14, "Noise").

    P(Z = z) proportional to exp(-|z| / scale),   |z| <= cut

Without the cut a count that one record changes by 1 is `1/scale`-differentially private (Ghosh, Roughgarden and
Sundararajan 2009). The cut is where `exp(-cut / scale)` falls to `2**-40`: that is how improbable anything beyond is,
and, times `1/scale`, what only one of two neighbours can give, the noise at one end of the range.

Sampling is that of Canonne, Kamath and Steinke 2020 ("The Discrete Gaussian for Differential Privacy", algorithms 1 and
2): integers alone, no float, no rounding, hence nothing that the low bits of a logarithm could give away (Mironov
2012). NB: how long a draw takes depends on what is drawn.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, e, exp, log2
from numbers import Rational
from typing import Final

from protocols.errors import InputError
from protocols.randomness import Randomness

CUT_BITS: Final = 40
_LN_2: Final = Fraction(69_314_718_056, 10**11)  # rounded up


@dataclass(frozen=True)
class Geometric:
    """Noise of this scale."""

    scale: Fraction

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Rational) or self.scale <= 0:
            raise InputError("the scale of noise is an exact fraction above 0")

    @property
    def cut(self) -> int:
        """The largest noise: the least integer with `exp(-cut / scale) <= 2**-40`, or one above it."""
        return ceil(CUT_BITS * _LN_2 * self.scale)

    @property
    def variance(self) -> float:
        """Variance before the cut, which takes less than a float shows: `2 a / (1 - a)**2`, `a = exp(-1/scale)`."""
        decay = exp(-1 / self.scale)
        return 2 * decay / (1 - decay) ** 2

    @property
    def entropy(self) -> float:
        """How many bits a draw has, before the cut: `log2((1 + a) / (1 - a)) + 2 a log2(1/a) / (1 - a**2)`."""
        decay = exp(-1 / self.scale)
        return log2((1 + decay) / (1 - decay)) + 2 * decay / (1 - decay**2) * log2(e) / self.scale

    def draw(self, chance: Randomness) -> int:
        """Draw one value."""
        while (value := self.attempt(chance)) is None:
            pass
        return value

    def attempt(self, chance: Randomness) -> int | None:
        """Draw a remainder, whole units of it and a sign; None where that gives no value and must be done again.

        A remainder is kept with the chance of its exponential; minus zero and anything beyond the cut are not values.
        """
        size = magnitude(self.scale, chance)
        if size is None:
            return None
        negative = chance.randbelow(2)
        if size > self.cut or (negative and size == 0):
            return None
        return -size if negative else size


@dataclass(frozen=True)
class OneSided:
    """Noise that is never negative: `P(G >= k)` falls by `exp(-1 / scale)` with each step (report noisy max).

    Where the cut is, a comparison that `reach` more would turn has a chance of at most `2**-40`.
    """

    scale: Fraction
    reach: int

    @property
    def cut(self) -> int:
        """The largest noise."""
        return Geometric(self.scale).cut + self.reach

    def draw(self, chance: Randomness) -> int:
        """Draw one value."""
        while (size := magnitude(self.scale, chance)) is None or size > self.cut:
            pass
        return size


def magnitude(scale: Fraction, chance: Randomness) -> int | None:
    """Draw a remainder and whole units of it; None where its exponential says that it must be done again."""
    top, below = scale.numerator, scale.denominator
    remainder = chance.randbelow(top)
    if not decays(remainder, top, chance):
        return None
    units = 0
    while decays(1, 1, chance):
        units += 1
    return (remainder + top * units) // below


def most_variance(*laws: Geometric) -> float:
    """Return the most that the variance of their sum can be, `2 scale**2` each: the same float on every machine."""
    return float(2 * sum((law.scale**2 for law in laws), start=Fraction(0)))


def decays(numerator: int, denominator: int, chance: Randomness) -> bool:
    """Toss a coin that shows True with chance `exp(-numerator / denominator)`, for a fraction from 0 to 1.

    The number of successes before the first failure, the k-th with chance `fraction / k`, is even with that chance.
    """
    successes = 0
    while chance.randbelow(denominator * (successes + 1)) < numerator:
        successes += 1
    return successes % 2 == 0
