"""Numbers in summands: products, bits, signs and limits are those of the sums, whatever the summands."""

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protocols.oblivious.bits import bit_planes, plane_words
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import (
    are_negative,
    as_numbers,
    bits_of_lanes,
    filled,
    modulus_mask,
    not_below,
    products,
    summand_bits,
    wires_of,
    without_last_bits,
)
from protocols.role import Role, run_pair
from tests.protocols.oblivious.test_gates import SEEDS, SLOW, Words, drawn, sides

WIDTHS = st.integers(2, 40)


def summed(circuit: Callable[[Gates, Words], Role[Words]], numbers: Words, seed: int) -> tuple[Words, Words]:
    """Share numbers, play a circuit at both sides, and return what each side has."""
    one, other = sides()
    masks = drawn(seed, *numbers.shape)
    return run_pair(circuit(one, masks), circuit(other, numbers - masks))


def in_bits(circuit: Callable[[Gates, Words], Role[Words]], numbers: Words, seed: int) -> Words:
    left, right = summed(circuit, numbers, seed)
    return left ^ right


@SLOW
@given(SEEDS, WIDTHS)
def test_bits_signs_and_limits_are_those_of_the_sum(seed: int, width: int) -> None:
    numbers = drawn(seed, 128) & modulus_mask(width)
    numbers[:3] = 0, 1, int(modulus_mask(width))
    least = int(numbers[5])
    bits = in_bits(lambda side, own: summand_bits(side, own, width), numbers, seed)
    assert (plane_words(bits) == numbers).all()
    signs = in_bits(lambda side, own: are_negative(side, own, width), numbers, seed)
    assert (bits_of_lanes(signs) == (numbers >> np.uint64(width - 1)).astype(bool)).all()
    planes = bit_planes(numbers, width)
    for limit in (least, 0, 1 << width):
        large = in_bits(lambda side, _: not_below(side, side.ours(planes, mine=side.first), limit), numbers, seed)  # noqa: B023
        assert (bits_of_lanes(large) == (numbers >= np.uint64(limit))).all()


@SLOW
@given(SEEDS, st.integers(1, 64))
def test_bits_times_numbers_are_the_numbers_where_bits_are_one(seed: int, width: int) -> None:
    wires, numbers = drawn(seed, 3, 2), drawn(seed + 1, 128) & modulus_mask(width)

    def multiplied(side: Gates, own: Words) -> Role[Words]:
        return (yield from products(side, side.ours(wires, mine=not side.first), own, width))

    left, right = summed(multiplied, numbers, seed)
    assert ((left + right & modulus_mask(width)) == np.where(bits_of_lanes(wires), numbers, 0)).all()

    def weighted(side: Gates, own: Words) -> Role[Words]:
        return (yield from as_numbers(side, own[:6].reshape(3, 2), [1, 2, 3], width))

    shared = drawn(seed + 2, 128)
    one, other = sides()
    left, right = run_pair(weighted(one, shared), weighted(other, shared ^ numbers))
    wanted = bits_of_lanes(numbers[:6].reshape(3, 2)) * np.array([[1], [2], [3]], np.uint64)
    assert ((left + right & modulus_mask(width)) == wanted & modulus_mask(width)).all()


def test_lanes_are_filled_up_with_zeros() -> None:
    assert filled(np.ones((2, 65), np.uint64)).sum(axis=1).tolist() == [65, 65]
    assert filled(np.ones((2, 65), np.uint64)).shape == (2, 128)
    bits = np.ones((3, 70), bool)
    assert wires_of(bits).shape == (3, 2)
    assert bits_of_lanes(wires_of(bits)).sum() == 210


@SLOW
@given(SEEDS, st.integers(2, 64), st.data())
def test_numbers_without_their_last_bits_are_what_a_shift_leaves(seed: int, width: int, data: st.DataObject) -> None:
    dropped, new = data.draw(st.integers(1, width - 1)), data.draw(st.integers(1, 64))
    numbers = drawn(seed, 64) & modulus_mask(width)
    numbers[:2] = 0, int(modulus_mask(width))
    one, other = sides()
    masks = drawn(seed + 1, 64)
    masks[2:4] = 0, int(modulus_mask(width))

    def play(side: Gates, own: Words) -> Role[Words]:
        return (yield from without_last_bits(side, own & modulus_mask(width), width, dropped, new))

    left, right = run_pair(play(one, masks), play(other, numbers - masks))
    assert ((left + right & modulus_mask(new)) == (numbers >> np.uint64(dropped) & modulus_mask(new))).all()
