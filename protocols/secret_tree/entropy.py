"""`f(x) = x log2 x` of numbers of which each side has a summand: `learning.whole`, bit by bit the same.

leading one     an OR of all higher bits, by prefixes; its place in one hot wire per place
piece           the eight bits below it; sixteen hot wires for each half of them
line            slope and intercept, by one product of each high half with what the low half gives under it
f               (place, slope) times x, less intercept times 2**place
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.learning.whole import INTERCEPTS, PIECES_BITS, SCALE_BITS, SLOPE_BITS, SLOPES
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import as_numbers, modulus_mask, products
from protocols.role import Role, together

_LEAST: Final = int(INTERCEPTS.min())
_INTERCEPT_BITS: Final = int(INTERCEPTS.max() - _LEAST).bit_length()
_HALF: Final = 1 << PIECES_BITS // 2


def _table() -> NDArray[np.bool_]:
    """Return the bits of each piece's line, slope first, the lowest first (`bits x high half x low half`)."""
    values = SLOPES | (INTERCEPTS - _LEAST) << SLOPE_BITS
    bits = values >> np.arange(SLOPE_BITS + _INTERCEPT_BITS)[:, None] & 1
    result: NDArray[np.bool_] = bits.astype(np.bool_).reshape(-1, _HALF, _HALF)
    return result


_TABLE: Final = _table()


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
    places = yield from _leading(gates, bits)
    weights = [1 << at for at in range(len(places))]
    line, powers = yield from together(_line(gates, places, bits), as_numbers(gates, places, weights, width))
    power, place = powers.sum(0, dtype=WORD), _place(places)
    slope, intercept = line[:SLOPE_BITS], line[SLOPE_BITS:]
    shifts = np.arange(SLOPE_BITS + len(place), dtype=WORD) + np.uint64(SCALE_BITS - SLOPE_BITS)
    by_number = numbers << shifts[:, None]
    by_power = np.uint64(0) - (power << np.arange(_INTERCEPT_BITS, dtype=WORD)[:, None])
    factors = np.concatenate([by_number, by_power])
    terms = yield from products(gates, np.concatenate([slope, place, intercept]), factors, width)
    result: Uint64s = (terms.sum(0, dtype=WORD) - np.uint64(_LEAST) * power) & modulus_mask(width)
    return result


def _leading(gates: Gates, bits: Uint64s) -> Role[Uint64s]:
    """Return for each place whether the leading one is there; nowhere in 0."""
    any_above, half = bits.copy(), 1  # at each place, whether it or one above, within its block, is 1
    while half < len(bits):
        pairs = [
            (top, below) for top in range(len(bits) - half, 0, -2 * half) for below in range(max(top - half, 0), top)
        ]
        top_of, low = np.array(pairs).T
        any_above[low] ^= any_above[top_of] ^ (yield from gates.both(any_above[top_of], any_above[low]))
        half *= 2
    return np.concatenate([any_above[:-1] ^ any_above[1:], any_above[-1:]])


def _place(places: Uint64s) -> Uint64s:
    """Return the bits of the place, from its hot wires."""
    width = max(1, (len(places) - 1).bit_length())
    hot = [[at for at in range(len(places)) if at >> bit & 1] for bit in range(width)]
    return np.stack([np.bitwise_xor.reduce(places[each], axis=0) for each in hot])


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


def _line(gates: Gates, places: Uint64s, bits: Uint64s) -> Role[Uint64s]:
    """Return the bits of slope and intercept of the piece that a number is in."""
    piece = yield from _piece(gates, places, bits)
    words = piece.shape[1]
    joint = yield from gates.both(piece[0::2], piece[1::2])
    pairs = np.stack([_four(gates, piece[2 * at], piece[2 * at + 1], both) for at, both in enumerate(joint)])
    low, high = pairs[0::2], pairs[1::2]  # of each half
    part = yield from gates.times(high[:, :3].reshape(6, words), np.repeat(low, 3, axis=0).transpose(1, 0, 2))
    rows = part.reshape(4, 2, 3, words)
    last = low.transpose(1, 0, 2) ^ np.bitwise_xor.reduce(rows, axis=2)
    hot = np.concatenate([rows, last[:, :, None]], axis=2).transpose(1, 2, 0, 3).reshape(2, _HALF, words)
    of_high = np.stack([[_some(hot[0], columns) for columns in of_bit] for of_bit in _TABLE])
    lines = yield from gates.times(hot[1, :-1], of_high[:, :-1] ^ of_high[:, -1:])
    result: Uint64s = of_high[:, -1] ^ np.bitwise_xor.reduce(lines, axis=1)
    return result


def _four(gates: Gates, low: Uint64s, high: Uint64s, both: Uint64s) -> Uint64s:
    """Return a hot wire for each value of two bits."""
    return np.stack([gates.flipped(low ^ high ^ both), low ^ both, high ^ both, both])


def _some(wires: Uint64s, chosen: NDArray[np.bool_]) -> Uint64s:
    """Return the sum of the chosen wires."""
    result: Uint64s = np.bitwise_xor.reduce(wires[chosen], axis=0, initial=np.uint64(0))
    return result
