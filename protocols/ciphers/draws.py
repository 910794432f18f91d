"""Secret chance, with the checks that can be made on it (FAULTS A9)."""

from protocols.errors import InputError
from protocols.randomness import Randomness

_WATCHED_BITS = 128


class WatchedRandomness:
    """A source of chance that ends the run when it repeats itself (FAULTS case 26).

    Draws from a range of 2**128 or more never repeat by chance, neither consecutively nor consecutively for one bound.
    """

    def __init__(self, source: Randomness) -> None:
        self._source = source
        self._latest: dict[int, int] = {}
        self._last = -1

    def __repr__(self) -> str:
        return "WatchedRandomness()"

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        """Draw uniformly from `0 .. bound - 1`."""
        value = self._source.randbelow(exclusive_upper_bound)
        if not 0 <= value < exclusive_upper_bound:
            raise InputError("the source of randomness left its range")
        if exclusive_upper_bound >> _WATCHED_BITS:
            if value in (self._last, self._latest.get(exclusive_upper_bound)):
                raise InputError("the source of randomness repeated itself")
            self._last = self._latest[exclusive_upper_bound] = value
        return value


def watched(randomness: Randomness) -> WatchedRandomness:
    """Watch a source; one that is watched already stays as it is, with its memory."""
    return randomness if isinstance(randomness, WatchedRandomness) else WatchedRandomness(randomness)
