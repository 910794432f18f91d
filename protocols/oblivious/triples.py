"""Products of random bits with random strings, as shares of both sides: what secret gates are made of.

A pair of random transfers, one each way, gives a triple (Beaver, CRYPTO 1991; by random transfers as Asharov, Lindell,
Schneider and Zohner, CCS 2013). With strings `m_0`, `m_1` of a transfer, of which the chooser of bit `a` has `m_a`:

    m_a = m_0 + a (m_0 + m_1)

so `m_a` and `m_0` are shares of the chooser's bit times the sender's string `m_0 + m_1`. With its choices as `a` and
its `m_0 + m_1` as `b` each side has, of both directions and its own `a b`, a share of `(a + a') (b + b')`. Nothing
crosses but choices.

*Functionality*: shares of random products; nothing is learned.
*Assumed*: what `extension` and `masks` assume.
*Deviations*: shares are not authenticated.
*Never again*: a triple serves one gate; two openings under one mask give their difference.
"""

from typing import Final

import numpy as np

from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.bits import bit_planes
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.session import Transfers
from protocols.randomness import Randomness
from protocols.role import Role

_LANES: Final = 64
_FEWEST: Final = 1 << 13
_AHEAD: Final = 1 << 15
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
        for start in range(0, words * _LANES, _MOST):  # a batch at a time: its transfers take 256 times as much memory
            dealt = yield from self.deal(min(_MOST, words * _LANES - start))
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
    widths = [min(_LANES, bits - start) for start in range(0, bits, _LANES)]
    return np.concatenate([bit_planes(strings[:, at], width) for at, width in enumerate(widths)])
