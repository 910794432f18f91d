"""Bits of which each side has one share, and what is computed of them while nobody sees them.

Goldreich, Micali and Wigderson (STOC 1987), with triples made ahead (Beaver, CRYPTO 1991). A *wire* is an array of
words, each of 64 lanes: the same circuit runs in all lanes at once. A *number* is an array of wires, its lowest bit
first, along the first axis. A bit is the sum of both shares. Sums of bits are free; a bit times a string costs one
triple, whatever the string's length: one transfer each way. Many numbers of one side are compared with those of the
other by a ripple, which costs fewest transfers, and one exchange per bit; all else is by prefixes (`numbers`).

*Functionality*: any circuit, of which only what is opened is learned.
*Assumed*: what `extension` and `masks` assume; both sides follow the protocol.
*Deviations*: shares are not authenticated: who deviates may flip any bit before it is opened, and with it what follows.
*Never again*: a triple serves one gate: two openings under one mask give their difference.

A triple, a random bit times a random string as shares, comes of a pair of random transfers, one each way (Asharov,
Lindell, Schneider and Zohner, CCS 2013). With strings `m_0`, `m_1`, of which the chooser of bit `a` has `m_a`:

    m_a = m_0 + a (m_0 + m_1)

so `m_a` and `m_0` are shares of the chooser's bit times the sender's string `m_0 + m_1`. With its choices as `a` and
its `m_0 + m_1` as `b` each side has, of both directions and its own `a b`, a share of `(a + a') (b + b')`. Nothing
crosses but choices.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from protocols.errors import PeerError
from protocols.messages import MaskedPage, OpenedPage
from protocols.oblivious.bits import WORD, Uint64s, bit_planes
from protocols.oblivious.extension import Transfers
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.randomness import Randomness
from protocols.role import Role, exchange

LANES: Final = 64
_FEWEST: Final = 1 << 13
_AHEAD: Final = 1 << 16
"""How many are made at most where fewer are wanted: what is left over at the end is lost, each batch is an exchange."""
_MOST: Final = 1 << 17
_USE_BITS: Final = 128

Triple = tuple[Uint64s, Uint64s, Uint64s]
"""Shares of bits, of strings (`bits x words`) and of their products; a word has 64 lanes."""


class Triples:
    """Deals random transfers of one session, each once, and makes more when too few are left: a batch both ways.

    Discloses: nothing; choices are hidden, and random.
    """

    def __init__(self, transfers: Transfers, randomness: Randomness) -> None:
        self._transfers, self._randomness = transfers, randomness
        self._batch, self._left = _FEWEST, list[tuple[ChosenKeys, BothKeys]]()

    def take(self, words: int, bits: int) -> Role[Triple]:
        """Return triples for this many words of lanes, with strings of this many bits."""
        parts: list[Triple] = []
        for start in range(0, words * LANES, _MOST):  # a batch at a time: its transfers take 256 times as much memory
            dealt = yield from self.deal(min(_MOST, words * LANES - start))
            parts += [_triple(chosen, pairs, bits) for chosen, pairs in dealt]
        first, strings, products = zip(*parts, strict=True)
        return np.concatenate(first), np.concatenate(strings, 1), np.concatenate(products, 1)

    def deal(self, count: int) -> Role[list[tuple[ChosenKeys, BothKeys]]]:
        """Return a multiple of 64 transfers each way, of random choices, in one part or several."""
        dealt = []
        while count:
            if not self._left:
                yield from self._make(max(min(count, _MOST), self._batch))
                self._batch = min(2 * self._batch, _AHEAD)
            chosen, pairs = self._left.pop()
            if len(pairs) > count:
                rest = slice(count, None)
                self._left.append((chosen.part(rest), pairs.part(rest)))
                chosen, pairs = chosen.part(slice(count)), pairs.part(slice(count))
            dealt.append((chosen, pairs))
            count -= len(pairs)
        return dealt

    def _make(self, count: int) -> Role[None]:
        drawn = self._randomness.randbelow(1 << count).to_bytes(count // 8, "little")
        choices = np.unpackbits(np.frombuffer(drawn, np.uint8), bitorder="little").astype(np.bool_)
        (chosen,) = yield from self._transfers.chooser.extend([choices])
        (pairs,) = yield from self._transfers.sender.extend([count])
        self._left.append((chosen, pairs))


def _triple(chosen: ChosenKeys, pairs: BothKeys, bits: int) -> Triple:
    uses = -(-bits // _USE_BITS)
    first = np.packbits(chosen.choices, bitorder="little").view(WORD)
    got = _planes(chosen.strings(uses), bits)
    zero, one = (_planes(strings, bits) for strings in pairs.strings(uses))
    strings = zero ^ one
    return first, strings, first & strings ^ got ^ zero


def _planes(strings: Uint64s, bits: int) -> Uint64s:
    """Return the first bits of each string, bit by bit (`bits x words`)."""
    widths = [min(LANES, bits - start) for start in range(0, bits, LANES)]
    return np.concatenate([bit_planes(strings[:, at], width) for at, width in enumerate(widths)])


_PAGE_WORDS: Final = 1 << 17
_ONES: Final = ~np.uint64(0)


@dataclass(frozen=True, eq=False, repr=False)
class Gates:
    """One side's part of a computation; `first`, of one side alone, adds what is public to its share.

    Discloses: nothing but what `opened` and `total` open.
    """

    first: bool
    transfers: Transfers
    triples: Triples

    def ours(self, wires: Uint64s, *, mine: bool) -> Uint64s:
        """Return shares of what one side alone knows: `mine`, or the peer's (zeros of the same shape)."""
        return wires if mine else np.zeros_like(wires)

    def flipped(self, wires: Uint64s) -> Uint64s:
        """Return shares of the other bits."""
        return wires ^ _ONES if self.first else wires

    def times(self, bits: Uint64s, strings: Uint64s) -> Role[Uint64s]:
        """Return shares of products: of each bit with the string of its lane, whose bits go along a first axis more."""
        size = bits.size
        random, random_strings, products = yield from self.triples.take(size, len(strings))
        masked = np.concatenate([bits.reshape(1, size) ^ random, strings.reshape(-1, size) ^ random_strings])
        both = masked ^ (yield from exchanged(MaskedPage, masked))
        bit, string = both[:1], both[1:]
        result: Uint64s = products ^ (bit & random_strings) ^ (string & random)
        if self.first:
            result ^= bit & string
        return result.reshape(strings.shape)

    def both(self, left: Uint64s, right: Uint64s) -> Role[Uint64s]:
        """Return shares of `left and right`, wire by wire, of any shape."""
        product: Uint64s = (yield from self.times(left, right[None]))[0]
        return product

    def all_of(self, wires: Uint64s) -> Role[Uint64s]:
        """Return shares of whether all are 1, along the first axis: one triple less than there are wires."""
        while len(wires) > 1:
            half = len(wires) // 2
            joined = yield from self.both(wires[:half], wires[half : 2 * half])
            wires = np.concatenate([joined, wires[2 * half :]])
        every: Uint64s = wires[0]
        return every

    def equal(self, left: Uint64s, right: Uint64s) -> Role[Uint64s]:
        """Return shares of whether two numbers are the same."""
        return (yield from self.all_of(self.flipped(left ^ right)))

    def less(self, left: Uint64s, right: Uint64s) -> Role[Uint64s]:
        """Return shares of whether one number is below another of the same length."""
        borrow: Uint64s = np.zeros_like(left[0])
        for one, other in zip(left, right, strict=True):
            borrow = borrow ^ (yield from self.both(self.flipped(one) ^ borrow, other ^ borrow))
        return borrow

    def chosen(self, bit: Uint64s, one: Uint64s, zero: Uint64s) -> Role[Uint64s]:
        """Return shares of `one` where the bit is 1, else of `zero`."""
        differing: Uint64s = yield from self.times(bit, one ^ zero)
        return zero ^ differing

    def ones(self, wire: Uint64s, width: int) -> Role[int]:
        """Return our summand, modulo `2**width`, of how many lanes of a wire are 1.

        Each lane's bit is `x + y - 2 x y` of both shares; the product is one transfer (`products`).
        """
        own = np.unpackbits(np.ascontiguousarray(wire).view(np.uint8), bitorder="little").astype(np.bool_)
        products = SummedShares([(len(own), [width])])
        if self.first:
            (pairs,) = yield from self.transfers.sender.extend([len(own)])
            yield from send_products([(pairs, [width], bits_as_numbers([own], [width]))], products)
        else:
            (chosen,) = yield from self.transfers.chooser.extend([own])
            yield from receive_products([(chosen, [width])], products)
        return (int(own.sum()) - 2 * products.shares[0][0]) % (1 << width)

    def total(self, share: int, width: int) -> Role[int]:
        """Return the number of which each side has a summand, modulo `2**width`: it is opened."""
        theirs = yield from exchanged(OpenedPage, np.array([share], WORD))
        return (share + int(theirs[0])) % (1 << width)

    def opened(self, wires: Uint64s) -> Role[Uint64s]:
        """Return what wires are: they are opened."""
        theirs: Uint64s = yield from exchanged(OpenedPage, wires)
        return wires ^ theirs


def exchanged(kind: type[MaskedPage] | type[OpenedPage], own: Uint64s) -> Role[Uint64s]:
    """Exchange arrays of one shape, page by page.

    Discloses: our array, which is masked, or is a share that shall be opened.
    """
    flat, parts = np.ascontiguousarray(own, WORD).reshape(-1), []
    for start in range(0, len(flat), _PAGE_WORDS):
        data = flat[start : start + _PAGE_WORDS].tobytes()
        theirs = (yield from exchange(kind(data))).words
        if len(theirs) != len(data):
            raise PeerError("the peer sent shares of another length")
        parts.append(np.frombuffer(theirs, WORD))
    return np.concatenate(parts).reshape(own.shape)
