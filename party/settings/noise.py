"""Epsilons in text: exact numbers, "none" for counts without noise, "any" where nothing is bounded."""

from decimal import Decimal
from fractions import Fraction

from party.settings.toml import Section
from protocols.terms import LEAST_NOISE, MOST_NOISE, NOISES

NONE, ANY = "none", "any"
_MOST_BUDGET = 10**6


def read_noise(section: Section) -> Fraction | None:
    """Return the epsilon that a job asks for against each side; None, as where it says nothing, for exact counts.

    Raises:
        ConfigError: The value is no exact number.
    """
    value = section.raw("noise", NONE)
    return None if value == NONE else section.exact("noise", value)


def read_most_noise(section: Section) -> Fraction | None:
    """Return the largest epsilon that a party agrees to in a job; None for any, and for counts without noise.

    Raises:
        ConfigError: The value is none that a job can have, or all runs together may spend any: runs of other depths,
            say, have other noise, and many of them average to the truth.
    """
    value = section.raw("noise", ANY)
    if value == ANY:
        return None
    most = section.exact("noise", value)
    if not LEAST_NOISE <= most <= MOST_NOISE:
        raise section.error("noise", f'must be {NOISES}, or "any"')
    if section.raw("epsilon", ANY) == ANY:
        enough = f'such as epsilon = "{noise_text(most)}"'
        raise section.error("noise", f"bounds one run alone: set epsilon too, for all runs over a data set, {enough}")
    return most


def read_budget(section: Section) -> Fraction | None:
    """Return the most that all runs over a data set may spend together; None for any.

    Raises:
        ConfigError: The value is none.
    """
    value = section.raw("epsilon", ANY)
    if value == ANY:
        return None
    budget = section.exact("epsilon", value)
    if not LEAST_NOISE <= budget <= _MOST_BUDGET:
        raise section.error("epsilon", f'must be an exact number from 0.001 to {_MOST_BUDGET}, or "any"')
    return budget


def noise_text(noise: Fraction | None) -> str:
    """Return an epsilon as people write it: a decimal where that is exact.

    >>> noise_text(None), noise_text(Fraction(1, 2)), noise_text(Fraction(1, 3)), noise_text(Fraction(20))
    ('none', '0.5', '1/3', '20')
    """
    if noise is None:
        return NONE
    decimal = f"{Decimal(noise.numerator) / Decimal(noise.denominator):f}"
    return decimal if Fraction(decimal) == noise else str(noise)
