"""Bounds on all runs over a data set together: `[agree] most_runs` and `most_counts` (FAULTS B7)."""

from dataclasses import dataclass
from typing import Final

from party.settings.noise import ANY
from party.settings.toml import Section

_MOST: Final = 10**12


@dataclass(frozen=True)
class LifeBounds:
    """The most runs, on different terms, and the most exact counts told, over the life of a data set; None for any.

    One run is usual: counts and accuracies of two can be subtracted (DESIGN 14).
    """

    runs: int | None = None
    counts: int | None = None


USUAL_BOUNDS: Final = LifeBounds(runs=1)


def read_life_bounds(section: Section) -> LifeBounds:
    """Read both bounds.

    Raises:
        ConfigError: One of them is neither a number nor "any".
    """
    return LifeBounds(_most(section, "most_runs", USUAL_BOUNDS.runs or ANY), _most(section, "most_counts", ANY))


def _most(section: Section, key: str, usual: int | str) -> int | None:
    value = section.raw(key, usual)
    if value == ANY:
        return None
    if type(value) is not int or not 1 <= value <= _MOST:
        raise section.error(key, f'must be an integer from 1 to {_MOST}, or "{ANY}"')
    return value
