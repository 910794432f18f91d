"""Chances and losses as a reader meets them."""

from decimal import Decimal
from fractions import Fraction
from math import isinf

_LARGE = 10**6


def percent(chance: Fraction) -> str:
    """Return a chance in percent; never rounded to certainty or impossibility.

    >>> percent(Fraction(1, 3)), percent(Fraction(99999, 100000)), percent(Fraction(1))
    ('33.3%', 'over 99.9%', '100%')
    """
    if chance in (0, 1):
        return f"{100 * int(chance)}%"
    if chance < Fraction(1, 1000):
        return "under 0.1%"
    if chance > Fraction(999, 1000):
        return "over 99.9%"
    return f"{float(100 * chance):.1f}%"


def epsilon(loss: float) -> str:
    """Return a loss in one word."""
    return "infinite" if isinf(loss) else f"{loss:.3f}"


def odds(loss: float) -> str:
    """Say by which factor a finite loss lets odds move.

    >>> odds(1.3863), odds(23.55)
    ('4', '1.7e10')
    """
    factor = Decimal(loss).exp()
    return f"{float(factor):.3g}" if factor < _LARGE else f"{factor:.1e}".replace("e+", "e")
