"""Masks from the keys of transfers, one for every use of a key.

The tweakable hash of Guo, Katz, Wang and Yu (Efficient and secure multiparty computation from fixed-key block ciphers,
S&P 2020, section 7.4): `H(x, i) = p(p(x) + i) + p(x)`, `+` bit by bit, `p` the permutation of AES under a key of the
session. `p(x)` is formed once for uses that are asked for together, and not kept.

*Functionality*: for who lacks a key, which differs from a known one by a secret offset, its masks are uniform.
*Assumed*: AES as an ideal permutation, so that the hash is correlation robust for all tweaks at once.
*Deviations*: none; the tweak is the number of the transfer under its offset beside the number of the use.
*Never again*: no (offset, transfer, use) comes twice. Numbers of transfers only grow, in `extension`, over all pages of
a session; uses only grow, in `Uses`, and are dealt before any worker starts. Of what is masked twice by one mask the
difference is read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from protocols.oblivious.aes import Blocks, permute
from protocols.oblivious.bits import WORD, Uint64s


@dataclass(frozen=True)
class Numbering:
    """Numbers of consecutive transfers of a batch under its offset: of each page some, `spared`, are used by nobody.

    `first` is the batch's, `start` the place in it of the first transfer.
    """

    first: int
    page: int
    spared: int
    start: int = 0

    def numbers(self, places: range) -> Uint64s:
        """Return the numbers of the transfers at these places, counted from the first one."""
        start = self.start + places.start
        numbers = np.arange(start, start + len(places), dtype=WORD)
        numbers += np.uint64(self.first + start // self.page * self.spared)
        for next_page in range(self.page - start % self.page, len(places), self.page):
            numbers[next_page:] += np.uint64(self.spared)
        return numbers


@dataclass(frozen=True, eq=False, repr=False)
class Keys:
    """One key of each of some transfers, a block each; `fixed` is that of the session's permutation."""

    fixed: bytes
    numbering: Numbering
    keys: Blocks

    def part(self, transfers: slice) -> "Keys":
        """Return the keys of some consecutive transfers."""
        first = range(len(self.keys))[transfers].start
        return Keys(self.fixed, replace(self.numbering, start=self.numbering.start + first), self.keys[transfers])

    def masks(self, uses: Iterable[int], offset: Blocks | None = None) -> Iterator[Blocks]:
        """Yield the masks of the keys, or of keys that differ from them by an offset, for each of these uses."""
        others = None if offset is None else np.tile(offset, (len(self.keys), 1))
        permuted = permute(self.fixed, self.keys if others is None else self.keys ^ others)
        numbers = self.numbering.numbers(range(len(self.keys)))
        return (_hashed(self.fixed, permuted, numbers, use) for use in uses)


def _hashed(fixed: bytes, permuted: Blocks, numbers: Uint64s, use: int) -> Blocks:
    tweaked = np.empty_like(permuted)
    np.bitwise_xor(permuted[:, 0], numbers, out=tweaked[:, 0])
    np.bitwise_xor(permuted[:, 1], np.uint64(use), out=tweaked[:, 1])
    masks = permute(fixed, tweaked)
    masks ^= permuted
    return masks


@dataclass
class Uses:
    """Deals numbers of uses, each once."""

    dealt: int = 0

    def deal(self, count: int) -> range:
        """Return the next numbers."""
        start, self.dealt = self.dealt, self.dealt + count
        return range(start, self.dealt)


@dataclass(frozen=True, eq=False, repr=False)
class BothKeys:
    """Both keys of some transfers, as their sender has them: they differ by its offset."""

    zero: Keys
    offset: Blocks
    uses: Uses = field(default_factory=Uses)

    def __len__(self) -> int:
        return len(self.zero.keys)

    def part(self, transfers: slice) -> "BothKeys":
        """Return those of some consecutive transfers, none of them used: it deals uses of its own."""
        return BothKeys(self.zero.part(transfers), self.offset)

    def masks(self, uses: Iterable[int]) -> Iterator[tuple[Blocks, Blocks]]:
        """Yield the masks of both keys for each of these uses."""
        uses = tuple(uses)
        return zip(self.zero.masks(uses), self.zero.masks(uses, self.offset), strict=True)

    def strings(self, blocks: int) -> tuple[Uint64s, Uint64s]:
        """Return two random strings of this many blocks for each transfer: random transfers, without a message."""
        zeros, ones = zip(*self.masks(self.uses.deal(blocks)), strict=True)
        return np.concatenate(zeros, axis=1), np.concatenate(ones, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ChosenKeys:
    """The chosen key of some transfers, as their chooser has it."""

    choices: NDArray[np.bool_]
    chosen: Keys
    uses: Uses = field(default_factory=Uses)

    def __len__(self) -> int:
        return len(self.choices)

    def part(self, transfers: slice) -> "ChosenKeys":
        """Return those of some consecutive transfers, none of them used: it deals uses of its own."""
        return ChosenKeys(self.choices[transfers], self.chosen.part(transfers))

    def masks(self, uses: Iterable[int]) -> Iterator[Blocks]:
        """Yield the masks of the chosen key for each of these uses."""
        return self.chosen.masks(uses)

    def strings(self, blocks: int) -> Uint64s:
        """Return the chosen one of the sender's two strings for each transfer."""
        return np.concatenate(list(self.masks(self.uses.deal(blocks))), axis=1)
