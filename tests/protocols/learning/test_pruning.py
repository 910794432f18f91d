"""Reduced-error pruning against every way of cutting a tree back."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Query
from protocols.learning.id3 import HybridId3
from protocols.learning.pruning import prune
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import run_alone
from protocols.survey.mining import prune_tree
from protocols.survey.responses import Responses
from protocols.tables import Codes, Expression
from protocols.terms import ALL
from tests.support.cases import correlated
from tests.support.surveys import SIZES, designs, sampled, schema_for

SCHEMA = schema_for(SIZES)


def grown(codes: Codes) -> Tree:
    engine = PlaintextEngine(SCHEMA, codes, codes[:0])
    return run_alone(HybridId3(SCHEMA, engine.class_counts, ALL, engine).build()).tree


def cut_back(node: Node) -> Iterator[Node]:
    """Yield the node with every choice of branches cut to leaves."""
    yield Leaf(node.counts, node.label if isinstance(node, Leaf) else majority(node.counts))
    if isinstance(node, Split):
        for children in product(*(list(cut_back(child)) for child in node.children)):
            yield Split(node.counts, node.attribute, children)


def right(root: Node, codes: Codes) -> int:
    return int((Tree(SCHEMA, root).predict(codes) == codes[:, -1]).sum())


class Counted:
    """Exact counts in place of estimates."""

    def __init__(self, codes: Codes) -> None:
        self._estimator = sampled(designs()["related, nothing disguised"], codes).estimator()
        self.advance, self.answers = self._estimator.advance, self._estimator.answers


def exactly(columns: frozenset[int]) -> float:
    """Nothing is rounded where records are counted."""
    del columns
    return 0.0


@given(st.integers(0, 2**32 - 1))
def test_no_other_cut_does_better_and_none_as_good_is_smaller(seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, SIZES, size=(24, 4)).astype(np.uint8)
    train, held_out = codes[:8], codes[8:]
    tree = grown(train)
    pruned = prune(tree, Counted(held_out), exactly)
    best = right(pruned.root, held_out)
    for other in cut_back(tree.root):
        score = right(other, held_out)
        assert score < best or (score == best and Tree(SCHEMA, other).size >= pruned.size)


def test_branches_without_merit_become_leaves() -> None:
    tree = Tree(SCHEMA, Leaf((3.0, 1.0), 0))
    assert prune(tree, Counted(np.zeros((2, 4), dtype=np.uint8)), exactly).root == tree.root
    # An empty branch's counts are all zero; its class came from its parent and is not made again.
    root = Split((1.0, 3.0), 0, (Leaf((0.0, 0.0), 1), Leaf((1.0, 0.0), 0)))
    held_out = np.array([[0, 0, 0, 1], [1, 0, 0, 0]], dtype=np.uint8)
    assert prune(Tree(SCHEMA, root), Counted(held_out), exactly).root == root
    # Estimated counts of branches need not add up: both say 1 where the node's own counts say 0.
    root = Split((3.0, 2.0), 0, (Leaf((0.9, 1.0), 1), Leaf((0.9, 1.0), 1)))
    held_out = np.array([[0, 0, 0, 1], [1, 0, 0, 1]], dtype=np.uint8)
    assert prune(Tree(SCHEMA, root), Counted(held_out), exactly).root == Leaf((3.0, 2.0), 1)


def test_what_was_rounded_away_keeps_no_branch() -> None:
    """In thirds: the branch of value 1 is right for as many as the leaf is, and its float is 2.2e-16 above."""
    root = Split((2.0, 1.0), 0, (Leaf((2.0, 1.0), 0), Leaf((0.0, 0.0), 1)))
    codes = np.array([[1, 0, 0, 1]] + [[0, 0, 0, 0]] * 3 + [[0, 0, 0, 1]] * 7, dtype=np.uint8)
    survey = Responses(SCHEMA, codes, RelatedDesign(SIZES, ((0,), (3,)), Fraction(4, 5)))
    branch = Expression().child(0, 1)
    right, wrong = (estimate_count(codes, branch.child(3, label), survey.design).count for label in (1, 0))
    assert right == wrong
    estimator = survey.estimator()
    assert prune(Tree(SCHEMA, root), estimator, exactly).root == root
    assert prune_tree(Tree(SCHEMA, root), survey).root == Leaf((2.0, 1.0), 0)


@pytest.mark.parametrize("name", designs())
def test_rounding_bounds_what_floats_lose_of_exact_estimates(name: str) -> None:
    survey = sampled(designs()[name], correlated(SIZES, 500, seed=7, flips=0.3))
    estimator = survey.estimator()
    path = Expression().child(1, 2)
    for above in (Expression(), path):
        estimator.advance([above])
        (answer,) = estimator.answers([Query(above, (0,), None)])
        for value, row in enumerate(answer.tables[0].tolist()):
            for label, count in enumerate(row):
                exact = estimate_count(survey.codes, above.child(0, value).child(3, label), survey.design).count
                columns = above.columns | {0, 3}
                assert abs(Fraction(count) - exact) <= Fraction(survey.rounding(columns)) / 2


@pytest.mark.parametrize("name", ["unrelated, one group", "related, two groups", "unrelated, a plain class"])
def test_disguised_records_prune_by_their_estimates(name: str) -> None:
    codes = correlated(SIZES, 300, seed=2, flips=0.5)
    tree = grown(codes[:100])
    survey = sampled(designs()[name], codes[100:])
    estimator = survey.estimator()

    def score(root: Node) -> float:
        return float(estimator.repeats @ estimator.correct_factors(Tree(SCHEMA, root)))

    pruned = prune_tree(tree, Responses(SCHEMA, survey.codes, survey.design))
    assert pruned.size < tree.size
    best = score(pruned.root)
    generator = np.random.default_rng(4)
    for _ in range(200):
        assert score(random_cut(tree.root, generator)) <= best + 1e-6


def random_cut(node: Node, generator: np.random.Generator) -> Node:
    if isinstance(node, Leaf) or generator.random() < 0.2:
        return Leaf(node.counts, node.label if isinstance(node, Leaf) else majority(node.counts))
    return Split(node.counts, node.attribute, tuple(random_cut(child, generator) for child in node.children))
