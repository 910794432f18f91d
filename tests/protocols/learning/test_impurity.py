"""Entropy and gain: known values, and what a gain can be."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.learning.impurity import TIE, entropy, gain, gain_gradient, limited_gains, projected_gains
from protocols.terms import Growth


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
    """Apart from rounding, for which the learner's check of the peer's gains leaves the same room."""
    assert -TIE < gain(table) < entropy(np.sum(table, axis=0)) + TIE
    assert gain(table) < log2(len(table[0])) + TIE


@given(TABLES)
def test_rescaling_does_not_change_a_gain(table: list[list[int]]) -> None:
    assert gain(np.array(table) * 8.0) == gain(table)


def test_a_projected_gains_counts_negative_cells_as_none() -> None:
    assert projected_gains([np.array([[4.0, -3.0], [-0.5, 4.0]])]) == [1.0]
    assert projected_gains([np.array([[-1.0, -3.0], [-0.5, -4.0]])]) == [0.0]


def test_what_would_make_a_branch_too_small_has_no_gain_when_fitted_to_the_nodes_total() -> None:
    table = np.array([[4.0, -3.0], [-0.5, 6.0]])
    assert limited_gains([table], [20.0], Growth(min_leaf=8)) == projected_gains([table]) != [0.0]
    assert limited_gains([table], [20.0], Growth(min_leaf=9)) == [0.0]


def test_a_cell_that_is_positive_by_rounding_alone_counts_as_nothing() -> None:
    """The derivative by a cell of 1e-16 records would be that of a logarithm near 0."""
    exact, rounded = [[4.0, 0.0], [2.0, 3.0]], [[4.0, 1e-16], [2.0, 3.0]]
    assert gain_gradient(rounded).tolist() == gain_gradient(exact).tolist()
    assert projected_gains([np.array(rounded)]) == projected_gains([np.array(exact)])
