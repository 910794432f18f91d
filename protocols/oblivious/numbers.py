"""Whole numbers of which each side has a summand, beside bits of which each has one (`oblivious.gates`).

A bit `x + y - 2 x y`, of which one side has `x` and the other `y`, times a number `a + b`: each summand times the bit
is one product of the other's bit with a number of its own (Gilboa, CRYPTO 1999), so one transfer each way, whose
corrections cross together with where bits differ from random choices: one exchange. Carries
are formed by parallel prefixes (Sklansky 1960; Schneider and Zohner, FC 2013, on depth against size): exchanges grow as
the logarithm of the bits.

*Functionality*: shares of products, bits and signs; nothing is learned.
*Assumed, deviations, never again*: as `products` and `gates`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.messages import MaskedPage
from protocols.oblivious.bits import WORD, Uint64s, bit_planes, plane_words
from protocols.oblivious.gates import LANES, Gates, exchanged
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.role import Role, together


def modulus_mask(width: int) -> np.uint64:
    """Return the bits that numbers of this width have."""
    return np.uint64((1 << width) - 1)


def bits_of_lanes(wires: Uint64s) -> NDArray[np.bool_]:
    """Return the bit of each lane: the last axis has a bit for each, where it had a word for 64."""
    return np.unpackbits(np.ascontiguousarray(wires).view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)


def filled(numbers: Uint64s) -> Uint64s:
    """Fill the lanes of numbers up with zeros, to whole words."""
    lanes = -(-numbers.shape[-1] // LANES) * LANES
    result = np.zeros((*numbers.shape[:-1], lanes), WORD)
    result[..., : numbers.shape[-1]] = numbers
    return result


def wires_of(bits: NDArray[np.bool_]) -> Uint64s:
    """Return wires of these lanes, filled up with zeros: a word for 64, where there was a bit for each."""
    packed = np.packbits(bits, axis=-1, bitorder="little")
    wires = np.zeros((*bits.shape[:-1], -(-packed.shape[-1] // 8) * 8), np.uint8)
    wires[..., : packed.shape[-1]] = packed
    return wires.view(WORD)


def products(gates: Gates, bits: Uint64s, numbers: Uint64s, width: int) -> Role[Uint64s]:
    """Return shares of each bit (`... x words`) times the number of its lane (`... x lanes`), modulo `2**width`.

    Discloses: nothing; what crosses is masked.
    """
    own, mask = bits_of_lanes(bits).reshape(-1), modulus_mask(width)
    values = np.broadcast_to(numbers, (*bits.shape[:-1], bits.shape[-1] * LANES)).reshape(-1)
    factors = np.where(own, np.uint64(0) - values, values)
    dealt = [_strings(*part) for part in (yield from gates.triples.deal(len(own)))]
    choices, got, zero, one = (np.concatenate(part) for part in zip(*dealt, strict=True))
    flipped = choices ^ own
    masked = np.concatenate([wires_of(flipped)[None], bit_planes(zero - one + factors, width)])
    theirs = yield from exchanged(MaskedPage, masked)
    result = np.where(own, values, np.uint64(0))
    result += np.where(bits_of_lanes(theirs[0]), factors + zero, np.uint64(0) - zero)
    received = got + np.where(choices, plane_words(theirs[1:]), np.uint64(0))
    result += np.where(flipped, np.uint64(0) - received, received)
    return (result & mask).reshape(*bits.shape[:-1], -1)


def _strings(chosen: ChosenKeys, pairs: BothKeys) -> tuple[NDArray[np.bool_], Uint64s, Uint64s, Uint64s]:
    """Return our choices, a word for each of them, and both words that the peer chooses from.

    Choices are random, so each side shows where its bits differ from them, which hides the bits; there a product `c V`
    of the choice becomes `V - c V`.
    """
    zeros, ones = pairs.strings(1)
    return chosen.choices, chosen.strings(1)[:, 0], zeros[:, 0], ones[:, 0]


def as_numbers(gates: Gates, bits: Uint64s, weights: Sequence[int], width: int) -> Role[Uint64s]:
    """Return shares of bits as numbers 0 or their weight, modulo `2**width` (`bits x lanes`).

    Discloses: nothing; what crosses is masked.
    """
    shape = (*bits.shape[:-1], bits.shape[-1] * LANES)
    factors = np.broadcast_to(np.array(weights, WORD)[:, None], shape)
    return (yield from products(gates, bits, factors if gates.first else np.zeros(shape, WORD), width))


def summand_bits(gates: Gates, numbers: Uint64s, width: int) -> Role[Uint64s]:
    """Return shares of the bits of numbers (`width x words`), in about `log2 width` exchanges.

    Discloses: nothing; what crosses is masked.
    """
    own = bit_planes(numbers, width)
    made, passed, pairs = own.copy(), own.copy(), width - width % 2
    if not pairs:
        return own
    made[0:pairs:2], made[1:pairs:2], passed[1:pairs:2] = yield from _pairs(gates, own[:pairs])
    carries = yield from _carries(gates, made[:-1], passed[:-1])
    return np.concatenate([own[:1], own[1:] ^ carries])


def _pairs(gates: Gates, own: Uint64s) -> Role[tuple[Uint64s, Uint64s, Uint64s]]:
    """Return of each two places of both summands what the lower makes, what both make, and whether both pass it on.

    All three are sums of products of something that one side knows with something that the other knows: one exchange.
    """
    low, high = own[0::2], own[1::2]
    every, nothing = low & high, np.zeros_like(low)
    bits = gates.ours(np.stack([high, low, every]), mine=gates.first)
    strings = np.stack([[nothing, low, nothing], [high, every, low], [low, high, nothing]])
    moved = yield from gates.times(bits, gates.ours(strings, mine=not gates.first))
    alone, made, passed = np.bitwise_xor.reduce(moved, axis=1)
    return alone, made, passed ^ every


def _carries(gates: Gates, made: Uint64s, passed: Uint64s) -> Role[Uint64s]:
    """Return what goes out of each place, from what it makes and whether it passes a carry on; of pairs it is known."""
    made, passed, half = made.copy(), passed.copy(), 2
    while half < len(made):
        pairs = [
            (low, high)
            for low in range(half - 1, len(made) - 1, 2 * half)
            for high in range(low + 1, min(low + 1 + half, len(made)))
        ]
        low_of, high = np.array(pairs).T
        through = yield from gates.times(passed[high], np.stack([made[low_of], passed[low_of]]))
        made[high] ^= through[0]
        passed[high] = through[1]
        half *= 2
    return made


def last_carry(gates: Gates, made: Uint64s, passed: Uint64s) -> Role[Uint64s]:
    """Return shares of what goes out of the highest place, from what each makes and whether it passes a carry on.

    Discloses: nothing; what crosses is masked.
    """
    return (yield from _as_one_place(gates, made, passed))[0]


def _as_one_place(gates: Gates, made: Uint64s, passed: Uint64s) -> Role[tuple[Uint64s, Uint64s]]:
    """Return what goes out of the highest place, and whether all together pass on what goes into the lowest."""
    while len(made) > 1:
        odd = len(made) % 2
        low, high = slice(odd, None, 2), slice(odd + 1, None, 2)
        through = yield from gates.times(passed[high], np.stack([made[low], passed[low]]))
        made = np.concatenate([made[:odd], made[high] ^ through[0]])
        passed = np.concatenate([passed[:odd], through[1]])
    return made[0], passed[0]


def _of_summands(gates: Gates, own: Uint64s) -> Role[tuple[Uint64s, Uint64s]]:
    """Return the same of places of both summands."""
    if len(own) % 2:
        own = np.concatenate([gates.flipped(np.zeros_like(own[:1])), own])  # a place that makes nothing and passes all
    _, made, passed = yield from _pairs(gates, own)
    return (yield from _as_one_place(gates, made, passed))


def without_last_bits(gates: Gates, numbers: Uint64s, width: int, dropped: int, new_width: int) -> Role[Uint64s]:
    """Return shares of numbers (a multiple of 64) without their last bits, fewer than `width`, modulo `2**new_width`.

    Both summands lose theirs; what these carry over is added, and what the summands have beyond `width` taken off.

    Discloses: nothing; what crosses is masked.
    """
    own = bit_planes(numbers, width)
    (carried, _), (over, passes) = yield from together(
        _of_summands(gates, own[:dropped]), _of_summands(gates, own[dropped:])
    )
    over = over ^ (yield from gates.both(passes, carried))
    more, less = yield from as_numbers(gates, np.stack([carried, over]), [1, 1 << width - dropped], new_width)
    result: Uint64s = ((numbers >> np.uint64(dropped)) + more - less) & modulus_mask(new_width)
    return result


def are_negative(gates: Gates, numbers: Uint64s, width: int) -> Role[Uint64s]:
    """Return shares of the highest bit of numbers (`... x lanes`).

    Discloses: nothing; what crosses is masked.
    """
    own = bit_planes(numbers.reshape(-1), width)
    carried, _ = yield from _of_summands(gates, own[:-1])
    highest: Uint64s = own[-1] ^ carried
    return highest.reshape(*numbers.shape[:-1], -1)


def not_below(gates: Gates, bits: Uint64s, least: int) -> Role[Uint64s]:
    """Return shares of whether numbers, given by their bits, are no smaller than a public one.

    Discloses: nothing; what crosses is masked.
    """
    width = len(bits)
    if least <= 0:
        return gates.flipped(np.zeros_like(bits[0]))
    if least >> width:
        return np.zeros_like(bits[0])
    added = (1 << width) - least
    places = [bool(added >> at & 1) for at in range(width)]
    made = np.stack([bit if place else np.zeros_like(bit) for bit, place in zip(bits, places, strict=True)])
    passed = np.stack([gates.flipped(bit) if place else bit for bit, place in zip(bits, places, strict=True)])
    return (yield from last_carry(gates, made, passed))
