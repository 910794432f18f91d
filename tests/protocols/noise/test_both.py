"""Both sides' noise in a sum: the bound holds, by exact convolution, and is not idle."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from protocols.noise.accounting import Spending
from protocols.noise.both import EXACT, BothNoises, OwnNoise, sum_bound
from protocols.noise.geometric import Geometric

ALARM = -log(1e-6)


def _tail(terms: list[tuple[Geometric, int]], bound: float) -> float:
    """Return the chance that the sum passes the bound, by convolving the laws."""
    law, reach = np.ones(1), 0
    for each, times in terms:
        weights = np.exp(-np.abs(np.arange(-each.cut, each.cut + 1)) / float(each.scale))
        for _ in range(times):
            law, reach = np.convolve(law, weights / weights.sum()), reach + each.cut
    return float(law[np.abs(np.arange(-reach, reach + 1)) > bound].sum())


@pytest.mark.parametrize(
    "terms",
    [
        [(Geometric(Fraction(5)), 1)],
        [(Geometric(Fraction(5)), 3), (Geometric(Fraction(1, 2)), 4)],
        [(Geometric(Fraction(20)), 4), (Geometric(Fraction(12)), 4)],
    ],
    ids=["one", "unlike", "many"],
)
def test_a_sum_of_noise_passes_its_bound_no_more_often_than_told(terms: list[tuple[Geometric, int]]) -> None:
    bound = sum_bound(terms, ALARM)
    assert _tail(terms, bound) <= exp(-ALARM)
    assert _tail(terms, bound / 2) > 100 * exp(-ALARM)


def test_bounds_stay_within_the_largest_noise() -> None:
    law = Geometric(Fraction(3))
    assert sum_bound([(law, 1)], 1000.0) == law.cut
    assert sum_bound([(law, 0)], ALARM) == sum_bound([], ALARM) == 0
    ours, theirs = Spending(Fraction(1), 6), Spending(Fraction(1), 8)
    noises = BothNoises(OwnNoise(b"s" * 32, b"run", ours), theirs)
    assert (noises.cells.own, noises.cells.theirs) == (ours.cells.cut, theirs.cells.cut)
    assert noises.cells.both == ours.cells.cut + theirs.cells.cut
    assert noises.variance == 2 * (36 + 64)
    assert noises.correct(-3, 50).count == 0
    assert noises.correct(61, 50).count == 50
    assert noises.correct(40, 50).error == 2
    assert EXACT.of_accuracy([]) == EXACT.cells.both == EXACT.accuracy.both == 0
    assert EXACT.correct(7, 50).error == 0
