"""`U` of the information gain of counts of which each side has a summand: `learning.whole`, bit by bit the same.

Of each number `f(x) = x log2 x` is (place of the leading one, slope) times x, less intercept times 2**place.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.learning.whole import INTERCEPTS, SCALE_BITS, SLOPE_BITS, SLOPES, mixture_bits
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import as_numbers, modulus_mask, products
from protocols.role import Role, together
from protocols.secret_tree.pieces import leading, line, lines_of

_LEAST: Final = int(INTERCEPTS.min())
_LINES: Final = lines_of(SLOPES | (INTERCEPTS - _LEAST) << SLOPE_BITS)
_INTERCEPT_BITS: Final = len(_LINES) - SLOPE_BITS


class EntropyWorth:
    """What candidates are worth by the information gain they bring.

    Args:
        gates: Our part of the computation.
        records: The most that a node can have.
        classes: How many there are.

    Discloses: nothing; what crosses is masked.
    """

    def __init__(self, gates: Gates, records: int, classes: int) -> None:
        self._gates = gates
        self.counts_width = self.width = mixture_bits(records, classes) + 1

    def of_candidates(self, counts: Uint64s, bits: Uint64s, starts: NDArray[np.int64]) -> Role[Uint64s]:
        """Return shares of `U` of each candidate, modulo `2**width`: see `Worth`.

        Discloses: nothing; what crosses is masked.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        parts = yield from entropy_parts(self._gates, counts.reshape(-1), bits.reshape(len(bits), -1), self.width)
        of_class, of_branch = parts.reshape(counts.shape)[:-1], parts.reshape(counts.shape)[-1]
        return np.add.reduceat(of_branch - of_class.sum(0, dtype=WORD), starts)


def entropy_parts(gates: Gates, numbers: Uint64s, bits: Uint64s, width: int) -> Role[Uint64s]:
    """Return shares of `f` of numbers, modulo `2**width`.

    Args:
        gates: Our part of the computation.
        numbers: Shares of them, modulo `2**width` or more.
        bits: Shares of their bits (`bits x words`).
        width: Of the result.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    places = yield from leading(gates, bits)
    weights = [1 << at for at in range(len(places))]
    lines, powers = yield from together(line(gates, _LINES, places, bits), as_numbers(gates, places, weights, width))
    power, place = powers.sum(0, dtype=WORD), _place(places)
    slope, intercept = lines[:SLOPE_BITS], lines[SLOPE_BITS:]
    shifts = np.arange(SLOPE_BITS + len(place), dtype=WORD) + np.uint64(SCALE_BITS - SLOPE_BITS)
    by_number = numbers << shifts[:, None]
    by_power = np.uint64(0) - (power << np.arange(_INTERCEPT_BITS, dtype=WORD)[:, None])
    factors = np.concatenate([by_number, by_power])
    terms = yield from products(gates, np.concatenate([slope, place, intercept]), factors, width)
    result: Uint64s = (terms.sum(0, dtype=WORD) - np.uint64(_LEAST) * power) & modulus_mask(width)
    return result


def _place(places: Uint64s) -> Uint64s:
    """Return the bits of the place, from its hot wires."""
    width = max(1, (len(places) - 1).bit_length())
    hot = [[at for at in range(len(places)) if at >> bit & 1] for bit in range(width)]
    return np.stack([np.bitwise_xor.reduce(places[each], axis=0) for each in hot])
