"""Epsilons in text: exact numbers, "none" for counts without noise, "any" where nothing is bounded."""

from dataclasses import replace
from fractions import Fraction

from party.settings.toml import Section
from protocols.terms import NOISE

ANY = "any"
_MOST_BUDGET = 10**6


def read_most_noise(section: Section) -> Fraction | None:
    """Return the largest epsilon that a party agrees to in a job; None for any, and for counts without noise.

    Raises:
        ConfigError: The value is none that a job can have, or all runs together may spend any: runs of other depths,
            say, have other noise, and many of them average to the truth.
    """
    most: Fraction | None = section.value("noise", replace(NOISE, word=ANY), None)
    if most is None:
        return None
    if section.raw("epsilon", ANY) == ANY:
        enough = f'such as epsilon = "{NOISE.text(most)}"'
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
    if not NOISE.low <= budget <= _MOST_BUDGET:
        raise section.error("epsilon", f'must be an exact number from 0.001 to {_MOST_BUDGET}, or "any"')
    return budget
