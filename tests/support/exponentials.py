"""Rational bounds on `exp`, and on the law of geometric noise: what a proof about it can be checked with."""

from fractions import Fraction
from functools import cache
from math import floor

from protocols.noise.geometric import Geometric

Bounds = tuple[Fraction, Fraction]

_TERMS = 40
_GRID = 10**60


@cache
def decay_bounds(exponent: Fraction) -> Bounds:
    """Return bounds on `exp(-exponent)`, `exponent` at least 0, less than `1e-40` apart: an alternating series."""
    whole, part = floor(exponent), exponent - floor(exponent)
    low, high = _series(part)
    unit_low, unit_high = _series(Fraction(1))
    return _down(low * unit_low**whole), _up(high * unit_high**whole)


def growth_bounds(exponent: Fraction) -> Bounds:
    """Return bounds on `exp(exponent)`."""
    low, high = decay_bounds(exponent)
    return 1 / high, 1 / low


def law_bounds(law: Geometric) -> dict[int, Bounds]:
    """Return bounds on the chance of every value that noise of this law takes."""
    weights = {z: decay_bounds(abs(z) / law.scale) for z in range(-law.cut, law.cut + 1)}
    least, most = (sum(pair[side] for pair in weights.values()) for side in (0, 1))
    return {z: (low / most, high / least) for z, (low, high) in weights.items()}


def _series(part: Fraction) -> Bounds:
    total, term = Fraction(0), Fraction(1)
    for k in range(1, _TERMS + 1):
        total += term
        term *= -part / k
    return _down(min(total, total + term)), _up(max(total, total + term))


def _down(value: Fraction) -> Fraction:
    return Fraction(floor(value * _GRID), _GRID)


def _up(value: Fraction) -> Fraction:
    return Fraction(-floor(-value * _GRID), _GRID)
