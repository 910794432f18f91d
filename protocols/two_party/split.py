"""The public split of the records: to train on and to test (DESIGN 7.4)."""

from fractions import Fraction
from math import floor

import numpy as np

from protocols.randomness import public_order
from protocols.tables.table import Index
from protocols.terms import Terms


def held_out_records(records: int, share: Fraction) -> int:
    """Return how many records a share holds out."""
    return floor(records * share)


def training_records(records: int, terms: Terms) -> int:
    """Return how many records are trained on."""
    return records - held_out_records(records, terms.test)


def split_records(seed: int, records: int, test: Fraction) -> tuple[Index, Index]:
    """Return indices of training and test records, each ascending."""
    order = np.array(public_order(seed, records), dtype=np.intp)
    tested = held_out_records(records, test)
    return np.sort(order[tested:]), np.sort(order[:tested])
