"""Finished trees with other labels or ends."""

from fractions import Fraction

import numpy as np
import pytest

from party.datasets.included import load_table
from protocols.learning.tree import Leaf, Split, majority
from protocols.simulation.two_party import (
    HoldOut,
    at_random,
    disguised_views,
    end_early,
    grow_hybrid,
    grow_plain,
    grow_randomized,
    label_by_estimates,
    label_exactly,
    random_split,
)


@pytest.fixture(scope="module", params=["adult", "tic-tac-toe"])
def split(request: pytest.FixtureRequest) -> HoldOut:
    table = load_table(request.param)
    generator = np.random.default_rng(1)
    sample = table.rows(generator.choice(len(table), 900, replace=False))
    return random_split(sample, len(table.attributes) - 1, Fraction(1, 5), generator)


def test_estimated_labels_leave_a_tree_of_estimates_as_it_predicts(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(7, 10), 2, np.random.default_rng(4)), np.random.default_rng(4))
    tree = grow_randomized(split, views)
    again = label_by_estimates(tree, split, views)
    assert [expression for expression, _ in again.leaves()] == [expression for expression, _ in tree.leaves()]
    assert (again.predict(split.train) == tree.predict(split.train)).mean() > 0.99  # but for rounding on ties


def test_exact_labels_are_the_majority_of_the_training_records(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(7, 10), 2, np.random.default_rng(5)), np.random.default_rng(5))
    tree = label_exactly(grow_randomized(split, views), split)
    classes = split.train[:, split.schema.class_index]
    for expression, label in tree.leaves():
        counts = np.bincount(classes[expression.satisfied_by(split.train)], minlength=split.schema.classes)
        assert counts.sum() == 0 or label == majority(counts.tolist())


def test_exact_labels_leave_exact_trees_as_they_are(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(3, 5), 2, np.random.default_rng(2)), np.random.default_rng(2))
    for grown in (grow_plain(split), grow_hybrid(split, views, 1)):
        assert label_exactly(grown.tree, split) == grown.tree
    views = disguised_views(split, at_random(Fraction(1), 2, np.random.default_rng(3)), np.random.default_rng(3))
    tree = grow_plain(split).tree
    assert label_by_estimates(tree, split, views).leaves() == tree.leaves()
    stump = end_early(grow_plain(split).tree, lambda *_: False)
    assert isinstance(stump.root, Leaf)
    assert label_exactly(stump, split) == stump
    tree = grow_plain(split).tree
    assert end_early(tree, lambda *_: True) == tree


def test_an_early_end_cuts_what_fails(split: HoldOut) -> None:
    tree = grow_plain(split).tree
    cut = end_early(tree, lambda _, node: sum(node.counts) >= 50)
    kept = {expression: node for expression, node in tree.walk() if isinstance(node, Split) and sum(node.counts) >= 50}
    found = {expression: node for expression, node in cut.walk() if isinstance(node, Split)}
    assert set(found) == set(kept)
    assert 1 < cut.size < tree.size
    for _, node in cut.walk():
        if isinstance(node, Leaf) and sum(node.counts) > 0:
            assert node.label == majority(node.counts)
    assert end_early(grow_plain(split).tree, lambda expression, _: len(expression.terms) < 3).depth == 3


def test_the_recorded_queries_are_those_that_were_tallied(split: HoldOut) -> None:
    views = disguised_views(split, at_random(Fraction(3, 5), 2, np.random.default_rng(6)), np.random.default_rng(6))
    for grown in (grow_plain(split), grow_hybrid(split, views, 2)):
        sizes = [attribute.size for attribute in split.schema.attributes]
        cells = sum(sizes[c] * split.schema.classes for query in grown.queries for c in query.candidates)
        assert cells == grown.computations
        inner = sum(isinstance(node, Split) for _, node in grown.tree.walk())
        assert len(grown.queries) == inner
