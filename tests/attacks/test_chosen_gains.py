"""Attacks on windows: gains that no table has, so that a window compares the other side's with chosen numbers."""

import numpy as np
from numpy.typing import NDArray

from protocols.learning.ranking import GAIN_BITS, sum_bits
from protocols.learning.whole import Whole
from protocols.oblivious.gates import Gates
from protocols.role import run_pair
from protocols.secret_tree.window import open_windows
from tests.protocols.oblivious.test_gates import sides

RNG = np.random.default_rng(5)
LEADS = RNG.integers(-1 << GAIN_BITS, 1 << GAIN_BITS, 40)
"""At each of forty nodes, how much more the first of two candidates is worth to Alice than the second."""


def leads_above(pair: tuple[Gates, Gates], chosen: Whole) -> NDArray[np.bool_]:
    """Return where the first is in a window of one if Bob says that the second is worth so much more."""
    middle, nothing = 1 << GAIN_BITS, np.zeros_like(LEADS)
    alice = np.stack([middle + LEADS, middle + nothing], axis=1)
    bob = np.stack([nothing, chosen], axis=1)
    one, other = pair
    ours, _ = run_pair(open_windows(one, alice, 1, sum_bits(2)), open_windows(other, bob, 1, sum_bits(2)))
    return ours[:, 0]


def test_gains_that_one_side_chooses_read_a_lead_of_the_other_by_one_bit_a_window() -> None:
    """Twenty-one windows over the same people bisect it; one says on which side of a number it is, and no more."""
    pair = sides()
    low, high = np.full_like(LEADS, -1 << GAIN_BITS), np.full_like(LEADS, 1 << GAIN_BITS)
    for window in range(GAIN_BITS + 1):
        assert (high - low == 2 << GAIN_BITS - window).all()
        middle = (low + high) // 2
        is_above = leads_above(pair, middle)
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    assert (low == LEADS).all()
