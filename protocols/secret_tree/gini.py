"""`U` of Gini's index of counts of which each side has a summand: `learning.whole`, bit by bit the same.

inverse         of a branch's size, as intercept times 2**(2 K - 8 - k) less slope times the size times 4**(K - k)
share           times the records of one class, bit by bit
product         times those of the other, bit by bit; summed over the branches
U               the sum without its last bits
"""

import numpy as np
from numpy.typing import NDArray

from protocols.learning.whole import GINI_BITS, PIECES_BITS, Gini
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import filled, modulus_mask, products, without_last_bits
from protocols.role import Role, together
from protocols.secret_tree.pieces import leading, line, lines_of


class GiniWorth:
    """What candidates are worth by how much less Gini's index is, of two classes.

    Args:
        gates: Our part of the computation.
        records: The most that a node can have.
        room: How much is added to `U`, up and down together, before it is compared.

    Discloses: nothing; what crosses is masked.

    Raises:
        InputError: There are too many records.
    """

    def __init__(self, gates: Gates, records: int, room: int = 0) -> None:
        self._gates, self._law = gates, Gini(records)
        unit = 2 * self._law.top + self._law.slope_bits
        self.counts_width = (records << unit - 2).bit_length()
        self.width = ((records << GINI_BITS - 2) + room).bit_length() + 2
        slopes, intercepts = self._law.straight
        self._least = np.array([slopes.min(), intercepts.min()]).astype(WORD)
        self._slope_bits = int(slopes.max() - slopes.min()).bit_length()
        self._lines = lines_of(slopes - slopes.min() | intercepts - intercepts.min() << self._slope_bits)

    def of_candidates(self, counts: Uint64s, bits: Uint64s, starts: NDArray[np.int64]) -> Role[Uint64s]:
        """Return shares of `U` of each candidate, modulo `2**width`: see `Worth`.

        Discloses: nothing; what crosses is masked.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        gates, mask = self._gates, modulus_mask(self.counts_width)
        one, other, size = bits.transpose(1, 0, 2)
        number = yield from self._inverse(counts[-1], size)
        for of_class in (one, other):
            shifted = number << np.arange(len(of_class), dtype=WORD)[:, None]
            terms = yield from products(gates, of_class, shifted, self.counts_width)
            number = terms.sum(0, dtype=WORD) & mask
        sums = filled(np.add.reduceat(number, starts) & mask)
        return (yield from without_last_bits(gates, sums, self.counts_width, self._law.dropped, self.width))[
            : len(starts)
        ]

    def _inverse(self, sizes: Uint64s, bits: Uint64s) -> Role[Uint64s]:
        """Return shares of `Gini.inverse` of sizes."""
        gates, top, width = self._gates, self._law.top, self.counts_width
        places = yield from leading(gates, bits)
        up = np.array([top - at for at in range(len(places))], WORD)[:, None]
        powers = np.uint64(gates.first) << up + np.uint64(top - PIECES_BITS)
        factors = np.stack([np.broadcast_to(powers, (len(up), len(sizes))), sizes << np.uint64(2) * up])
        lines, scaled = yield from together(
            line(gates, self._lines, places, bits), products(gates, np.stack([places, places]), factors, width)
        )
        power, size = scaled.sum(1, dtype=WORD)
        slope, intercept = lines[: self._slope_bits], lines[self._slope_bits :]
        by_size = np.uint64(0) - (size << np.arange(len(slope), dtype=WORD)[:, None])
        by_power = power << np.arange(len(intercept), dtype=WORD)[:, None]
        terms = yield from products(gates, lines, np.concatenate([by_size, by_power]), width)
        inverse: Uint64s = terms.sum(0, dtype=WORD) + self._least[1] * power - self._least[0] * size
        return inverse & modulus_mask(width)
