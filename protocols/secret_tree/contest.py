"""The least of numbers that nobody sees, by a knockout: ties go to the first, and the barred ones lose."""

import numpy as np

from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import are_negative, modulus_mask, products
from protocols.role import Role, together


def least(gates: Gates, numbers: Uint64s, barred: Uint64s, width: int) -> Role[tuple[Uint64s, Uint64s]]:
    """Return shares of the place of the least number, and of whether it is barred, as all are then.

    Args:
        gates: Our part of the computation.
        numbers: Shares of them (`contestants x lanes`), any two of which differ by less than `2**(width - 1)`.
        barred: Shares of which are barred (`contestants x words`).
        width: Of the numbers.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
    """
    count, words = barred.shape
    all_lanes = np.full(words, ~np.uint64(0)) if gates.first else np.zeros(words, WORD)
    place_bits = max(1, (count - 1).bit_length())
    places = np.stack(
        [[all_lanes if at >> bit & 1 else 0 * all_lanes for at in range(count)] for bit in range(place_bits)]
    )
    while count > 1:
        pairs = count // 2
        one, other, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        behind = (numbers[other] - numbers[one]) & modulus_mask(width)
        below = yield from are_negative(gates, behind, width)
        differ = barred[one] ^ barred[other]
        wins = below ^ (yield from gates.both(differ, below ^ barred[one]))
        strings = np.concatenate([differ[None], places[:, one] ^ places[:, other]])
        if pairs + count % 2 > 1:
            moved, more = yield from together(gates.times(wins, strings), products(gates, wins, behind, width))
            numbers = np.concatenate([numbers[one] + more, numbers[rest]])
        else:
            moved = yield from gates.times(wins, strings)
        places = np.concatenate([places[:, one] ^ moved[1:], places[:, rest]], axis=1)
        barred = np.concatenate([barred[one] ^ moved[0], barred[rest]])
        count = pairs + count % 2
    return places[:, 0], barred[0]


def several(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
    """Return shares of whether two wires or more, along the first axis, are 1.

    Discloses: nothing; what crosses is masked.

    Raises:
        PeerError: As `Gates.times`.
    """
    one: Uint64s = wires[0]
    two: Uint64s = np.zeros_like(one)
    for wire in wires[1:]:
        with_one, with_two = yield from gates.times(wire, np.stack([one, one ^ two]))
        one, two = one ^ wire ^ with_one, two ^ with_two
    return two
