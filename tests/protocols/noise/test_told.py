"""What a learner makes of told numbers: agreeing, not negative, and no finer than noise leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.noise.both import KnownSums, branch_variance, refined

told_numbers = st.lists(st.lists(st.integers(-50, 400), min_size=2, max_size=2), min_size=2, max_size=4)


def test_class_counts_are_the_mean_of_all_that_was_told_weighted_by_what_it_is_worth() -> None:
    """Told above with variance 4, and by two candidates of two values, each sum with variance 2 times 2."""
    sums, _ = refined(KnownSums((10.0, 0.0), 4.0), [[[6, 0], [7, 0]], [[8, 3], [8, 3]]], 2.0)
    assert sums.counts == pytest.approx((13.0, 2.0))
    assert sums.variance == pytest.approx(4 / 3)


def test_numbers_without_noise_stay_as_they_are() -> None:
    tables = [np.array([[5, 0], [7, 9]]), np.array([[1, 2], [3, 4], [8, 3]])]
    sums, made = refined(KnownSums((12.0, 9.0), 0.0), tables, 1e-9)
    assert sums.counts == (12.0, 9.0)
    assert all((a == b).all() for a, b in zip(made, tables, strict=True))
    _, (table,) = refined(KnownSums((100.0, 100.0), 0.0), [[[55, 45], [45, 55]]], 100.0)
    assert table.tolist() == [[50, 50], [50, 50]]
    # Differences of 40, squares of 3,200, of which noise explains nine times a cell's variance, 50.
    _, (table,) = refined(KnownSums((100.0, 100.0), 0.0), [[[90, 10], [10, 90]]], 100.0)
    kept = 40 * (1 - 9 * branch_variance(2, KnownSums((100.0, 100.0), 0.0), 100.0) / 3200)
    assert table.tolist() == [[round(50 + kept), round(50 - kept)], [round(50 - kept), round(50 + kept)]]


def test_what_is_told_below_nothing_counts_as_nobody() -> None:
    _, (table,) = refined(KnownSums((100.0, 50.0), 0.0), [[[-30, 5], [130, 45]]], 1.0)
    assert table[0].tolist() == [0, 0]
    sums, (table,) = refined(KnownSums((-4.0, -1.0), 0.0), [[[3, 2], [-7, -3]]], 25.0)
    assert sums.counts == (-4.0, -1.0)
    assert not table.any()


@given(told_numbers, told_numbers, st.floats(0.01, 1e5))
def test_what_a_learner_sees_is_whole_and_not_negative_and_no_class_comes_from_nowhere(
    one: list[list[int]], other: list[list[int]], variance: float
) -> None:
    sums, tables = refined(KnownSums((30.0, 60.0), variance), [one, other], variance)
    for table in tables:
        assert (table >= 0).all()
        assert (table == np.rint(table)).all()
    assert sums.variance <= variance
