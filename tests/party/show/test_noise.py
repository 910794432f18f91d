"""Noise in words."""

from fractions import Fraction

import pytest

from party.show.noise import noise_lines
from protocols.noise.accounting import Spending
from tests.support.parties import make_terms


@pytest.mark.parametrize(("method", "what"), [("smc", "the whole run"), ("hybrid", "all counts, beside the disguised")])
def test_what_noise_bounds_and_by_how_much_numbers_are_off_is_told_in_one_line(method: str, what: str) -> None:
    """Both scales are 80: a told count has a variance of 4 times 6,400."""
    spending = Spending(Fraction(1), 80)
    terms = make_terms(method=method, noise=Fraction(1), max_depth=3)
    (line,) = noise_lines(terms, spending, spending)
    assert line.startswith(f"Noise: {what}")
    assert "tells epsilon 1 against each side at most (delta 9.1e-13)" in line
    assert "noise of scale 80.0 (ours) and 80.0 (the peer's) puts" in line
    assert "a told count off by about 160 records (standard deviation), the number classified correctly by 2.0" in line


def test_nothing_is_told_of_noise_where_there_is_none() -> None:
    assert noise_lines(make_terms(), None, None) == []
