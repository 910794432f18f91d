"""Limits of a tree: it equals plain ID3 written down again with the same limits, and asks for no count beyond them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.merit import estimated_merits, is_small, may_be_split, may_split
from protocols.learning.tree import Leaf, Split
from protocols.role import run_alone
from protocols.simulation.two_party import PlainRanking
from protocols.tables import Codes, Schema
from protocols.terms import ALL, Growth, Impurity
from tests.support.cases import correlated
from tests.support.examples import at_most
from tests.support.plain import FixedTables, RecordingEngine, ReferenceId3, schema_of


def grow(schema: Schema, codes: Codes, growth: Growth) -> tuple[Result, RecordingEngine]:
    engine = PlaintextEngine(schema, codes, codes[:0])
    recording = RecordingEngine(engine)
    learner = HybridId3(schema, engine.class_counts, ALL, recording, growth=growth)
    return run_alone(learner.build()), recording


@settings(max_examples=at_most(300))
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    classes=st.integers(1, 5),
    records=st.integers(1, 150),
    seed=st.integers(0, 2**32 - 1),
    limits=st.tuples(st.none() | st.integers(1, 4), st.integers(1, 9), st.sampled_from(Impurity)),
)
def test_it_is_id3_with_the_same_limits_and_measure_as_anyone_would_write_it(
    sizes: list[int], classes: int, records: int, seed: int, limits: tuple[int | None, int, Impurity]
) -> None:
    codes = correlated([*sizes, classes], records, seed, flips=0.5)
    max_depth, min_leaf, impurity = limits
    reference = ReferenceId3(sizes, classes, *limits)
    expected = reference.grow(codes.tolist())
    growth = Growth(max_depth, min_leaf, impurity=impurity)
    result, engine = grow(schema_of(sizes, classes), codes, growth)
    assert result.tree.root == expected
    assert result.computations == sum(sum(level) for level in reference.asked.values())
    asked = [sorted(sum(query.cells(result.tree.schema)) for query in level) for level in engine.levels]
    assert asked == [sorted(level) for level in reference.asked.values()]


def test_branches_below_a_limit_are_leaves() -> None:
    """Values of 5, 15 and 4 records, a fourth one of none; no label of a small branch is that of its own records."""
    for min_leaf, parts in ((5, True), (6, False)):
        codes = np.array([[0, 0]] * 5 + [[1, 1]] * 15 + [[2, 0]] * 4, dtype=np.uint8)
        tree = grow(schema_of((4,), 2), codes, Growth(min_leaf=min_leaf))[0].tree
        if parts:
            leaves = (Leaf((5, 0), 0), Leaf((0, 15), 1), Leaf((4, 0), 1), Leaf((0, 0), 1))
            assert tree.root == Split((9, 15), 0, leaves)
            assert tree.predict(codes[-1:]).tolist() == [1]
            assert tree.shares(codes[-1:]).tolist() == [[0.0, 1.0]]
        else:
            assert tree.root == Leaf((9, 15), 1)
    codes = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    assert grow(schema_of((2,), 2), codes, Growth(min_leaf=20))[0].tree.root == Leaf((1, 2), 1)


def test_nothing_is_asked_where_no_split_can_follow() -> None:
    for records, asks in ((9, False), (10, True)):
        codes = correlated((2, 2), records, seed=3, flips=0.9)
        result, engine = grow(schema_of((2,), 2), codes, Growth(min_leaf=5))
        assert bool(engine.levels) == asks
        assert asks or isinstance(result.tree.root, Leaf)
    codes = correlated((2, 2, 2, 2), 60, seed=1, flips=0.7)
    result, engine = grow(schema_of((2, 2, 2), 2), codes, Growth(max_depth=2))
    assert result.tree.depth == len(engine.levels) == 2


def test_estimates_reach_a_limit_but_for_what_was_rounded_away() -> None:
    """A branch and a node of half a record; the papers' tree goes on."""
    assert may_split([0.5, 4.0], Growth())
    assert not is_small(0.5, Growth())
    assert is_small(0.0, Growth())
    assert may_be_split(0.5, 3, Growth())
    ((merit_of_it,),) = estimated_merits([Answer((np.array([[0.5, 0.0], [0.0, 0.5]]),))], [1.0], Growth())
    assert merit_of_it > 0
    assert may_split([4.9999999999, 10.0], Growth(min_leaf=5))
    assert not may_split([4.99999, 10.0], Growth(min_leaf=5))
    assert not is_small(4.9999999999, Growth(min_leaf=5))
    assert may_be_split(9.9999999999, 0, Growth(min_leaf=5))


def windows(growth: Growth, window: int, tables: dict[int, Any], codes: Codes) -> tuple[Result, RecordingEngine]:
    schema = schema_of((4, 2), 2, alice=1)
    engine = PlaintextEngine(schema, codes, codes[:0])
    recording, ranking = RecordingEngine(engine), PlainRanking([FixedTables(tables)] * 2, 2, growth)
    learner = HybridId3(schema, engine.class_counts, window, recording, ranking, growth)
    return run_alone(learner.build()), recording


MANY = np.array([[0, 0, 0]] * 7 + [[1, 1, 1], [2, 1, 1], [3, 1, 1]] * 2 + [[3, 1, 1]], dtype=np.uint8)
"""Column 0 tells the class by branches of 7, 2, 2 and 3 records; column 1 by two of 7."""


def test_a_node_whose_window_may_not_split_it_is_a_leaf_that_told_one_window() -> None:
    """The estimates rank column 0 first and say nothing of its small branches."""
    tables = {0: [[6, 0], [6, 0], [0, 6], [0, 2]], 1: [[4, 3], [3, 4]]}
    result, engine = windows(Growth(min_leaf=4), 1, tables, MANY)
    assert [query.candidates for level in engine.levels for query in level] == [(0,)]
    assert result.tree.root == Leaf((7, 7), 0)


def test_an_attribute_that_may_not_split_by_the_estimates_ranks_last() -> None:
    tables = {0: [[7, 0], [0, 2], [0, 2], [0, 3]], 1: [[4, 3], [3, 4]]}
    result, engine = windows(Growth(min_leaf=4), 1, tables, MANY)
    assert [query.candidates for level in engine.levels for query in level] == [(1,)]
    assert result.tree.root == Split((7, 7), 1, (Leaf((7, 0), 0), Leaf((0, 7), 1)))


@pytest.mark.parametrize(("min_leaf", "first"), [(1, 0), (4, 1)])
def test_with_all_in_the_window_the_best_of_those_that_may_split_is_taken(min_leaf: int, first: int) -> None:
    codes: Sequence[Sequence[int]] = MANY.tolist()
    reference = ReferenceId3((4, 2), 2, min_leaf=min_leaf).grow([list(row) for row in codes])
    result, _ = grow(schema_of((4, 2), 2), MANY, Growth(min_leaf=min_leaf))
    assert result.tree.root == reference
    assert isinstance(result.tree.root, Split)
    assert result.tree.root.attribute == first
