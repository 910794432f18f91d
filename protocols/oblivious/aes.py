"""AES in bulk, by `cryptography`: the only file of the core that knows it.

Three uses: a permutation that both sides know (its key is public), streams from secret seeds (counter mode), and
columns hashed linearly (GHASH, the part of AES-GCM that authenticates). A fixed nonce harms none of them: the
key of the first and the last is public, and a seed has one stream, of which no block hides two things.
"""

from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB
from numpy.typing import NDArray

from protocols.oblivious.bits import WORD, Bytes

Blocks = NDArray[np.uint64]
"""Blocks of AES; the last axis has two words."""

BLOCK_BYTES: Final = 16
_NONCE: Final = bytes(12)


def permute(key: bytes, blocks: Blocks) -> Blocks:
    """Apply the permutation of this key to every block; there is one at least."""
    data, room = np.ascontiguousarray(blocks).data.cast("B"), np.empty(blocks.size + 2, WORD)
    permuting = Cipher(AES(key), ECB()).encryptor()  # noqa: S305  # the permutation itself is wanted
    permuting.update_into(data, room.view(np.uint8).data)
    return room[: blocks.size].reshape(blocks.shape)


class Stream:
    """A seed's stream, whose context is kept: to make one takes longer than to encrypt some thousand bytes.

    Where it is read is said each time; one thread at a time may read it.
    """

    def __init__(self, seed: bytes) -> None:
        self._context = Cipher(AES(seed), CTR(bytes(BLOCK_BYTES))).encryptor()

    def read(self, first: int, row: Bytes) -> Bytes:
        """Fill a row, from block number `first` on, and return it."""
        self._context.reset_nonce(first.to_bytes(BLOCK_BYTES, "big"))
        self._context.update_into(bytes(len(row)), row.data)
        return row


def stream(seed: bytes, first: int, length: int) -> Bytes:
    """Return bytes of the stream of a seed, for one that is read a few times."""
    return Stream(seed).read(first, np.empty(length, np.uint8))


def hash_columns(key: bytes, columns: Bytes) -> Blocks:
    """Hash columns of equal length, a multiple of 16 bytes, by GHASH under a hash key that follows from `key`.

    The tag of associated data is affine in them; less the tag of zeros it is linear: the hash of a sum is the sum of
    the hashes. Two unequal columns of `m` blocks agree for `m + 1` hash keys at most. The last block of a column moves
    over all hashes, unless the hash key is 0 (one key in 2**128).
    """
    tagging = AESGCM(key)
    tags = [tagging.encrypt(_NONCE, b"", column.data) for column in np.ascontiguousarray(columns)]
    return _blocks(b"".join(tags)) ^ _blocks(tagging.encrypt(_NONCE, b"", bytes(columns.shape[-1])))


def _blocks(data: bytes) -> Blocks:
    return np.frombuffer(data, WORD).reshape(-1, 2)
