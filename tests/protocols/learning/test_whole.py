"""Merits in whole numbers: within their bound of the logarithm's, so that trees are the same but for near ties."""

from math import log2

import numpy as np
import pytest

from protocols.learning.impurity import gain
from protocols.learning.whole import ERROR, SCALE_BITS, SLOPES, entropy_part, mixture, mixture_bits

LEAST_SLOPE = 1480 / 1024  # which all slopes are less


def test_small_numbers_by_hand() -> None:
    values = entropy_part([0, 1, 2, 4]) / 2**SCALE_BITS
    for value, wanted in zip(values, (0, 0 - LEAST_SLOPE, 2 - 2 * LEAST_SLOPE, 8 - 4 * LEAST_SLOPE), strict=True):
        assert value == pytest.approx(wanted, abs=4 * ERROR)
    assert entropy_part(0) == 0
    assert (int(SLOPES.min()), int(SLOPES.max())) == (0, 1020)


@pytest.mark.parametrize("most", [2**10, 2**16, 2**20, 2**30])
def test_no_number_departs_more_than_its_share(most: int) -> None:
    numbers = np.arange(1, most + 1) if most <= 2**20 else np.random.default_rng(1).integers(1, most, 10**6)
    exact = numbers * np.log2(numbers) - LEAST_SLOPE * numbers
    off = np.abs(entropy_part(numbers) / 2**SCALE_BITS - exact) / numbers
    assert ERROR / 2 < off.max() < ERROR


@pytest.mark.parametrize("classes", [1, 2, 4])
def test_the_least_mixture_has_the_highest_gain_but_for_near_ties(classes: int) -> None:
    rng, records = np.random.default_rng(classes), 2000
    columns = rng.multinomial(records, rng.dirichlet(np.ones(3 * classes)), 50).reshape(-1, 3, classes)
    label_sums = columns.sum(-2)
    mixtures = mixture(columns) / 2**SCALE_BITS
    for table, total, value in zip(columns, label_sums, mixtures, strict=True):
        whole = records * log2(records) - sum(n * log2(n) for n in total.tolist() if n)
        assert value == pytest.approx(whole - records * float(gain(table)), abs=(classes + 1) * ERROR * records)


def test_differences_fit_their_bits_at_the_extremes() -> None:
    for classes in (1, 2, 5):
        even = np.full((1, classes), 7)
        pure = np.diag(np.full(classes, 7))
        most = int(mixture(even) - mixture(pure))
        assert abs(most) < 2 ** (mixture_bits(7 * classes, classes) - 1)
