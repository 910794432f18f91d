"""The public split of the records: to train on, to test and to prune by (DESIGN 7.4 and 7.7)."""

from fractions import Fraction
from math import floor

import numpy as np

from protocols.randomness import public_order
from protocols.tables.arrays import Index
from protocols.terms import NO_SHARE, Terms


def held_out_records(records: int, share: Fraction) -> int:
    """Return how many records a share holds out."""
    return floor(records * share)


def training_records(records: int, terms: Terms) -> int:
    """Return how many records are trained on."""
    return records - held_out_records(records, terms.test) - held_out_records(records, terms.prune)


def split_records(seed: int, records: int, test: Fraction, prune: Fraction = NO_SHARE) -> tuple[Index, Index, Index]:
    """Return indices of training, test and pruning records, each ascending."""
    order = np.array(public_order(seed, records), dtype=np.intp)
    tested = held_out_records(records, test)
    held_out = tested + held_out_records(records, prune)
    return np.sort(order[held_out:]), np.sort(order[:tested]), np.sort(order[tested:held_out])
