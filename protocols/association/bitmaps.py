"""Which transactions hold an item, one bit each: how sets of items are counted.

Transactions stand in the order of their original sizes, each size beginning with a word of its own, so that one pass
over the words of a set gives its counts for every size separately (Review section 3.6 a).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from protocols.association.transactions import Randomized

_WORD = 64
_BLOCK_CELLS = 2**22


class Bitmaps:
    """The bits of every item over randomized transactions.

    Args:
        randomized: The transactions.
    """

    def __init__(self, randomized: Randomized) -> None:
        self.universe = randomized.transactions.universe
        sizes, self.totals = np.unique(randomized.sizes, return_counts=True)
        self.sizes: tuple[int, ...] = tuple(sizes.tolist())
        lengths = -(-self.totals // _WORD)
        self._starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        self._words = np.zeros((self.universe, int(lengths.sum())), dtype=np.uint64)
        for size, start in zip(self.sizes, self._starts.tolist(), strict=True):
            rows = np.flatnonzero(randomized.sizes == size)
            self._fill(randomized, rows, start)

    def _fill(self, randomized: Randomized, rows: NDArray[np.intp], start: int) -> None:
        most = max(_BLOCK_CELLS // max(self.universe, 1) // _WORD, 1) * _WORD
        for first in range(0, len(rows), most):
            held = randomized.transactions.matrix(rows[first : first + most])
            packed = np.packbits(held, axis=0, bitorder="little").T
            place = (start + first // _WORD) * (_WORD // 8)
            self._words.view(np.uint8)[:, place : place + packed.shape[1]] = packed

    def __repr__(self) -> str:
        return f"<Bitmaps {self.universe} items x {int(self.totals.sum())} transactions>"

    def held_by(self, items: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return the words of the transactions that hold all of these items."""
        words: NDArray[np.uint64] = np.bitwise_and.reduce(self._words[items], axis=0)
        return words

    def count(self, held: NDArray[np.uint64], lasts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return how many of these transactions hold each of some items too (`lasts x sizes`)."""
        counts = np.zeros((len(lasts), len(self.sizes)), dtype=np.int64)
        if self.sizes:
            for part in self._parts(len(lasts)):
                ones = np.bitwise_count(self._words[lasts[part]] & held)
                counts[part] = np.add.reduceat(ones, self._starts, axis=1, dtype=np.int64)
        return counts

    def _parts(self, items: int) -> Iterator[slice]:
        most = max(1, _BLOCK_CELLS // max(self._words.shape[1], 1))
        return (slice(first, first + most) for first in range(0, items, most))
