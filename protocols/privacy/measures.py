"""The measures of one attribute that depend on what was believed of it before, gathered (DESIGN 10)."""

from dataclasses import dataclass
from fractions import Fraction

from protocols.privacy.entropy import entropy_left
from protocols.privacy.entry import Entry
from protocols.privacy.posterior import Breach, Rise, breach, largest_rise, repeated_level
from protocols.privacy.single_entry import single_entry


@dataclass(frozen=True)
class Measures:
    """What the responses of an `Entry` do: those of one attribute alone, or of its whole group.

    Args:
        breach: The largest posterior.
        rise: The largest rise of a belief.
        twice: The largest posterior if the same response came twice with fresh coins.
        single_entry: Expected chance on a wrong value, before mining.
        bits_left: Entropy left on average, given the response.
    """

    breach: Breach
    rise: Rise
    twice: Fraction
    single_entry: Fraction
    bits_left: float


def measures(entry: Entry) -> Measures:
    """Measure an entry."""
    return Measures(
        breach=breach(entry),
        rise=largest_rise(entry),
        twice=repeated_level(entry, 2),
        single_entry=single_entry(entry),
        bits_left=entropy_left(entry),
    )
