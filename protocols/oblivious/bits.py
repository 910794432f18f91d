"""Words of 64 bits: matrices of bits, bits packed closely, and numbers of a few bits side by side (lanes).

A block of 64 x 64 bits is transposed by exchanging halves of words, then quarters, down to single bits (Warren,
Hacker's Delight, section 7-3): six masked shifts for any number of blocks side by side, of half as many words at each
of the first where numbers have so few bits. Lanes are added and subtracted
at once, each modulo its own power of two: the highest bit of each is set aside, so that no carry leaves it (2-18).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError

Bytes = NDArray[np.uint8]
Uint64s = NDArray[np.uint64]
"""Words of 64 bits, little-endian as they cross."""
WORD: Final = np.dtype("<u8")

_SIDE: Final = 64
_MASKS: Final = tuple(
    (step, np.uint64(sum(((1 << step) - 1) << start for start in range(0, _SIDE, 2 * step))))
    for step in (32, 16, 8, 4, 2, 1)
)
_AT_ONCE: Final = 512
"""Blocks side by side in the cache."""


def transposed(words: Uint64s) -> Uint64s:
    """Transpose the bits of each 64 words along the next to last axis: bit `j` of word `i` is bit `i` of word `j`."""
    result = words.copy()
    for step, mask in _MASKS:
        _exchange(result, step, mask)
    return result


def _exchange(words: Uint64s, step: int, mask: np.uint64) -> None:
    pairs = words.reshape(*words.shape[:-2], -1, 2, step, words.shape[-1])
    low, high, shift = pairs[..., 0, :, :], pairs[..., 1, :, :], np.uint64(step)
    swapped = low >> shift
    swapped ^= high
    swapped &= mask
    high ^= swapped
    low ^= swapped << shift


def _planes(words: Uint64s, bits: int) -> Uint64s:
    """Transpose 64 rows of words of which only the lowest bits are set: as many rows; the words are overwritten."""
    for step, mask in _MASKS:
        if bits > step:
            _exchange(words, step, mask)
        else:
            words = words[:step] | words[step:] << np.uint64(step)
    return words[:bits]


def _of_planes(planes: Uint64s) -> Uint64s:
    """Return the 64 rows of words that have these planes."""
    words = np.zeros((1 << (len(planes) - 1).bit_length(), planes.shape[1]), WORD)
    words[: len(planes)] = planes
    for step, mask in reversed(_MASKS):
        if step < len(words):
            _exchange(words, step, mask)
        else:
            words = np.concatenate([words & mask, words >> np.uint64(step) & mask])
    return words


def rows_of(columns: Bytes) -> Uint64s:
    """Return the rows of a multiple of 64 columns of bits; a column has a multiple of 64 bits, the lowest first."""
    words = columns.view(WORD).reshape(-1, _SIDE, columns.shape[1] // 8)
    rows = np.empty(words.shape[::-1], WORD)
    for start in range(0, len(rows), _AT_ONCE):
        rows[start : start + _AT_ONCE] = transposed(words[..., start : start + _AT_ONCE]).transpose(2, 1, 0)
    return rows.reshape(-1, len(words))


def columns_of(rows: Uint64s) -> Bytes:
    """Return the columns of a multiple of 64 rows: what `rows_of` gives these rows of."""
    words = np.ascontiguousarray(rows.reshape(-1, _SIDE, rows.shape[1]).transpose(2, 1, 0))
    return transposed(words).reshape(_SIDE * rows.shape[1], -1).view(np.uint8)


def bit_planes(words: Uint64s, bits: int) -> Uint64s:
    """Return the lowest bits of a multiple of 64 words, bit by bit: row `b` has bit `b` of each."""
    if bits == 1:
        return np.packbits((words & np.uint64(1)).astype(np.bool_), bitorder="little").view(WORD)[None]
    rows = words.reshape(-1, _SIDE).T.copy()
    rows &= np.uint64((1 << bits) - 1)
    return _planes(rows, bits)


def plane_words(planes: Uint64s) -> Uint64s:
    """Return the words of which these are the lowest bits, bit by bit."""
    return _of_planes(planes).T.reshape(-1)


def packed_bytes(count: int, bits: int) -> int:
    """Return how many bytes this many packed words take."""
    return -(-count // _SIDE) * bits * 8


def pack(words: Uint64s, bits: int) -> bytes:
    """Pack words of which only the lowest `bits` are set: 64 words into as many as these have bits."""
    padded = np.zeros((_SIDE, -(-len(words) // _SIDE)), WORD)
    padded.reshape(-1)[: len(words)] = words
    return _planes(padded, bits).tobytes()


def unpack(data: bytes, count: int, bits: int) -> Uint64s:
    """Return the words that were packed; what fills the last block is not looked at."""
    return _of_planes(np.frombuffer(data, WORD).reshape(bits, -1)).reshape(-1)[:count]


@dataclass(frozen=True)
class Lanes:
    """The lanes of one word: how many bits each has, the lowest first."""

    widths: tuple[int, ...]

    @cached_property
    def bits(self) -> int:
        """How many bits are used."""
        return sum(self.widths)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each lane begins."""
        return tuple(accumulate(self.widths[:-1], initial=0))

    @cached_property
    def used(self) -> np.uint64:
        """All bits that are used."""
        return np.uint64((1 << self.bits) - 1)

    @cached_property
    def highest(self) -> np.uint64:
        """The highest bit of each lane."""
        return np.uint64(sum(1 << start + width - 1 for start, width in zip(self.starts, self.widths, strict=True)))

    def add(self, left: Uint64s, right: Uint64s) -> Uint64s:
        """Return the sums, lane by lane."""
        lower = ~self.highest & self.used
        result: Uint64s = ((left & lower) + (right & lower)) ^ ((left ^ right) & self.highest)
        return result

    def subtract(self, left: Uint64s, right: Uint64s) -> Uint64s:
        """Return the differences, lane by lane."""
        lower = ~self.highest & self.used
        result: Uint64s = ((left & lower | self.highest) - (right & lower)) ^ (~(left ^ right) & self.highest)
        return result

    def sums(self, words: Uint64s) -> list[int]:
        """Return for each lane the sum over all words."""
        return [
            int((words >> np.uint64(start)).sum(dtype=np.uint64)) & ((1 << width) - 1)
            for start, width in zip(self.starts, self.widths, strict=True)
        ]


def lanes_of(widths: Sequence[int]) -> Iterator[Lanes]:
    """Yield words with lanes of these widths, in this order, as many in each as fit."""
    if not all(0 < width <= _SIDE for width in widths):
        raise InputError(f"a number under a mask has 1 to {_SIDE} bits")
    inside: list[int] = []
    for width in widths:
        if sum(inside) + width > _SIDE:
            yield Lanes(tuple(inside))
            inside = []
        inside.append(width)
    if inside:
        yield Lanes(tuple(inside))
