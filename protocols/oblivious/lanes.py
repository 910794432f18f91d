"""Numbers of a few bits side by side in words of 64: added and subtracted at once, each modulo its own power of two.

The highest bit of each lane is set aside, so that no carry leaves it (Warren, Hacker's Delight, section 2-18).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np

from protocols.errors import InputError
from protocols.oblivious.aes import Uint64s

_WORD_BITS: Final = 64


@dataclass(frozen=True)
class Lanes:
    """The lanes of one word: how many bits each has, the lowest first."""

    widths: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """How many bits are used."""
        return sum(self.widths)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each lane begins."""
        return tuple(accumulate(self.widths[:-1], initial=0))

    @cached_property
    def used(self) -> np.uint64:
        """All bits that are used."""
        return np.uint64((1 << self.bits) - 1)

    @cached_property
    def highest(self) -> np.uint64:
        """The highest bit of each lane."""
        return np.uint64(sum(1 << start + width - 1 for start, width in zip(self.starts, self.widths, strict=True)))

    def add(self, left: Uint64s, right: Uint64s) -> Uint64s:
        """Return the sums, lane by lane."""
        lower = ~self.highest & self.used
        result: Uint64s = ((left & lower) + (right & lower)) ^ ((left ^ right) & self.highest)
        return result

    def subtract(self, left: Uint64s, right: Uint64s) -> Uint64s:
        """Return the differences, lane by lane."""
        lower = ~self.highest & self.used
        result: Uint64s = ((left & lower | self.highest) - (right & lower)) ^ (~(left ^ right) & self.highest)
        return result

    def sums(self, words: Uint64s) -> list[int]:
        """Return for each lane the sum over all words."""
        return [
            int((words >> np.uint64(start)).sum(dtype=np.uint64)) & ((1 << width) - 1)
            for start, width in zip(self.starts, self.widths, strict=True)
        ]


def lanes_of(widths: Sequence[int]) -> Iterator[Lanes]:
    """Yield words with lanes of these widths, in this order, as many in each as fit."""
    if not all(0 < width <= _WORD_BITS for width in widths):
        raise InputError(f"a number under a mask has 1 to {_WORD_BITS} bits")
    inside: list[int] = []
    for width in widths:
        if sum(inside) + width > _WORD_BITS:
            yield Lanes(tuple(inside))
            inside = []
        inside.append(width)
    if inside:
        yield Lanes(tuple(inside))
