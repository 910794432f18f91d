"""What a party is told, once both have agreed, of what its checks would see."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from party.show.checks import alike_line, check_lines, seen_json
from protocols.role import run_pair
from protocols.terms import Method
from protocols.two_party.power import Seen, seen_as_agreed, seen_of_alike
from tests.support.parties import Case, make_local, make_roles, make_terms

CASE = Case(
    sizes={"alice": (2,), "bob": (2, 2)},
    class_owners=("alice",),
    classes=2,
    codes=np.random.default_rng(1).integers(0, 2, (400, 4)).astype(np.uint8),
    groups={"alice": 1, "bob": 2},
    terms=make_terms(theta=Fraction(9, 10), omega=1, max_depth=1),
)
SHUFFLED = "we cannot see that the peer has shuffled rows against its ids"


def lines(**changes: Any) -> list[str]:
    return told_to_alice(replace(CASE, terms=replace(CASE.terms, **changes)))


def told_to_alice(case: Case) -> list[str]:
    (agreed, _), _ = run_pair(*make_roles(case))
    return check_lines(make_local(case, "alice"), agreed)


def test_how_wrong_a_count_must_be_is_told_for_one_group_and_for_two() -> None:
    (line,) = lines()
    assert "is false if it is wrong, of columns of one group of the peer's, by " in line
    assert "two groups of the peer's, by " in line
    assert line.endswith(f"records or more; {SHUFFLED}")


@pytest.mark.parametrize("theta", [Fraction(9, 20), Fraction(11, 20)])
def test_where_noise_of_the_copy_hides_all_nothing_is_claimed(theta: Fraction) -> None:
    assert lines(theta=theta) == [
        f"Checks: we cannot see that a count of the root is false, however wrong it is; {SHUFFLED}"
    ]


def test_where_no_copy_crosses_or_nothing_is_counted_there_is_nothing_to_see() -> None:
    (line,) = lines(method="smc")
    assert "no copy crosses" in line
    assert lines(method="randomized") == []


def test_before_the_peer_is_known_the_same_is_told_of_one_that_turns_out_to_be_alike() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (4000, 7)).astype(np.uint8)
    terms = make_terms(theta=Fraction(9, 10), omega=None, max_depth=1)
    alike = Case({"alice": (2,) * 3, "bob": (2,) * 3}, ("alice",), 2, codes, {"alice": 3, "bob": 3}, terms)
    (agreed, _), _ = run_pair(*make_roles(alike))
    local = make_local(alike, "alice")
    local = replace(local, groups=((0,), (1,), (2,)))  # without the class, as Bob has no class
    agreed = replace(agreed, peer_design=local.design(terms.theta, class_is_shared=True))
    seen = seen_of_alike(local, terms, 4000)
    assert seen == seen_as_agreed(local, agreed)
    assert seen is not None
    assert seen.together is not None
    told = seen_json(seen)
    assert told is not None
    assert None not in told.values()
    (line,) = check_lines(local, agreed)
    assert alike_line(seen, terms) == f"{line}, if the peer is like us"
    for name, least in told.items():
        assert f"{least:,}" in line, name


def test_for_programs_what_is_not_seen_is_null_and_all_of_it_where_nothing_is_counted() -> None:
    assert seen_json(None) is None
    assert seen_json(Seen()) == {"one_group": None, "two_groups": None, "together": None}
    assert seen_of_alike(make_local(CASE, "alice"), replace(CASE.terms, method=Method.RANDOMIZED), 400) is None


def test_what_the_counts_show_together_is_told_beside_and_not_under_noise() -> None:
    columns, records = 12, 4000
    case = Case(
        sizes={"alice": (2,), "bob": (2,) * columns},
        class_owners=("alice",),
        classes=2,
        codes=np.random.default_rng(1).integers(0, 2, (records, columns + 2)).astype(np.uint8),
        groups={"alice": 1, "bob": columns},
        terms=make_terms(theta=Fraction(9, 10), omega=None, max_depth=1),
    )
    (line,) = told_to_alice(case)
    assert re.search(
        r"; all counts of 12 columns of the peer's together are seen if each is wrong by about \d+; ", line
    )
    (windowed,) = told_to_alice(replace(case, terms=replace(case.terms, omega=1)))
    assert "all counts of one column of the peer's together" in windowed
    (noisy,) = told_to_alice(replace(case, terms=replace(case.terms, noise=Fraction(1))))
    assert "together" not in noisy
