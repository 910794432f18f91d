"""Masks from the keys of transfers, one for every use of a key.

The tweakable hash of Guo, Katz, Wang and Yu (Efficient and secure multiparty computation from fixed-key block ciphers,
S&P 2020, section 7.4): `H(x, i) = p(p(x) + i) + p(x)`, `+` bit by bit, `p` the permutation of AES under a key of the
session. `p(x)` is formed once per key, and one block per use follows.

*Functionality*: for who lacks a key, which differs from a known one by a secret offset, its masks are uniform.
*Assumed*: AES as an ideal permutation, so that the hash is correlation robust for all tweaks at once.
*Deviations*: none; the tweak is the number of the transfer under its offset beside the number of the use.
*Never again*: no (offset, transfer, use) comes twice. Numbers of transfers only grow, in `extension`, over all pages of
a session; uses only grow, in `Uses`, and are dealt before any worker starts. Of what is masked twice by one mask the
difference is read.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protocols.oblivious.aes import Blocks, Uint64s, permute


@dataclass(frozen=True, eq=False, repr=False)
class Keys:
    """One key of each of some transfers.

    Args:
        fixed: The key of the session's permutation.
        numbers: Of each transfer under its offset.
        permuted: The permutation of each key.
    """

    fixed: bytes
    numbers: Uint64s
    permuted: Blocks

    def part(self, transfers: slice) -> "Keys":
        """Return the keys of these transfers."""
        return Keys(self.fixed, self.numbers[transfers], self.permuted[transfers])

    def masks(self, use: int) -> Blocks:
        """Return the mask of each key for the use of this number."""
        return _hashed(self.fixed, self.permuted, self.numbers, use)


def permute_keys(fixed: bytes, numbers: Uint64s, keys: Blocks) -> Keys:
    """Permute keys for all their uses."""
    return Keys(fixed, numbers, permute(fixed, keys))


def _hashed(fixed: bytes, permuted: Blocks, numbers: Uint64s, use: int) -> Blocks:
    tweaked = permuted.copy()
    tweaked[:, 0] ^= numbers
    tweaked[:, 1] ^= np.uint64(use)
    return permute(fixed, tweaked) ^ permuted


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
    """Both keys of some transfers, as their sender has them."""

    zero: Keys
    one: Keys
    uses: Uses = field(default_factory=Uses)

    def __len__(self) -> int:
        return len(self.zero.numbers)

    def strings(self, blocks: int) -> tuple[Uint64s, Uint64s]:
        """Return two random strings of so many blocks for each transfer: random transfers, without a message."""
        uses = self.uses.deal(blocks)
        zeros, ones = ([keys.masks(use) for use in uses] for keys in (self.zero, self.one))
        return np.concatenate(zeros, axis=1), np.concatenate(ones, axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ChosenKeys:
    """The chosen key of some transfers, as their chooser has it."""

    choices: NDArray[np.bool_]
    keys: Keys
    uses: Uses = field(default_factory=Uses)

    def __len__(self) -> int:
        return len(self.choices)

    def strings(self, blocks: int) -> Uint64s:
        """Return the chosen one of the sender's two strings for each transfer."""
        return np.concatenate([self.keys.masks(use) for use in self.uses.deal(blocks)], axis=1)
