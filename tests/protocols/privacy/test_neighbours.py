"""The test of an event on two neighbours: how often it fires, and that the number of runs is what it needs."""

from fractions import Fraction
from math import exp

import pytest

from protocols.errors import InputError
from protocols.privacy.neighbours import Claim, least_chance, most_chance
from tests.support.binomial import lower_tail, upper_tail

CLAIM = Claim(epsilon=1.0, delta=0.0, alarm=1e-6)


def test_a_chance_is_bounded_on_both_sides_and_the_bounds_close_in() -> None:
    wide, close = 0.1, 0.001
    assert 0 < least_chance(0.3, wide) < least_chance(0.3, close) < 0.3 < most_chance(0.3, close)
    assert most_chance(0.3, close) < most_chance(0.3, wide) < 1
    assert least_chance(0.0, close) == 0
    assert most_chance(1.0, close) == 1
    assert most_chance(0.0, close) == pytest.approx(1 - exp(-close))


@pytest.mark.parametrize(("chance", "other"), [("1/10", "1/20"), ("1/4", "1/10"), ("1/2", "1/2")])
def test_a_true_claim_is_refuted_no_more_often_than_it_says(chance: str, other: str) -> None:
    """Over all outcomes of 100 runs each: the sum of the chances of those that refute it."""
    runs, p, q = 100, Fraction(chance), Fraction(other)
    assert float(p) <= exp(CLAIM.epsilon) * float(q)
    alarm, fires = 0.0, 0
    for others in range(runs + 1):
        while fires <= runs and not CLAIM.refuted(fires, others, runs):
            fires += 1
        mass = lower_tail(runs, q, others) - (lower_tail(runs, q, others - 1) if others else 0.0)
        alarm += mass * (upper_tail(runs, p, fires) if fires <= runs else 0.0)
    assert alarm <= CLAIM.alarm


def test_the_number_of_runs_catches_what_it_must_and_one_much_smaller_does_not() -> None:
    p, q = Fraction(1, 3), Fraction(1, 60)
    runs = CLAIM.runs_needed(p, q, miss=1e-3)

    def caught(number: int) -> float:
        most = max(k for k in range(number) if lower_tail(number, q, k - 1) <= 1 - 1e-9)
        fires = next(hits for hits in range(number + 1) if CLAIM.refuted(hits, most, number))
        return upper_tail(number, p, fires)

    assert CLAIM.refuted(int(runs * p), int(runs * q) + 1, runs)
    assert caught(2 * runs) > 0.999
    assert not CLAIM.refuted(int(runs / 4 * p), int(runs / 4 * q), runs // 4)


def test_what_the_claim_allows_needs_runs_without_end() -> None:
    with pytest.raises(InputError, match="no number of runs"):
        CLAIM.runs_needed(Fraction(1, 10), Fraction(1, 20), miss=1e-3)


@pytest.mark.parametrize("wrong", [{"epsilon": -1.0}, {"delta": -0.1}, {"alarm": 0.0}, {"alarm": 1.0}])
def test_a_claim_that_is_none_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="a claim has"):
        Claim(**{"epsilon": 1.0, "delta": 0.0, "alarm": 1e-6, **wrong})
