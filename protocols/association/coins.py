"""Coins of transactions, made once: a function of the owner's secret, data set, record and purpose (DESIGN 4.6).

A randomized transaction needs many numbers, so each record has a stream of its own: SHAKE-256 of a key, which HMAC
makes from secret, data set and purpose, and of the record's id. Its output is read from the start, as far as needed.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.association.chances import WORD_BITS
from protocols.association.sampling import Words
from protocols.randomness import canonical, keyed_digest

_WORD_BYTES = WORD_BITS // 8


def keyed_words(secret: bytes, dataset: str, records: Sequence[str]) -> Words:
    """Return words that depend on these arguments and nothing else.

    Args:
        secret: The owner's secret key, 32 bytes; for experiments a seed.
        dataset: The owner's name for this data set.
        records: Record ids, in the order of the transactions.
    """
    labels = [canonical(record.encode()) for record in records]

    def words(purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        key = keyed_digest(secret, b"cotally transaction", dataset.encode(), purpose)
        streams = [hashlib.shake_256(key + labels[row]).digest(_WORD_BYTES * count) for row in rows.tolist()]
        return np.frombuffer(b"".join(streams), dtype="<u8").astype(np.uint64).reshape(len(rows), count)

    return words
