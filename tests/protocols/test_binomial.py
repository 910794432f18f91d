"""The statistical helper itself, against fractions and against published values."""

from fractions import Fraction
from math import comb

import pytest

from tests.support.binomial import ShareTest, lower_tail, upper_tail


def exact_upper(trials: int, chance: Fraction, hits: int) -> Fraction:
    return sum(
        (comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(max(hits, 0), trials + 1)),
        Fraction(0),
    )


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
@pytest.mark.parametrize("chance", [Fraction(9, 20), Fraction(1, 100), Fraction(9, 10), Fraction(0), Fraction(1)])
def test_tails_are_the_exact_sums(trials: int, chance: Fraction) -> None:
    for hits in range(-1, trials + 2):
        exact = float(exact_upper(trials, chance, hits))
        assert upper_tail(trials, chance, hits) == pytest.approx(exact, rel=1e-10, abs=1e-14)
        assert lower_tail(trials, chance, hits - 1) == pytest.approx(1 - exact, rel=1e-10, abs=1e-14)


def test_tails_are_right_far_out() -> None:
    assert upper_tail(1000, Fraction(1, 2), 600) == pytest.approx(1.3642320780330344e-10, rel=1e-9)
    assert float(exact_upper(1000, Fraction(1, 2), 600)) == pytest.approx(1.3642320780330344e-10, rel=1e-12)


def test_acceptance_is_as_wide_as_the_alarm_allows_and_no_wider() -> None:
    check = ShareTest(200, Fraction(9, 20), 0.01)
    assert (
        exact_upper(200, check.chance, check.high + 1) <= Fraction("0.005") < exact_upper(200, check.chance, check.high)
    )
    lower = 1 - exact_upper(200, check.chance, check.low)
    assert lower <= Fraction("0.005") < 1 - exact_upper(200, check.chance, check.low + 1)
    assert check.accepts(check.low)
    assert check.accepts(check.high)
    assert not check.accepts(check.low - 1)
    assert not check.accepts(check.high + 1)


def test_the_power_at_the_claim_itself_is_the_alarm() -> None:
    check = ShareTest(200, Fraction(9, 20), 0.01)
    exact = exact_upper(200, check.chance, check.high + 1) + 1 - exact_upper(200, check.chance, check.low)
    assert check.power(check.chance) == pytest.approx(float(exact), rel=1e-9)
