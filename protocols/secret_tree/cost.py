"""Both sides compute shares of what each candidate costs: the impurity that it leaves, by entropy or by Gini's index.

The cost is `U` of counts of which each side has a summand, bit by bit the same as `learning.whole` computes in the
clear. For the information gain each number `x` adds `f(x) = x log2 x`, which a line stands for. With `k` the place of
the leading one of `x` it is `(k + slope) x` less `intercept 2**k`; the leading one and the piece below it choose the
line:

leading one     an OR of all higher bits, by prefixes; its place in one hot wire per place
piece           the eight bits below it; sixteen hot wires for each half of them
line            its bits, by one product of each high half with what the low half gives under it

For Gini's index `U` takes these steps, of each branch and of two classes:

inverse         of a branch's size, as intercept times 2**(2 K - 8 - k) less slope times the size times 4**(K - k)
share           times the records of one class, bit by bit
product         times those of the other, bit by bit; summed over the branches
U               the sum without its last bits
"""

from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.learning.whole import (
    GINI_BITS,
    INTERCEPTS,
    PIECES_BITS,
    SCALE_BITS,
    SLOPE_BITS,
    SLOPES,
    Gini,
    Whole,
    mixture_bits,
)
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import as_numbers, filled, modulus_mask, products, without_last_bits
from protocols.role import Role, together
from protocols.terms import Impurity


class GiniCost:
    """What candidates leave of Gini's index, of two classes, in nodes of limited records.

    `room` is how much is added to `U`, up and down together, before it is compared.

    Discloses: nothing; what crosses is masked.
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
        """Return shares of `U` of each candidate, modulo `2**width`: see `SplitCost`.

        Discloses: nothing; what crosses is masked.
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


_HALF: Final = 1 << PIECES_BITS // 2

Lines = NDArray[np.bool_]
"""The bits of each piece's line, the lowest first (`bits x high half x low half`)."""


def lines_of(values: Whole) -> Lines:
    """Return the bits of numbers below `2**63`, one for each piece."""
    bits = values >> np.arange(int(values.max()).bit_length())[:, None] & 1
    result: Lines = bits.astype(np.bool_).reshape(-1, _HALF, _HALF)
    return result


def leading(gates: Gates, bits: Uint64s) -> Role[Uint64s]:
    """Return for each place whether the leading one is there; nowhere in 0.

    Discloses: nothing; what crosses is masked.
    """
    any_above, half = bits.copy(), 1  # at each place, whether it or one above, within its block, is 1
    while half < len(bits):
        pairs = [
            (top, below) for top in range(len(bits) - half, 0, -2 * half) for below in range(max(top - half, 0), top)
        ]
        top_of, low = np.array(pairs).T
        any_above[low] ^= any_above[top_of] ^ (yield from gates.both(any_above[top_of], any_above[low]))
        half *= 2
    return np.concatenate([any_above[:-1] ^ any_above[1:], any_above[-1:]])


def line(gates: Gates, lines: Lines, places: Uint64s, bits: Uint64s) -> Role[Uint64s]:
    """Return shares of the bits of the line of the piece that numbers are in, by shares of where the leading one is.

    Discloses: nothing; what crosses is masked.
    """
    piece = yield from _piece(gates, places, bits)
    words = piece.shape[1]
    joint = yield from gates.both(piece[0::2], piece[1::2])
    pairs = np.stack([  # a hot wire for each value of two bits
        np.stack([gates.flipped(low ^ high ^ both), low ^ both, high ^ both, both])
        for low, high, both in zip(piece[0::2], piece[1::2], joint, strict=True)
    ])  # fmt: skip
    low, high = pairs[0::2], pairs[1::2]  # of each half
    part = yield from gates.times(high[:, :3].reshape(6, words), np.repeat(low, 3, axis=0).transpose(1, 0, 2))
    rows = part.reshape(4, 2, 3, words)
    last = low.transpose(1, 0, 2) ^ np.bitwise_xor.reduce(rows, axis=2)
    hot = np.concatenate([rows, last[:, :, None]], axis=2).transpose(1, 2, 0, 3).reshape(2, _HALF, words)
    of_high = np.stack([[np.bitwise_xor.reduce(hot[0][some], axis=0) for some in each] for each in lines])
    chosen = yield from gates.times(hot[1, :-1], of_high[:, :-1] ^ of_high[:, -1:])
    result: Uint64s = of_high[:, -1] ^ np.bitwise_xor.reduce(chosen, axis=1)
    return result


def _piece(gates: Gates, places: Uint64s, bits: Uint64s) -> Role[Uint64s]:
    """Return the bits below the leading one, the lowest of them first."""
    strings = np.zeros((PIECES_BITS, len(bits), bits.shape[1]), WORD)
    for place in range(len(bits)):
        below = bits[max(0, place - PIECES_BITS) : place]
        strings[PIECES_BITS - len(below) :, place] = below
    if len(bits) == 1:
        return strings[:, 0]
    result: Uint64s = np.bitwise_xor.reduce((yield from gates.times(places[1:], strings[:, 1:])), axis=1)
    return result


_LEAST: Final = int(INTERCEPTS.min())
_LINES: Final = lines_of(SLOPES | (INTERCEPTS - _LEAST) << SLOPE_BITS)
_INTERCEPT_BITS: Final = len(_LINES) - SLOPE_BITS


class EntropyCost:
    """What candidates leave of the entropy, in nodes of at most this many records.

    Discloses: nothing; what crosses is masked.
    """

    def __init__(self, gates: Gates, records: int, classes: int) -> None:
        self._gates = gates
        self.counts_width = self.width = mixture_bits(records, classes) + 1

    def of_candidates(self, counts: Uint64s, bits: Uint64s, starts: NDArray[np.int64]) -> Role[Uint64s]:
        """Return shares of `U` of each candidate, modulo `2**width`: see `SplitCost`.

        Discloses: nothing; what crosses is masked.
        """
        parts = yield from entropy_parts(self._gates, counts.reshape(-1), bits.reshape(len(bits), -1), self.width)
        of_class, of_branch = parts.reshape(counts.shape)[:-1], parts.reshape(counts.shape)[-1]
        return np.add.reduceat(of_branch - of_class.sum(0, dtype=WORD), starts)


def entropy_parts(gates: Gates, numbers: Uint64s, bits: Uint64s, width: int) -> Role[Uint64s]:
    """Return shares of `f` of numbers, modulo `2**width`, from shares of them and of their bits (`bits x words`).

    Discloses: nothing; what crosses is masked.
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


class SplitCost(Protocol):
    """The impurity `U` that candidates leave: the least wins."""

    @property
    def counts_width(self) -> int:
        """Of the counts that it takes."""

    @property
    def width(self) -> int:
        """Of `U`, so that differences have their sign, and candidates that are barred have room above the others."""

    def of_candidates(self, counts: Uint64s, bits: Uint64s, starts: NDArray[np.int64]) -> Role[Uint64s]:
        """Return shares of `U` of each candidate, modulo `2**width`, whose first branches are `starts`.

        Shares of counts of each class and of all are modulo `2**counts_width` (`classes + 1 x branches`); of their bits
        they are `bits x classes + 1 x words`.
        """


def cost_by(impurity: Impurity, gates: Gates, records: int, classes: int, room: int = 0) -> SplitCost:
    """Return what a measure makes of the counts of nodes of this many records at most.

    `room` is how much noise may be added to `U`; only Gini's index has it.
    """
    if impurity == Impurity.INFORMATION_GAIN:
        return EntropyCost(gates, records, classes)
    if impurity != Impurity.GINI or classes != 2:
        raise InputError("counts that nobody sees are compared by information gain, or by Gini's index of two classes")
    return GiniCost(gates, records, room)
