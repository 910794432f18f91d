"""Chernoff's bound and the sample size, against exact binomial tails."""

from fractions import Fraction
from math import inf, log

import pytest

from protocols.errors import InputError
from protocols.privacy.chernoff import alarm_bound, divergence, trials_needed
from tests.protocols.privacy.auditing import missed
from tests.support.binomial import upper_tail

CHANCES = tuple(map(Fraction, ("0", "1/1000", "9/20", "1/2", "99/100", "1")))


def test_divergence_has_its_known_values() -> None:
    assert divergence(0.5, Fraction(1, 4)) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))
    assert divergence(0.25, Fraction(1, 4)) == 0
    assert divergence(1, Fraction(1, 4)) == pytest.approx(log(4))
    assert divergence(0, Fraction(1, 4)) == pytest.approx(log(4 / 3))


def test_divergence_from_certainty_is_infinite_and_of_certainty_none() -> None:
    assert divergence(0.5, Fraction(0)) == divergence(0.5, Fraction(1)) == inf
    assert divergence(0, Fraction(0)) == divergence(1, Fraction(1)) == 0


def test_a_chance_that_no_float_tells_from_1_is_no_certainty() -> None:
    near = 1 - Fraction(1, 10**18)
    assert float(near) == 1
    assert divergence(0.5, near) == pytest.approx(0.5 * log(0.5) + 0.5 * log(0.5e18))


@pytest.mark.parametrize("trials", [1, 7, 60])
@pytest.mark.parametrize("chance", CHANCES)
def test_the_alarm_bound_is_never_below_the_chance_of_such_a_share_on_either_side(
    trials: int, chance: Fraction
) -> None:
    """What the bound promises: over all outcomes, it is at most `a` with a chance of at most `a`."""
    bounds = [alarm_bound(hits, trials, chance) for hits in range(trials + 1)]
    for hits, bound in enumerate(bounds):
        worse = [other for other in range(trials + 1) if bounds[other] <= bound]
        total = sum(upper_tail(trials, chance, other) - upper_tail(trials, chance, other + 1) for other in worse)
        assert total <= bound + 1e-12, hits


def test_the_alarm_bound_is_not_far_above_the_exact_tails() -> None:
    exact = 2 * upper_tail(100_000, Fraction(1, 2), 50_870)
    assert exact < alarm_bound(50_870, 100_000, Fraction(1, 2)) < 20 * exact


def test_a_contradiction_has_no_chance() -> None:
    assert alarm_bound(1, 1000, Fraction(0)) == alarm_bound(999, 1000, Fraction(1)) == 0
    assert alarm_bound(0, 1000, Fraction(0)) == alarm_bound(1000, 1000, Fraction(1)) == 1


@pytest.mark.parametrize(
    ("hits", "trials", "chance"),
    [
        (-1, 5, Fraction(1, 2)),
        (6, 5, Fraction(1, 2)),
        (0, 0, Fraction(1, 2)),
        (1, 5, Fraction(3, 2)),
        (1, 5, -Fraction(1)),
    ],
)
def test_a_share_that_is_none_is_refused(hits: int, trials: int, chance: Fraction) -> None:
    with pytest.raises(InputError, match="a share needs 0 <= hits <= trials"):
        alarm_bound(hits, trials, chance)


PAIRS = [
    ("9/20", "23/50"),
    ("9/20", "11/25"),
    ("1/100", "1/50"),
    ("99/100", "1"),
    ("1/100", "0"),
    ("1", "99/100"),
    ("0", "1/100"),
    ("1", "0"),
    ("0", "1"),
    ("1/2", "1"),
]


@pytest.mark.parametrize(("claim", "truth"), PAIRS)
@pytest.mark.parametrize(("alarm", "miss"), [(1e-9, 1e-3), (0.01, 0.2)])
def test_a_sample_of_that_size_has_the_power_by_exact_tails(claim: str, truth: str, alarm: float, miss: float) -> None:
    declared, actual = Fraction(claim), Fraction(truth)
    trials = trials_needed(declared, actual, alarm, miss)
    assert trials is not None
    assert missed(declared, actual, trials, alarm) <= miss
    if not {declared, actual} & {0, 1}:
        assert missed(declared, actual, trials // 3, alarm) > miss  # the bound costs something, not everything


def test_what_is_the_same_cannot_be_told_apart() -> None:
    assert trials_needed(Fraction(1, 2), Fraction(1, 2), 1e-6, 1e-3) is None
    assert trials_needed(Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**18), 1e-6, 1e-3) is None


@pytest.mark.parametrize(
    ("claim", "truth", "alarm", "miss"),
    [
        ("1/2", "3/4", 0, 0.1),
        ("1/2", "3/4", 1, 0.1),
        ("1/2", "3/4", 0.1, 0),
        ("1/2", "3/4", 0.1, 1),
        ("2", "1", 0.1, 0.1),
        ("1", "2", 0.1, 0.1),
        ("1/2", "3/4", float("nan"), 0.1),
    ],
)
def test_rates_out_of_range_are_refused(claim: str, truth: str, alarm: float, miss: float) -> None:
    with pytest.raises(InputError, match="a sample size needs chances between 0 and 1, and rates strictly between"):
        trials_needed(Fraction(claim), Fraction(truth), alarm, miss)
