"""Matrices of bits, and bits packed closely.

A block of 64 x 64 bits is transposed by exchanging halves of words, then quarters, down to single bits (Warren,
Hacker's Delight, section 7-3): six masked shifts for any number of blocks side by side.
"""

from typing import Final

import numpy as np

from protocols.oblivious.aes import WORD, Bytes, Uint64s

_SIDE: Final = 64
_MASKS: Final = tuple(
    (step, np.uint64(sum(((1 << step) - 1) << start for start in range(0, _SIDE, 2 * step))))
    for step in (32, 16, 8, 4, 2, 1)
)
_AT_ONCE: Final = 256
"""Blocks side by side in the cache."""


def transposed(words: Uint64s) -> Uint64s:
    """Transpose the bits of each 64 words along the next to last axis: bit `j` of word `i` is bit `i` of word `j`."""
    result = words.copy()
    for step, mask in _MASKS:
        pairs = result.reshape(*words.shape[:-2], -1, 2, step, words.shape[-1])
        low, high, shift = pairs[..., 0, :, :], pairs[..., 1, :, :], np.uint64(step)
        swapped = ((low >> shift) ^ high) & mask
        high ^= swapped
        low ^= swapped << shift
    return result


def rows_of(columns: Bytes) -> Uint64s:
    """Return the rows of a multiple of 64 columns of bits; a column has a multiple of 64 bits, the lowest first."""
    words = columns.view(WORD).reshape(-1, _SIDE, columns.shape[1] // 8)
    parts = (transposed(words[..., start : start + _AT_ONCE]) for start in range(0, words.shape[-1], _AT_ONCE))
    return np.concatenate([part.transpose(2, 1, 0).reshape(-1, len(words)) for part in parts])


def columns_of(rows: Uint64s) -> Bytes:
    """Return the columns of a multiple of 64 rows: what `rows_of` gives these rows of."""
    words = np.ascontiguousarray(rows.reshape(-1, _SIDE, rows.shape[1]).transpose(2, 1, 0))
    return transposed(words).reshape(_SIDE * rows.shape[1], -1).view(np.uint8)


def bit_planes(words: Uint64s, bits: int) -> Uint64s:
    """Return the lowest bits of a multiple of 64 words, bit by bit: row `b` has bit `b` of each."""
    if bits == 1:
        return np.packbits((words & np.uint64(1)).astype(np.bool_), bitorder="little").view(WORD)[None]
    return columns_of(words[:, None])[:bits].view(WORD)


def plane_words(planes: Uint64s) -> Uint64s:
    """Return the words of which these are the lowest bits, bit by bit."""
    padded = np.zeros((_SIDE, planes.shape[1]), WORD)
    padded[: len(planes)] = planes
    return rows_of(padded.view(np.uint8))[:, 0]


def packed_bytes(count: int, bits: int) -> int:
    """Return how many bytes this many packed words take."""
    return -(-count // _SIDE) * bits * 8


def pack(words: Uint64s, bits: int) -> bytes:
    """Pack words of which only the lowest `bits` are set: 64 words into as many as these have bits."""
    padded = np.zeros((_SIDE, -(-len(words) // _SIDE)), WORD)
    padded.reshape(-1)[: len(words)] = words
    return transposed(padded)[:bits].tobytes()


def unpack(data: bytes, count: int, bits: int) -> Uint64s:
    """Return the words that were packed; what fills the last block is not looked at."""
    planes = np.zeros((_SIDE, -(-count // _SIDE)), WORD)
    planes[:bits] = np.frombuffer(data, WORD).reshape(bits, -1)
    return transposed(planes).reshape(-1)[:count]
