"""The public split of the records into those trained on and those held out (DESIGN 7.4)."""

from fractions import Fraction
from math import floor

import numpy as np

from protocols.randomness import public_order
from protocols.tables.arrays import Index


def held_out_records(records: int, test: Fraction) -> int:
    """Return how many records a share holds out."""
    return floor(records * test)


def split_records(seed: int, records: int, test: Fraction) -> tuple[Index, Index]:
    """Return indices of training and test records, each ascending."""
    order = np.array(public_order(seed, records), dtype=np.intp)
    held_out = held_out_records(records, test)
    return np.sort(order[held_out:]), np.sort(order[:held_out])
