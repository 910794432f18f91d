"""Estimates are told in steps of what the copy leaves unknown (DESIGN 14)."""

from fractions import Fraction
from math import log2, sqrt

import pytest

from protocols.randomized_response.related_question import RelatedDesign
from protocols.two_party.rounding import count_step

THETA = Fraction(7, 10)
WARNER = RelatedDesign.of_odds((2,), ((0,),), THETA)
TWO_GROUPS = RelatedDesign.of_odds((2, 3), ((0,), (1,)), THETA)
PLAIN = RelatedDesign.of_odds((2,), (), THETA)


def copy_error(records: float) -> float:
    """Return the standard error of a count from one Warner column."""
    return sqrt(records * 0.7 * 0.3) / 0.4


@pytest.mark.parametrize("records", [1, 2, 50, 1000, 26_049, 10**6])
def test_a_step_is_the_power_of_two_at_or_below_a_quarter_of_the_copys_error(records: int) -> None:
    step = count_step([WARNER], records)
    assert log2(step).is_integer()
    assert step <= copy_error(records) / 4 < 2 * step


def test_the_group_that_hides_least_decides_and_groups_that_hide_nothing_do_not() -> None:
    assert count_step([WARNER, TWO_GROUPS], 900) == min(count_step([each], 900) for each in (WARNER, TWO_GROUPS))
    single = RelatedDesign.of_odds((1, 2), ((0,), (1,)), THETA)
    assert count_step([single], 900) == count_step([WARNER], 900)
    assert count_step([PLAIN, PLAIN], 900) == 0
