"""Groups that nobody declared: who shares a coin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import InputError
from protocols.randomized_response.grouping import default_groups

Groups = tuple[tuple[int, ...], ...]


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
