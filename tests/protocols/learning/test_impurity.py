"""Entropy and gain: known values, and what a gain can be."""

from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counts import Answer
from protocols.learning.impurity import TIE, entropy, gain, merit, merit_gradient
from protocols.learning.merit import CANNOT, estimated_merits, merits
from protocols.learning.whole import whole_merit
from protocols.terms import TO_THE_END, Growth, Impurity


@pytest.mark.parametrize(
    ("counts", "bits"),
    [
        ([1, 1], 1.0),
        ([5, 5, 5, 5], 2.0),
        ([2, 1, 1], 1.5),
        ([8, 4, 2, 1, 1], 1.875),
        ([7, 0], 0.0),
        ([0, 0], 0.0),
        ([], 0.0),
        ([3], 0.0),
    ],
)
def test_entropy_of_powers_of_two_is_exact(counts: list[int], bits: float) -> None:
    assert entropy(counts) == bits
    assert str(entropy(counts)) != "-0.0"


@pytest.mark.parametrize(
    ("table", "bits"),
    [
        ([[4, 0], [0, 4]], 1.0),
        ([[2, 2], [2, 2]], 0.0),
        ([[2, 0], [2, 0]], 0.0),
        ([[0, 0], [3, 3]], 0.0),
        ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], 1.5),
        ([[2, 2], [4, 0]], entropy([6, 2]) - 0.5),
        ([[0, 0], [0, 0]], 0.0),
    ],
)
def test_gain_of_powers_of_two_is_exact(table: list[list[int]], bits: float) -> None:
    assert gain(table) == bits


def rows_of(classes: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, 10**6), min_size=classes, max_size=classes)
    return st.lists(row, min_size=1, max_size=5)


TABLES = st.integers(1, 5).flatmap(rows_of)


@given(TABLES)
def test_a_gain_is_between_zero_and_the_entropy_of_the_class(table: list[list[int]]) -> None:
    """Apart from rounding."""
    assert -TIE < gain(table) < entropy(np.sum(table, axis=0)) + TIE
    assert gain(table) < log2(len(table[0])) + TIE


@given(TABLES)
def test_rescaling_does_not_change_a_gain(table: list[list[int]]) -> None:
    assert gain(np.array(table) * 8.0) == gain(table)


def estimated(table: Any, growth: Growth = TO_THE_END, records: float = 1.0) -> float:
    ((value,),) = estimated_merits([Answer((np.array(table),))], [records], growth)
    return value


def test_what_would_make_a_branch_too_small_cannot_split_when_fitted_to_the_nodes_total() -> None:
    table = [[4.0, -3.0], [-0.5, 6.0]]
    assert estimated(table, Growth(min_leaf=8), 20.0) == estimated(table) != 0.0
    assert estimated(table, Growth(min_leaf=9), 20.0) == CANNOT


def test_estimated_cells_below_nothing_count_as_none() -> None:
    assert estimated([[4.0, -3.0], [-0.5, 4.0]]) == 1.0
    assert estimated([[-1.0, -3.0], [-0.5, -4.0]]) == 0.0
    # The derivative by a cell of 1e-16 records would be that of a logarithm near 0.
    for impurity in Impurity:
        exact, rounded = [[4.0, 0.0], [2.0, 3.0]], [[4.0, 1e-16], [2.0, 3.0]]
        assert merit_gradient(rounded, impurity).tolist() == merit_gradient(exact, impurity).tolist()
        assert estimated(rounded, Growth(impurity=impurity)) == estimated(exact, Growth(impurity=impurity))


@pytest.mark.parametrize(
    ("table", "ratio", "decrease"),
    [
        ([[4, 0], [0, 4]], 1.0, 0.5),
        ([[2, 2], [2, 2]], 0.0, 0.0),
        ([[0, 0], [3, 3]], 0.0, 0.0),
        ([[0, 0], [0, 0]], 0.0, 0.0),
        ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], 1.0, 0.5),
        ([[2, 0], [0, 2], [2, 0], [0, 2]], 0.5, 0.5),
    ],
)
def test_gain_ratio_and_decrease_of_ginis_index_of_powers_of_two_are_exact(
    table: list[list[int]], ratio: float, decrease: float
) -> None:
    """An attribute of which one value has all records has a split information of 0, and no ratio."""
    assert merit(table, Impurity.GAIN_RATIO) == ratio
    assert merit(table, Impurity.GINI) == decrease


@pytest.mark.parametrize("impurity", Impurity)
@given(table=TABLES)
def test_no_merit_is_below_nothing_or_above_the_most(impurity: Impurity, table: list[list[int]]) -> None:
    classes = len(table[0])
    most = {Impurity.INFORMATION_GAIN: log2(classes), Impurity.GINI: 1 - 1 / classes, Impurity.GAIN_RATIO: 1.0}
    assert -TIE < merit(table, impurity) < most[impurity] + TIE


def test_only_attributes_of_average_gain_compete() -> None:
    """The first parts one record of 64 off, whose class is the rare one: little gain, by far the largest ratio."""
    narrow, wide = [[1, 0], [31, 32]], [[28, 4], [4, 28]]
    assert merit(narrow, Impurity.GAIN_RATIO) < merit(wide, Impurity.GAIN_RATIO)
    tables = tuple(np.array(table) for table in ([[2, 0], [6, 56]], [[7, 25], [1, 31]], [[6, 20], [2, 36]]))
    ratios = [float(whole_merit(table, Impurity.GAIN_RATIO, 64)) for table in tables]
    growth = Growth(impurity=Impurity.GAIN_RATIO)
    (values,) = merits([Answer(tables)], 64, growth)
    gains = [float(gain(table)) for table in tables]
    mean = sum(gains) / 3
    assert values == [ratio if value >= mean else 0.0 for ratio, value in zip(ratios, gains, strict=True)]
    assert 0.0 in values
    strong, weak = np.array([[4, 0], [0, 28]]), np.array([[16, 2], [14, 0]])
    growth = Growth(min_leaf=5, impurity=Impurity.GAIN_RATIO)
    assert merits([Answer((strong, weak))], 32, growth) == [[CANNOT, float(whole_merit(weak, Impurity.GAIN_RATIO, 32))]]
