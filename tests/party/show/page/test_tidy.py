"""No two nodes in one place, parents beside their first child, on any tree."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.show.page.tree_svg import tidy

NEAR = 1e-6


@st.composite
def trees(draw: st.DrawFn) -> list[list[int]]:
    """Children of each node, parents first: each node but the root picks a parent before it."""
    parents = [draw(st.integers(0, number)) for number in range(draw(st.integers(0, 40)))]
    return [[child for child, parent in enumerate(parents, 1) if parent == node] for node in range(len(parents) + 1)]


def levels_of(children: list[list[int]]) -> list[int]:
    depths = [0] * len(children)
    for node, below in enumerate(children):
        for child in below:
            depths[child] = depths[node] + 1
    return depths


@given(trees())
def test_nodes_of_a_level_stand_at_least_1_apart_and_parents_beside_their_first(
    children: list[list[int]],
) -> None:
    places, depths = tidy(children), levels_of(children)
    assert places[0] == min(places) == 0
    for depth in range(max(depths) + 1):
        level = sorted(place for place, own in zip(places, depths, strict=True) if own == depth)
        assert all(after - before > 1 - NEAR for before, after in pairwise(level))
    for node, below in enumerate(children):
        if below:
            assert abs(places[node] - places[below[0]]) < NEAR
            assert [places[child] for child in below] == sorted(places[child] for child in below)


def test_places_of_known_trees() -> None:
    assert tidy([[]]) == [0]
    assert tidy([[1, 2], [], []]) == [0, 0, 1]
    assert tidy([[1, 2], [3, 4], [], [], []]) == pytest.approx([0, 0, 1, 0, 1])


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    assert tidy([*([number + 1] for number in range(5000)), []]) == [0] * 5001
