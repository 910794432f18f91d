"""Merits in whole numbers: within their bound of the logarithm's, so that trees are the same but for near ties."""

from fractions import Fraction
from itertools import product
from math import ceil, floor, log2

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.impurity import gain, gini
from protocols.learning.whole import (
    ERROR,
    GINI_BITS,
    MOST_GINI_RECORDS,
    SCALE_BITS,
    SLOPES,
    Gini,
    entropy_part,
    mixture,
    mixture_bits,
)

LEAST_SLOPE = 1480 / 1024  # which all slopes are less


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


@pytest.mark.parametrize(("records", "off"), [(300, 2e-5), (2**18, 2e-5), (2**20, 5e-4), (MOST_GINI_RECORDS, 4e-3)])
def test_no_inverse_is_above_the_exact_one_and_few_are_much_below(records: int, off: float) -> None:
    law, sizes = Gini(records), np.arange(1, records + 1)
    products = law.inverse(sizes) * sizes
    one = 1 << 2 * law.top + law.slope_bits
    assert products.max() < one
    assert off / 2 < 1 - products.min() / one < off
    assert law.inverse(0) == 0


@pytest.mark.parametrize("classes", [2, 3])
def test_gini_in_whole_numbers_is_that_of_fractions_but_for_what_is_dropped(classes: int) -> None:
    law = Gini(600, classes)
    for table in np.random.default_rng(classes).integers(0, 40, (200, 4, classes)).tolist():
        exact = sum(_gini_of(row) for row in table)
        line = [Fraction(int(law.inverse(sum(row))), 1 << 2 * law.top + law.slope_bits) for row in table]
        value = sum(_gini_of(row) * sum(row) * each for row, each in zip(table, line, strict=True))
        whole = int(law.mixture(table))
        assert whole == floor(value * 2**GINI_BITS)
        assert exact * (1 - Fraction(2, 10**5)) - Fraction(1, 2**GINI_BITS) < Fraction(whole, 2**GINI_BITS) <= exact
        assert float(exact) == pytest.approx(sum(sum(row) * float(gini(row)) for row in table) / 2)


def _gini_of(row: list[int]) -> Fraction:
    """Half of what Gini's index is worth: pairs of records of two classes, over how many records there are."""
    pairs = sum(a * b for at, a in enumerate(row) for b in row[:at])
    return Fraction(pairs, max(1, sum(row)))


@pytest.mark.parametrize("records", [1, 2, 7, 40, 300])
def test_the_range_of_change_is_what_trying_all_tables_gives(records: int) -> None:
    """Before a sum's last bits are dropped; what they do then is bounded by whole units, and reached by none here."""
    law = Gini(records)
    changes = [
        (x + 1) * (n - x) * int(law.inverse(n + 1)) - x * (n - x) * int(law.inverse(n))
        for n in range(records)
        for x in range(n + 1)
    ]
    unit = 1 << law.dropped
    assert law.change * 2**GINI_BITS == ceil(Fraction(max(changes), unit)) - floor(Fraction(min(changes), unit))


def test_no_record_moves_the_merit_by_more_than_the_range_of_change() -> None:
    """From every small table of two branches, from any cell to any other."""
    law = Gini(12)
    largest = 0
    for cells in product(range(4), repeat=4):
        table = np.array(cells).reshape(2, 2)
        for origin, target in product(range(4), repeat=2):
            if cells[origin]:
                moved = table.reshape(-1).copy()
                moved[origin] -= 1
                moved[target] += 1
                largest = max(largest, abs(int(law.mixture(moved.reshape(2, 2)) - law.mixture(table))))
    assert largest <= law.change * 2**GINI_BITS
    assert largest > 2**GINI_BITS / 2


@pytest.mark.parametrize("records", [5000, 26049, 2**18, 2**20, MOST_GINI_RECORDS])
def test_the_range_of_change_is_at_most_nine_eighths(records: int) -> None:
    law = Gini(records)
    assert Fraction(999, 1000) < law.change <= Fraction(9, 8)
    if records <= 2**19:
        assert law.change <= 1 + Fraction(1, 2**GINI_BITS)


def test_numbers_fit_at_the_extremes() -> None:
    values = entropy_part([0, 1, 2, 4]) / 2**SCALE_BITS
    for value, wanted in zip(values, (0, 0 - LEAST_SLOPE, 2 - 2 * LEAST_SLOPE, 8 - 4 * LEAST_SLOPE), strict=True):
        assert value == pytest.approx(wanted, abs=4 * ERROR)
    assert entropy_part(0) == 0
    assert (int(SLOPES.min()), int(SLOPES.max())) == (0, 1020)
    for classes in (1, 2, 5):
        even = np.full((1, classes), 7)
        pure = np.diag(np.full(classes, 7))
        most = int(mixture(even) - mixture(pure))
        assert abs(most) < 2 ** (mixture_bits(7 * classes, classes) - 1)
    # Of equal classes in one branch, and in several that halve it again and again.
    for records in (2**18, 2**19 - 1, 2**20 + 1, 2**21 - 1, MOST_GINI_RECORDS):
        for classes in (2, 20):
            law = Gini(records, classes)
            even = np.full((20, classes), 0)
            left = records
            for row in even:
                row[:] = (left + 1) // 2 // classes
                left -= int(row.sum())
            for table in (even, even.sum(0, keepdims=True)):
                exact = sum(_gini_of(row) for row in table.tolist())
                assert float(exact) * 0.99 < float(law.mixture(table)) / 2**GINI_BITS <= float(exact)
    with pytest.raises(InputError, match="4,194,303 records at most"):
        Gini(MOST_GINI_RECORDS + 1)
