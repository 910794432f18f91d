"""Designs: what is refused and why, who shares a coin, and disguising as such."""

from fractions import Fraction
from math import lcm, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.randomized_response.design import MAX_DENOMINATOR
from protocols.randomized_response.multi_group import (
    MultiGroupDesign,
    default_groups,
    disguise,
    undo,
)
from tests.support.enumeration import coin_outcomes, designs, every_record, name

THETA = Fraction(9, 20)
Groups = tuple[tuple[int, ...], ...]


@pytest.mark.parametrize(
    ("sizes", "groups", "theta", "text"),
    [
        ((2,), ((0,),), "-1/100", "theta must be between 0 and 1, not -1/100"),
        ((2,), ((0,),), "101/100", "theta must be between 0 and 1, not 101/100"),
        ((2,), ((0,),), f"1/{MAX_DENOMINATOR + 1}", "a denominator of at most 1000000000"),
        ((2,), ((0,),), "1/2", "theta = 1/2 makes a group of 2 offsets carry nothing: choose another"),
        ((2, 3), ((0, 1),), "1/6", "theta = 1/6 makes a group of 6 offsets carry nothing: choose another"),
        ((3, 2), ((0,), (1,)), "1/2", "theta = 1/2 makes a group of 2 offsets carry nothing: choose another"),
        ((2, 2), ((0,), (0, 1)), "9/20", "a column stands in two groups: name each once"),
        ((2, 2), ((0, 0),), "9/20", "a column stands in two groups: name each once"),
        ((2, 2), ((0, 2),), "9/20", "an unknown column: there are 0 to 1"),
        ((2, 2), ((0, -1),), "9/20", "an unknown column: there are 0 to 1"),
        ((2, 2), ((0,), ()), "9/20", "a group is empty"),
        ((5, 13), ((0, 1),), "9/20", "needs 65 offsets, more than 64: put columns of equal domain sizes into a group"),
    ],
)
def test_a_design_that_cannot_work_is_refused_with_range_or_cure(
    sizes: tuple[int, ...], groups: Groups, theta: str, text: str
) -> None:
    with pytest.raises(InputError) as refusal:
        MultiGroupDesign(sizes, groups, Fraction(theta))
    assert text in str(refusal.value)


@pytest.mark.parametrize(
    ("sizes", "groups", "theta"),
    [
        ((64,), ((0,),), "9/20"),
        ((2,) * 12, tuple((c,) for c in range(12)), "9/20"),
        ((1,) * 33, tuple((c,) for c in range(33)), "9/20"),
        ((2,), ((0,),), f"1/{MAX_DENOMINATOR}"),
        ((1,), ((0,),), "1"),
        ((2,), ((0,),), "0"),
        ((2,), ((0,),), "1"),
        ((3,), ((0,),), "1/2"),
        ((2,), (), "1/2"),
    ],
)
def test_a_design_at_the_limits_is_accepted_and_works(sizes: tuple[int, ...], groups: Groups, theta: str) -> None:
    design = MultiGroupDesign(sizes, groups, Fraction(theta))
    assert len(design.pattern_coins()) == design.patterns
    assert sum(design.pattern_weights()) == 1


@pytest.mark.parametrize("design", designs(), ids=name)
def test_the_chances_of_a_groups_offsets_add_up_to_one(design: MultiGroupDesign) -> None:
    for group, order in enumerate(design.orders):
        assert order == lcm(*(design.sizes[c] for c in design.groups[group]))
        assert design.theta + (order - 1) * design.lie(group) == (1 if order > 1 else design.theta)
        assert design.contrast(group) == (design.theta - design.lie(group) if order > 1 else 1)
    assert sum(p for _, p in coin_outcomes(design)) == 1


@pytest.mark.parametrize("design", designs(), ids=name)
def test_patterns_are_all_coins_once_the_truth_first(design: MultiGroupDesign) -> None:
    coins = design.pattern_coins()
    assert not coins[0].any()
    assert len({tuple(row) for row in coins.tolist()}) == len(coins) == design.patterns == prod(design.orders)
    assert (coins < np.array(design.orders, dtype=int)).all()
    assert design.pattern_of(coins).tolist() == list(range(design.patterns))


@pytest.mark.parametrize("design", designs(), ids=name)
def test_disguising_shifts_a_groups_columns_alike_and_undoing_takes_it_back(design: MultiGroupDesign) -> None:
    records = every_record(design.sizes)
    before = records.copy()
    for coins in design.pattern_coins():
        each = np.broadcast_to(coins, (len(records), len(coins)))
        sent = disguise(records, each, design)
        expected = records.astype(int)
        for coin, group in zip(coins.tolist(), design.groups, strict=True):
            for column in group:
                expected[:, column] = (expected[:, column] + coin) % design.sizes[column]
        assert (sent == expected).all()
        assert (undo(sent, each, design) == records).all()
        assert (records == before).all()


def test_each_record_is_shifted_by_its_own_coins() -> None:
    design = MultiGroupDesign((2, 60), ((0,), (1,)), THETA)
    records = np.array([[0, 59], [1, 30], [1, 0]], dtype=np.uint8)
    coins = np.array([[1, 59], [0, 59], [1, 1]], dtype=np.uint8)
    assert disguise(records, coins, design).tolist() == [[1, 58], [1, 29], [0, 1]]


@pytest.mark.parametrize(
    ("sizes", "groups", "expected"),
    [
        ([2, 3, 2, 3], 2, ((0, 2), (1, 3))),
        ([2, 3, 2, 3], 1, ((0, 1, 2, 3),)),
        ([2, 2, 2, 2, 2], 2, ((0, 1, 2), (3, 4))),
        ([2, 2, 2, 2, 2], 3, ((0, 1), (2,), (3, 4))),
        ([2, 2], 5, ((0,), (1,))),
        ([2, 4, 3, 5], 3, ((0, 1), (2,), (3,))),
        ([2, 4, 3, 9], 2, ((0, 1), (2, 3))),
        ([50, 60, 2, 3], 3, ((0,), (1, 3), (2,))),
        ([], 3, ()),
    ],
)
def test_default_groups_put_equal_then_dividing_domains_together(
    sizes: list[int], groups: int, expected: Groups
) -> None:
    assert default_groups(sizes, groups) == expected


def test_a_plain_column_is_in_no_group() -> None:
    assert default_groups([2, 3, 2], 2, plain=[0]) == ((1,), (2,))
    assert default_groups([2, 3], 2, plain=[0, 1]) == ()


@given(
    st.lists(st.integers(1, 9), max_size=12),
    st.integers(1, 6),
    st.sets(st.integers(0, 11)),
)
def test_default_groups_spread_every_column_once(sizes: list[int], groups: int, plain: set[int]) -> None:
    parts = default_groups(sizes, groups, sorted(plain))
    columns = set(range(len(sizes))) - plain
    assert sorted(c for part in parts for c in part) == sorted(columns)
    assert all(parts)
    assert len(parts) == min(groups, len(columns))
    if len({sizes[c] for c in columns}) <= groups:
        assert all(len({sizes[c] for c in part}) == 1 for part in parts)


@pytest.mark.parametrize("groups", [0, -1])
def test_fewer_than_one_group_is_refused(groups: int) -> None:
    with pytest.raises(InputError, match="must be 1 or more"):
        default_groups([2, 2], groups)
