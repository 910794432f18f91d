"""Which line stands for a curve where a number is, of which each side has a summand: its leading one, and its piece.

leading one     an OR of all higher bits, by prefixes; its place in one hot wire per place
piece           the eight bits below it; sixteen hot wires for each half of them
line            its bits, by one product of each high half with what the low half gives under it
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.learning.whole import PIECES_BITS, Whole
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.role import Role

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

    Raises:
        PeerError: As `Gates.times`.
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
    """Return shares of the bits of the line of the piece that numbers are in.

    Args:
        gates: Our part of the computation.
        lines: Of all pieces.
        places: Shares of whether the leading one is there.
        bits: Shares of the bits of the numbers.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: As `Gates.times`.
    """
    piece = yield from _piece(gates, places, bits)
    words = piece.shape[1]
    joint = yield from gates.both(piece[0::2], piece[1::2])
    pairs = np.stack([_four(gates, piece[2 * at], piece[2 * at + 1], both) for at, both in enumerate(joint)])
    low, high = pairs[0::2], pairs[1::2]  # of each half
    part = yield from gates.times(high[:, :3].reshape(6, words), np.repeat(low, 3, axis=0).transpose(1, 0, 2))
    rows = part.reshape(4, 2, 3, words)
    last = low.transpose(1, 0, 2) ^ np.bitwise_xor.reduce(rows, axis=2)
    hot = np.concatenate([rows, last[:, :, None]], axis=2).transpose(1, 2, 0, 3).reshape(2, _HALF, words)
    of_high = np.stack([[_some(hot[0], columns) for columns in of_bit] for of_bit in lines])
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


def _four(gates: Gates, low: Uint64s, high: Uint64s, both: Uint64s) -> Uint64s:
    """Return a hot wire for each value of two bits."""
    return np.stack([gates.flipped(low ^ high ^ both), low ^ both, high ^ both, both])


def _some(wires: Uint64s, chosen: NDArray[np.bool_]) -> Uint64s:
    """Return the sum of the chosen wires."""
    result: Uint64s = np.bitwise_xor.reduce(wires[chosen], axis=0, initial=np.uint64(0))
    return result
