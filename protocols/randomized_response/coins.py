"""Coins, made once: a deterministic function of owner's secret, data set, record and group (DESIGN 4.6, FAULTS B1).

Asking for the disguised copy again, in another run or after a restore, yields the same copy, so nothing can be averaged
away. Two data sets of one owner have unrelated coins.
"""

from collections.abc import Sequence

import numpy as np

from protocols.randomized_response.design import Coins, MultiGroupDesign, offsets_from_uniform
from protocols.randomness import canonical, keyed_digest, keyed_uniform


def draw_coins(design: MultiGroupDesign, secret: bytes, dataset: str, records: Sequence[str]) -> Coins:
    """Return the secret coins of all records (`records x groups`).

    Args:
        design: Groups and theta.
        secret: The owner's secret key, 32 bytes.
        dataset: The owner's name for this data set.
        records: Record ids, in the order of the table.
    """
    coins = np.zeros((len(records), len(design.groups)), dtype=np.uint8)
    for k in range(len(design.groups)):
        key = keyed_digest(secret, b"cotally coin", dataset.encode(), k.to_bytes(4, "big"))
        bound = design.coin_bound(k)
        uniform = [keyed_uniform(key, canonical(record.encode()), bound) for record in records]
        offsets = offsets_from_uniform(np.array(uniform, dtype=np.int64), design.theta, design.orders[k])
        coins[:, k] = offsets
    return coins
