"""The least of numbers that nobody sees, by a knockout: ties go to the first, and the barred ones lose."""

import numpy as np

from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import LANES, Gates
from protocols.oblivious.numbers import are_negative, as_numbers, modulus_mask, products
from protocols.role import Role, together


def least(gates: Gates, numbers: Uint64s, barred: Uint64s | None, width: int) -> Role[tuple[Uint64s, Uint64s]]:
    """Return shares of the place of the least number, and of whether it is barred, as all are then.

    Args:
        gates: Our part of the computation.
        numbers: Shares of them (`contestants x lanes`), any two of which differ by less than `2**(width - 1)`, or
            by half of it where some are barred.
        barred: Shares of which are barred (`contestants x words`); None for nobody.
        width: Of the numbers.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    count, words = len(numbers), numbers.shape[1] // LANES
    all_lanes = np.full(words, ~np.uint64(0)) if gates.first else np.zeros(words, WORD)
    place_bits = max(1, (count - 1).bit_length())
    strings: Uint64s = np.zeros(
        (1 + place_bits, count, words), WORD
    )  # what goes with a number: whether it is barred, its place
    for at in range(count):
        strings[[1 + bit for bit in range(place_bits) if at >> bit & 1], at] = all_lanes
    if barred is not None:
        strings[0] = barred
        numbers = numbers + (yield from as_numbers(gates, barred, [1 << width - 2] * count, width))
    while count > 1:
        pairs = count // 2
        one, other, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        behind = (numbers[other] - numbers[one]) & modulus_mask(width)
        wins = yield from are_negative(gates, behind, width)
        differing, count = strings[:, one] ^ strings[:, other], pairs + count % 2
        if count > 1:
            moved, more = yield from together(gates.times(wins, differing), products(gates, wins, behind, width))
            numbers = np.concatenate([numbers[one] + more, numbers[rest]])
        else:
            moved = yield from gates.times(wins, differing)
        strings = np.concatenate([strings[:, one] ^ moved, strings[:, rest]], axis=1)
    return strings[1:, 0], strings[0, 0]


def several(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
    """Return shares of whether two wires or more, along the first axis, are 1.

    Of two groups, each with a wire or more (`one`) and with two or more (`two`), all follow by one exchange.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: As `Gates.times`.
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
