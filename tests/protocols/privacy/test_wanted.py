"""Designs of a wanted belief: known answers, the way back, and the widths that samples of simulated people have."""

from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.privacy.wanted import (
    beliefs,
    coins_below,
    column_of_odds,
    half_width,
    odds_of_belief,
    odds_of_theta,
    questions_of_odds,
    theta_of_odds,
)

F = Fraction
CHANCES = st.fractions(F(1, 50), F(49, 50), max_denominator=60)


def test_known_answers_by_hand() -> None:
    """Of 100 people 10 say yes truly: a yes with odds of 6 is right in 6 * 10 of 6 * 10 + 90 cases."""
    assert odds_of_belief(F(2, 5), F(1, 10)) == 6
    two, three = column_of_odds(F(6), 2), column_of_odds(F(6), 3)
    assert (two.truth(0), three.truth(0)) == (F(6, 7), F(6, 8))
    assert beliefs(two, F(1, 10)) == (F(2, 5), F(54, 55))
    related, forced, triangular = questions_of_odds(F(6))
    assert [each.theta for each in (related, forced, triangular)] == [F(6, 7), F(5, 7), F(5, 6)]
    assert beliefs(triangular, F(1, 10)) == (F(2, 5), F(1))
    assert coins_below(F(6, 7), F(1, 100)) == 30  # (6/7)**29 = 0.0114, **30 = 0.0098
    z = 1.959964
    # Warner: yes is said by 6/7 * .1 + 1/7 * .9 = 3/14 of all; its variance over (2 theta - 1)**2 = (5/7)**2
    assert half_width(two, 1000, F(1, 10), 0.95) == pytest.approx(z * sqrt(3 * 11 / 14**2 / 1000) * 7 / 5, rel=1e-6)
    # Triangular: yes is said by .1 + .9 / 6 = 1/4
    assert half_width(triangular, 1000, F(1, 10), 0.95) == pytest.approx(z * sqrt(3 / 16 / 1000) * 6 / 5, rel=1e-6)


@given(CHANCES, CHANCES, st.integers(2, 16))
def test_what_is_wanted_is_what_responses_make_believe(one: Fraction, other: Fraction, values: int) -> None:
    share, belief = sorted((one, other))
    if share == belief:
        with pytest.raises(InputError, match="above the share"):
            odds_of_belief(belief, share)
        return
    odds = odds_of_belief(belief, share)
    assert odds_of_theta(theta_of_odds(odds)) == odds
    for design in (column_of_odds(odds, values), *questions_of_odds(odds)):
        assert beliefs(design, share)[0] == belief


@given(st.fractions(F(1, 20), F(19, 20)), st.fractions(F(1, 1000), F(1, 2)))
def test_this_many_coins_and_no_fewer(truth: Fraction, chance: Fraction) -> None:
    coins = coins_below(truth, chance)
    assert float(truth) ** coins <= float(chance) * (1 + 1e-6)
    assert coins == 1 or float(truth) ** (coins - 1) > float(chance) * (1 - 1e-6)
