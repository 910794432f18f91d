"""What a party is told, once both have agreed, of what its checks would see."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from party.show.checks import check_lines
from protocols.role import run_pair
from tests.support.parties import Case, make_local, make_roles, make_terms

CASE = Case(
    sizes={"alice": (2,), "bob": (2, 2)},
    class_owners=("alice",),
    classes=2,
    codes=np.random.default_rng(1).integers(0, 2, (400, 4)).astype(np.uint8),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(9, 10), omega=1, max_depth=1),
)
SHUFFLED = "rows that the peer has shuffled against its ids are not seen"


def lines(**changes: Any) -> list[str]:
    case = replace(CASE, terms=replace(CASE.terms, **changes))
    (agreed, _), _ = run_pair(*make_roles(case))
    return check_lines(make_local(case, "alice"), agreed)


def test_how_wrong_a_count_must_be_is_told_for_one_group_and_for_two() -> None:
    (line,) = lines()
    assert "is seen if it is wrong, of columns of one group of the peer's, by " in line
    assert "two groups of the peer's, by " in line
    assert line.endswith(f"records or more; {SHUFFLED}")


@pytest.mark.parametrize("theta", [Fraction(9, 20), Fraction(11, 20)])
def test_where_noise_of_the_copy_hides_all_nothing_is_claimed(theta: Fraction) -> None:
    assert lines(theta=theta) == [f"Checks: a false count of the root is not seen, however wrong; {SHUFFLED}"]


def test_where_no_copy_crosses_or_nothing_is_counted_there_is_nothing_to_see() -> None:
    (line,) = lines(method="smc")
    assert "no copy crosses" in line
    assert lines(method="randomized") == []
