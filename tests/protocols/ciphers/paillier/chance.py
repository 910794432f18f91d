"""Sources of chance for tests."""

import random
from collections.abc import Iterable


class Chance:
    """A fixed stream that remembers what it gave."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self.bounds: list[int] = []
        self.draws: list[int] = []

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        self.bounds.append(exclusive_upper_bound)
        self.draws.append(self._source.randrange(exclusive_upper_bound))
        return self.draws[-1]


class Script:
    """Gives the listed numbers, whatever the bound."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = iter(numbers)

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        return next(self._numbers)


class Highest:
    """Gives the largest number allowed."""

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        return exclusive_upper_bound - 1
