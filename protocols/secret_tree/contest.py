"""The least of numbers that nobody sees, by a knockout: ties go to the first, and the barred ones lose."""

import numpy as np
from numpy.typing import NDArray

from protocols.oblivious.bits import Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import (
    are_negative,
    as_numbers,
    bits_of_lanes,
    filled,
    modulus_mask,
    products,
    wires_of,
)
from protocols.role import Role, together


def least(
    gates: Gates, numbers: Uint64s, barred: NDArray[np.bool_] | None, width: int
) -> Role[tuple[Uint64s, Uint64s]]:
    """Return shares of the place of the least number, and of whether it is barred, as all are then.

    Any two numbers (`contestants x contests`) differ by less than `2**(width - 1)`, or by half of it where some are
    barred.

    Discloses: nothing; what crosses is masked.
    """
    count, contests = numbers.shape
    place_bits = max(1, (count - 1).bit_length())
    strings = np.zeros((1 + place_bits, count, contests), np.bool_)  # with a number: whether it is barred, its place
    strings[1:] = gates.first & (np.arange(count) >> np.arange(place_bits)[:, None] & 1).astype(np.bool_)[..., None]
    if barred is not None:
        strings[0] = barred
        above = yield from as_numbers(gates, wires_of(barred.reshape(1, -1)), [1 << width - 2], width)
        numbers = numbers + above[0, : numbers.size].reshape(numbers.shape)
    while count > 1:
        pairs = count // 2
        one, other, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        behind = filled(((numbers[other] - numbers[one]) & modulus_mask(width)).reshape(-1))
        wins = yield from are_negative(gates, behind, width)
        differing = wires_of((strings[:, one] ^ strings[:, other]).reshape(len(strings), -1))
        count = pairs + count % 2
        if count > 1:
            moved, more = yield from together(gates.times(wins, differing), products(gates, wins, behind, width))
            more = more[: pairs * contests].reshape(pairs, contests)
            numbers = np.concatenate([numbers[one] + more, numbers[rest]])
        else:
            moved = yield from gates.times(wins, differing)
        by = bits_of_lanes(moved)[:, : pairs * contests].reshape(-1, pairs, contests)
        strings = np.concatenate([strings[:, one] ^ by, strings[:, rest]], axis=1)
    wires = wires_of(strings[:, 0])
    return wires[1:], wires[0]


def several(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
    """Return shares of whether two wires or more, along the first axis, are 1.

    Of two groups, each with a wire or more (`one`) and with two or more (`two`), all follow by one exchange.

    Discloses: nothing; what crosses is masked.
    """
    one, two = wires, np.zeros_like(wires)
    while len(one) > 1:
        odd = len(one) % 2
        left, right = slice(odd, None, 2), slice(odd + 1, None, 2)
        bits = np.stack([one[left], two[left]])
        strings = np.stack([np.stack([one[right], one[right]]), np.stack([two[right], np.zeros_like(two[right])])])
        (both, at_left), (at_right, _) = yield from gates.times(bits, strings)
        two = np.concatenate([two[:odd], two[left] ^ two[right] ^ both ^ at_left ^ at_right])
        one = np.concatenate([one[:odd], one[left] ^ one[right] ^ both])
    result: Uint64s = two[0]
    return result
