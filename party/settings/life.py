"""Bounds on all that is told of a data set: `[agree] most_runs`, `most_bits` and the like (FAULTS B7)."""

from dataclasses import dataclass
from typing import Final

from party.settings.noise import ANY
from party.settings.toml import Section
from protocols.terms import MOST_BITS, RECORDS_PER_BIT

_MOST: Final = 10**12
SHARE_OF_RECORDS: Final = f"n/{RECORDS_PER_BIT}"


@dataclass(frozen=True)
class LifeBounds:
    """The most over the life of a data set, None for any.

    `runs` are those on different terms, `bits` those of trees that alone were revealed and of answers by them, `counts`
    the exact ones told, `predictions` the rows answered for together. One
    run is usual: counts and accuracies of two can be subtracted (DESIGN 14); and no prediction: an answer about a
    person shows on which side of our splits that person is (13).
    """

    runs: int | None = None
    counts: int | None = None
    predictions: int | None = 0
    bits: int | str | None = SHARE_OF_RECORDS

    def bits_of(self, records: int) -> int | None:
        """Return the most bits that may be revealed of so many records; None for any."""
        return records // RECORDS_PER_BIT if isinstance(self.bits, str) else self.bits

    @property
    def allows_predictions(self) -> bool:
        """Whether joint predictions may be answered at all."""
        return self.predictions is None or self.predictions > 0


USUAL_BOUNDS: Final = LifeBounds(runs=1)


def read_life_bounds(section: Section) -> LifeBounds:
    """Read the bounds.

    Raises:
        ConfigError: One of them is neither a number nor "any".
    """
    return LifeBounds(
        runs=_most(section, "most_runs", USUAL_BOUNDS.runs or ANY),
        counts=_most(section, "most_counts", ANY),
        predictions=_most(section, "most_predictions", 0, least=0),
        bits=_most_bits(section),
    )


def _most(section: Section, key: str, usual: int | str, least: int = 1) -> int | None:
    value = section.raw(key, usual)
    if value == ANY:
        return None
    if type(value) is not int or not least <= value <= _MOST:
        raise section.error(key, f'must be an integer from {least} to {_MOST}, or "{ANY}"')
    return value


def _most_bits(section: Section) -> int | str | None:
    value = section.raw("most_bits", SHARE_OF_RECORDS)
    if value == SHARE_OF_RECORDS:
        return SHARE_OF_RECORDS
    if value != ANY and (type(value) is not int or not 1 <= value <= MOST_BITS):
        raise section.error("most_bits", f'must be an integer from 1 to {MOST_BITS}, "{SHARE_OF_RECORDS}" or "{ANY}"')
    return None if value == ANY else value
