"""Coins, made once: a deterministic function of the owner's secret, data set, record and group (DESIGN 4.6, FAULTS B1).

Asking for the disguised copy again, in another run or after a restore, yields the same copy, so nothing can be averaged
away. Two data sets of one owner have unrelated coins.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.design import Draw
from protocols.randomness import canonical, keyed_digest, keyed_uniforms


def keyed_draw(secret: bytes, dataset: str, records: Sequence[str]) -> Draw:
    """Return draws that depend on these arguments and nothing else.

    Args:
        secret: The owner's secret key, 32 bytes.
        dataset: The owner's name for this data set.
        records: Record ids, in the order of the table.
    """
    labels = [canonical(record.encode()) for record in records]

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally coin", dataset.encode(), purpose)
        uniforms = keyed_uniforms(key, labels, bound)
        return np.fromiter(uniforms, dtype=np.int64, count=len(records))

    return draw


def compared_draw(secret: bytes, dataset: str, records: int) -> Draw:
    """Return draws, in bulk, for a copy that never leaves: it is compared with the one that does.

    Sixty-four bits modulo the bound are uniform up to a bias that no comparison sees; they say nothing about coins.
    """

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally compared copy", dataset.encode(), purpose)
        words = np.frombuffer(hashlib.shake_256(key).digest(8 * records), dtype="<u8")
        return (words % np.uint64(bound)).astype(np.int64)

    return draw
