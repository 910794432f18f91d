"""The learner over made-up engines: what it asks for, what it takes, where it stops, and how it is cut back."""

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Answer, Claims, Counts, Query
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.impurity import entropy, gain, importances
from protocols.learning.merit import Ranking, attribute_may_split, estimated_merits, is_small, node_may_split
from protocols.learning.routes import Routes, RowOutcome
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Progress, run_alone
from protocols.simulation.two_party import PlainRanking
from protocols.survey.mining import prune, prune_tree
from protocols.survey.responses import Responses
from protocols.tables import ROOT, Attribute, Codes, Expression, Schema, Term, joint_schema
from protocols.terms import ALL, Growth, Impurity, Window
from tests.support.cases import correlated
from tests.support.enumeration import every_record
from tests.support.examples import at_most
from tests.support.models import chain, models, small_model
from tests.support.plain import FixedTables, RecordingEngine, ReferenceId3, schema_of
from tests.support.surveys import SIZES, designs, sampled, schema_for

TENNIS = json.loads((Path(__file__).parents[2] / "vectors/play_tennis.json").read_text("utf-8"))


def id3(schema: Schema, codes: Codes) -> Result:
    engine = PlaintextEngine(schema, codes, codes[:0])
    return run_alone(HybridId3(schema, engine.class_counts, ALL, engine).build())


def tennis() -> tuple[Schema, Codes]:
    columns = [Attribute("alice", name, tuple(values)) for name, values in TENNIS["attributes"].items()]
    schema = joint_schema(columns, Attribute("alice", "play", tuple(TENNIS["classes"])), ("alice",))
    rows = [[a.values.index(v) for a, v in zip(schema.columns, record, strict=True)] for record in TENNIS["records"]]
    return schema, np.array(rows, dtype=np.uint8)


def as_vector(node: Node, schema: Schema) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"counts": list(node.counts), "class": schema.class_attribute.values[node.label]}
    attribute = schema.attributes[node.attribute]
    children = zip(attribute.values, node.children, strict=True)
    return {
        "counts": list(node.counts),
        "attribute": attribute.name,
        "children": {value: as_vector(child, schema) for value, child in children},
    }


def test_quinlans_example_gives_quinlans_tree_and_a_tree_may_be_deeper_than_pythons_stack() -> None:
    schema, codes = tennis()
    assert as_vector(id3(schema, codes).tree.root, schema) == TENNIS["tree"]
    schema, codes = tennis()
    assert round(float(entropy(np.bincount(codes[:, -1]))), 3) == TENNIS["information"]
    for column, (name, thousandths) in enumerate(TENNIS["gain_in_thousandths_as_printed"].items()):
        table = np.zeros((schema.attributes[column].size, 2))
        np.add.at(table, (codes[:, column], codes[:, -1]), 1)
        assert schema.attributes[column].name == name
        assert int(1000 * gain(table)) == thousandths
    # Estimates of one node by different attributes need not add up alike; the first that is known stays.
    tables = {0: [[4.0, 0.5], [0.5, 4.0]], 1: [[2.0, 1.0], [1.0, 2.5]]}
    result = run_alone(HybridId3(schema_of((2, 2), 2), (4.5, 4.5), ALL, FixedTables(tables)).build())
    root = result.tree.root
    assert isinstance(root, Split)
    assert (root.attribute, root.counts) == (0, (4.5, 4.5))
    assert [child.counts for child in root.children] == [(4.0, 0.5), (0.5, 4.0)]
    # Constant columns part nothing, and contradictory records never become pure: one node per level.
    columns = 120
    codes = np.zeros((3, columns + 1), dtype=np.uint8)
    codes[0, -1] = 1
    schema, limit, depth = schema_of((1,) * columns, 2), sys.getrecursionlimit(), len(inspect.stack(0))
    try:
        sys.setrecursionlimit(depth + columns // 2)
        tree = id3(schema, codes).tree
    finally:
        sys.setrecursionlimit(limit)
    assert tree.depth == columns
    assert [node for _, node in tree.walk() if isinstance(node, Leaf)] == [Leaf((2, 1), 0)]
    assert [node.attribute for _, node in tree.walk() if isinstance(node, Split)] == list(range(columns))


def learner(codes: Codes, schema: Schema, window: Window, engine: Counts, ranking: Ranking | None = None) -> HybridId3:
    told = tuple(np.bincount(codes[:, -1], minlength=schema.classes).tolist())
    return HybridId3(schema, told, window, engine, ranking)


def play_windows(
    window: int, codes: Codes, schema: Schema, estimates: Sequence[Mapping[int, Any]]
) -> tuple[Result, RecordingEngine, list[FixedTables]]:
    engine, both = RecordingEngine(PlaintextEngine(schema, codes, codes[:0])), list(map(FixedTables, estimates))
    ranking = PlainRanking(both, schema.classes)
    return run_alone(learner(codes, schema, window, engine, ranking).build()), engine, both


def table_of(bits: float) -> list[list[float]]:
    """Return a 2 x 2 table whose gain is about `bits`, by bisection."""
    low, high = 0.5, 1.0
    for _ in range(60):
        share = (low + high) / 2
        low, high = (share, high) if gain([[share, 1 - share], [1 - share, share]]) < bits else (low, share)
    return [[high, 1 - high], [1 - high, high]]


MINE = {0: table_of(1.0), 1: table_of(0.2), 2: table_of(0.0), 3: table_of(0.1)}
YOURS = {0: table_of(0.0), 1: table_of(0.6), 2: table_of(0.9), 3: table_of(0.1)}
"""The means are 0.5, 0.4, 0.45, 0.1: neither side alone would rank so."""


def test_candidates_are_ranked_by_the_mean_of_both_sides() -> None:
    for window, chosen in [(1, (0,)), (2, (0, 2)), (3, (0, 1, 2))]:
        for estimates in [(MINE, YOURS), (YOURS, MINE)]:
            codes = correlated((2, 2, 2, 2, 2), 40, seed=1)
            _, engine, _ = play_windows(window, codes, schema_of((2, 2, 2, 2), 2, alice=2), estimates)
            assert engine.levels[0][0].candidates == chosen


def test_equal_gains_and_equal_means_go_to_the_first_in_the_agreed_order() -> None:
    """Three copies of one column, of which the second and third are Bob's; the class is the column."""
    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.uint8)
    root = id3(schema_of((2, 2, 2), 2, alice=1), codes).tree.root
    assert root == Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1)))
    for ahead, chosen in ((0.0, 0), (0.49, 0), (1.0, 1)):
        tables = {0: [[3.0, 1.0], [1.0, 3.0]], 1: [[3.0 + ahead, 1.0 - ahead], [1.0 - ahead, 3.0 + ahead]]}
        root = run_alone(HybridId3(schema_of((2, 2), 2), (4, 4), ALL, FixedTables(tables)).build()).tree.root
        assert isinstance(root, Split)
        assert root.attribute == chosen
    flat = dict.fromkeys(range(4), table_of(0.5))
    codes = correlated((2, 2, 2, 2, 2), 40, seed=1)
    _, engine, _ = play_windows(2, codes, schema_of((2, 2, 2, 2), 2), (flat, flat))
    assert engine.levels[0][0].candidates == (0, 1)


@settings(max_examples=at_most(40))
@given(window=st.integers(1, 5), seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 3))
def test_every_node_asks_for_exactly_the_window_and_is_tallied(window: int, seed: int, classes: int) -> None:
    sizes = (2, 3, 2, 2)
    codes = correlated([*sizes, classes], 50, seed, flips=0.6)
    rng = np.random.default_rng(seed)
    estimates = [{a: rng.random((size, classes)) for a, size in enumerate(sizes)} for _ in range(2)]
    result, engine, (ours, theirs) = play_windows(window, codes, schema_of(sizes, classes, alice=1), estimates)
    queries = [query for level in engine.levels for query in level]
    left = [len(sizes) - len(query.expression.terms) for query in queries]
    assert [len(query.candidates) for query in queries] == [min(window, n) for n in left]
    assert all(query.expression.columns.isdisjoint(query.candidates) for query in queries)
    assert result.computations == sum(sizes[a] * classes for query in queries for a in query.candidates)
    inner = [expression for expression, node in result.tree.walk() if isinstance(node, Split)]
    assert sorted(map(str, inner)) == sorted(str(query.expression) for query in queries)
    ranked = [[q.expression for q in level] for level in engine.levels if 4 - len(level[0].expression.terms) > window]
    assert ours.advanced == theirs.advanced == ranked
    assert len(engine.levels) == result.tree.depth


def test_nothing_is_counted_where_one_class_is_and_progress_ends() -> None:
    """The root's class counts are sent by who holds the class; the paper asks for them."""
    codes = np.zeros((3, 2), dtype=np.uint8)
    result = id3(schema_of((2,), 2), codes)
    assert result.tree.root == Leaf((3, 0), 0)
    assert result.computations == 0
    schema, codes = schema_of((2, 2), 2), correlated((2, 2, 2), 30, flips=0.6)
    engine = PlaintextEngine(schema, codes, codes[:0])
    role = HybridId3(schema, engine.class_counts, ALL, engine).build()
    steps = [effect for effect in role if isinstance(effect, Progress)]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert (steps[0].done, steps[-1].done, steps[-1].total) == (0, 30, 30)


def test_a_negative_window_and_a_window_without_a_ranking_are_refused() -> None:
    schema = schema_of((2,), 2)
    engine = PlaintextEngine(schema, np.zeros((1, 2), dtype=np.uint8), np.zeros((0, 2), dtype=np.uint8))
    with pytest.raises(InputError, match='omega must be an integer from 1 to 65535, or "all"'):
        HybridId3(schema, (1, 0), -1, engine, PlainRanking([], 2))
    with pytest.raises(InputError, match="needs something to rank by"):
        HybridId3(schema, (1, 0), 1, engine)


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


@settings(max_examples=at_most(40), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([(2, 1), (3, 2)]), st.sampled_from([*Impurity]))
def test_a_record_that_counts_for_several_is_as_many_records(
    seed: int, weights: tuple[int, int], impurity: Impurity
) -> None:
    schema, rng = schema_of((2, 3, 2), 2), np.random.default_rng(seed)
    codes = rng.integers(0, (2, 3, 2, 2), (60, 4)).astype(np.uint8)
    repeated = np.repeat(codes, np.array(weights)[codes[:, -1]], axis=0)
    texts = (f"c0={weights[0]}", f"c1={weights[1]}")

    def grown(records: Codes, growth: Growth) -> Claims:
        engine = PlaintextEngine(schema, records, records[:0])
        return run_alone(HybridId3(schema, engine.class_counts, ALL, engine, growth=growth).build()).tree.leaves()

    limits = Growth(3, impurity=impurity)
    assert grown(codes, replace(limits, weights=texts)) == grown(repeated, limits)


def test_leaves_are_made_where_nothing_can_be_split_and_branches_below_a_limit_are_leaves() -> None:
    codes = np.array([[0, 1], [0, 1], [2, 0]], dtype=np.uint8)
    root = id3(schema_of((3,), 2), codes).tree.root
    assert root == Split((1, 2), 0, (Leaf((0, 2), 1), Leaf((0, 0), 1), Leaf((1, 0), 0)))
    codes = np.array([[0, 1], [0, 1], [0, 0], [1, 1], [1, 0]], dtype=np.uint8)
    root = id3(schema_of((2,), 2), codes).tree.root
    assert root == Split((2, 3), 0, (Leaf((1, 2), 1), Leaf((1, 1), 0)))
    codes = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]], dtype=np.uint8)
    result = id3(schema_of((2, 2), 2), codes)
    assert result.tree.root == Split((2, 2), 1, (Leaf((0, 2), 1), Leaf((2, 0), 0)))
    assert result.computations == 8
    result = id3(schema_of((2, 2), 1), np.zeros((7, 3), dtype=np.uint8))
    assert result.tree.root == Leaf((7.0,), 0)
    assert result.computations == 0
    # Values of 5, 15 and 4 records, a fourth one of none; no label of a small branch is that of its own records.
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


def windows(growth: Growth, window: int, tables: dict[int, Any], codes: Codes) -> tuple[Result, RecordingEngine]:
    schema = schema_of((4, 2), 2, alice=1)
    engine = PlaintextEngine(schema, codes, codes[:0])
    recording, ranking = RecordingEngine(engine), PlainRanking([FixedTables(tables)] * 2, 2, growth)
    learner = HybridId3(schema, engine.class_counts, window, recording, ranking, growth)
    return run_alone(learner.build()), recording


MANY = np.array([[0, 0, 0]] * 7 + [[1, 1, 1], [2, 1, 1], [3, 1, 1]] * 2 + [[3, 1, 1]], dtype=np.uint8)
"""Column 0 shows the class by branches of 7, 2, 2 and 3 records; column 1 by two of 7."""


def test_windows_that_cannot_split_end_in_leaves() -> None:
    """The estimates rank column 0 first and say nothing of its small branches."""
    tables = {0: [[6, 0], [6, 0], [0, 6], [0, 2]], 1: [[4, 3], [3, 4]]}
    result, engine = windows(Growth(min_leaf=4), 1, tables, MANY)
    assert [query.candidates for level in engine.levels for query in level] == [(0,)]
    assert result.tree.root == Leaf((7, 7), 0)
    tables = {0: [[7, 0], [0, 2], [0, 2], [0, 3]], 1: [[4, 3], [3, 4]]}
    result, engine = windows(Growth(min_leaf=4), 1, tables, MANY)
    assert [query.candidates for level in engine.levels for query in level] == [(1,)]
    assert result.tree.root == Split((7, 7), 1, (Leaf((7, 0), 0), Leaf((0, 7), 1)))
    for min_leaf, first in ((1, 0), (4, 1)):
        codes: Sequence[Sequence[int]] = MANY.tolist()
        reference = ReferenceId3((4, 2), 2, min_leaf=min_leaf).grow([list(row) for row in codes])
        result, _ = grow(schema_of((4, 2), 2), MANY, Growth(min_leaf=min_leaf))
        assert result.tree.root == reference
        assert isinstance(result.tree.root, Split)
        assert result.tree.root.attribute == first


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


def test_estimates_reach_a_limit_but_for_what_was_rounded_away_which_keeps_no_branch() -> None:
    """A branch and a node of half a record; the papers' tree goes on."""
    assert attribute_may_split([0.5, 4.0], Growth())
    assert not is_small(0.5, Growth())
    assert is_small(0.0, Growth())
    assert node_may_split(0.5, 3, Growth())
    ((merit_of_it,),) = estimated_merits([Answer((np.array([[0.5, 0.0], [0.0, 0.5]]),))], [1.0], Growth())
    assert merit_of_it > 0
    assert attribute_may_split([4.9999999999, 10.0], Growth(min_leaf=5))
    assert not attribute_may_split([4.99999, 10.0], Growth(min_leaf=5))
    assert not is_small(4.9999999999, Growth(min_leaf=5))
    assert node_may_split(9.9999999999, 0, Growth(min_leaf=5))
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
    # In thirds: the branch of value 1 is right for as many as the leaf is, and its float is 2.2e-16 above.
    root = Split((2.0, 1.0), 0, (Leaf((2.0, 1.0), 0), Leaf((0.0, 0.0), 1)))
    codes = np.array([[1, 0, 0, 1]] + [[0, 0, 0, 0]] * 3 + [[0, 0, 0, 1]] * 7, dtype=np.uint8)
    survey = Responses(SCHEMA, codes, RelatedDesign(SIZES, ((0,), (3,)), Fraction(4, 5)))
    branch = Expression().child(0, 1)
    right, wrong = (estimate_count(codes, branch.child(3, label), survey.design).count for label in (1, 0))
    assert right == wrong
    estimator = survey.estimator()
    assert prune(Tree(SCHEMA, root), estimator, exactly).root == root
    assert prune_tree(Tree(SCHEMA, root), survey).root == Leaf((2.0, 1.0), 0)


def test_rounding_bounds_what_floats_lose_of_exact_estimates() -> None:
    for name in designs():
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
    for _ in range(60):
        assert score(random_cut(tree.root, generator)) <= best + 1e-6


def random_cut(node: Node, generator: np.random.Generator) -> Node:
    if isinstance(node, Leaf) or generator.random() < 0.2:
        return Leaf(node.counts, node.label if isinstance(node, Leaf) else majority(node.counts))
    return Split(node.counts, node.attribute, tuple(random_cut(child, generator) for child in node.children))


INNER = Split((1, 3), 0, (Leaf((1, 0), 0), Leaf((0, 3), 1)))
ROOT_NODE = Split((4, 5), 1, (Leaf((3, 0), 0), INNER, Leaf((0, 0), 1)))
TREE = Tree(schema_of((2, 3), 2, alice=1), ROOT_NODE)


def with_root(change: Callable[[Split], Split]) -> Callable[[Tree], Tree]:
    return lambda tree: replace(tree, root=change(ROOT_NODE))


def with_schema(change: Callable[[Schema], Schema]) -> Callable[[Tree], Tree]:
    return lambda tree: replace(tree, schema=change(tree.schema))


def first(**changes: object) -> Callable[[Schema], Schema]:
    return lambda s: replace(s, attributes=(replace(s.attributes[0], **changes), *s.attributes[1:]))  # type: ignore[arg-type]


CHANGES: dict[str, Callable[[Tree], Tree]] = {
    "a count": with_root(lambda r: replace(r, counts=(4, 6))),
    "a count's class": with_root(lambda r: replace(r, counts=(5, 4))),
    "the attribute of a split": with_root(lambda r: replace(r, attribute=0)),
    "a leaf's class": with_root(lambda r: replace(r, children=(Leaf((3, 0), 1), *r.children[1:]))),
    "a leaf's counts": with_root(lambda r: replace(r, children=(Leaf((2, 0), 0), *r.children[1:]))),
    "an empty leaf's class": with_root(lambda r: replace(r, children=(*r.children[:2], Leaf((0, 0), 0)))),
    "the order of branches": with_root(lambda r: replace(r, children=(r.children[1], r.children[0], r.children[2]))),
    "a branch too many": with_root(lambda r: replace(r, children=(*r.children, Leaf((0, 0), 1)))),
    "a split made a leaf": with_root(lambda r: replace(r, children=(r.children[0], Leaf((1, 3), 1), r.children[2]))),
    "a column's party": with_schema(first(party="bob")),
    "a column's name": with_schema(first(name="x")),
    "a column's value": with_schema(first(values=("v0", "w"))),
    "the order of values": with_schema(first(values=("v1", "v0"))),
    "a value too many": with_schema(first(values=("v0", "v1", "v2"))),
    "the order of columns": with_schema(lambda s: replace(s, attributes=s.attributes[::-1])),
    "the class's name": with_schema(lambda s: replace(s, class_attribute=replace(s.class_attribute, name="label"))),
    "a class": with_schema(lambda s: replace(s, class_attribute=replace(s.class_attribute, values=("c0", "d")))),
}  # fmt: skip


def test_digests_are_those_of_one_tree() -> None:
    other = Tree(schema_of((2, 3), 2, alice=1), replace(ROOT_NODE, counts=(4.0, 5.0)))
    assert other.digest() == TREE.digest()
    assert len(TREE.digest()) == 32
    assert len({TREE.digest(), *(change(TREE).digest() for change in CHANGES.values())}) == 1 + len(CHANGES)
    # FAULTS case 33: the same labels, split otherwise.
    label = Attribute("bob", "class", ("no", "yes"))
    one = Schema((Attribute("alice", "x", ("a", "b", "bob", "y", "c")),), label, ("bob",))
    two = Schema((Attribute("alice", "x", ("a", "b")), Attribute("bob", "y", ("c",))), label, ("bob",))
    assert Tree(one, Leaf((1, 0), 0)).digest() != Tree(two, Leaf((1, 0), 0)).digest()
    schema = schema_of((1,), 4)
    leaf = Tree(schema, Leaf((0, 0, 0, 1), 2))
    split = Tree(schema, Split((0, 0, 0, 1), 0, ()))
    assert leaf.digest() != split.digest()


def test_nodes_are_walked_parents_first() -> None:
    one = ROOT & Term(1, 1)
    assert list(TREE.walk()) == [
        (ROOT, ROOT_NODE), (ROOT & Term(1, 0), Leaf((3, 0), 0)), (one, INNER), (one & Term(0, 0), Leaf((1, 0), 0)),
        (one & Term(0, 1), Leaf((0, 3), 1)), (ROOT & Term(1, 2), Leaf((0, 0), 1)),
    ]  # fmt: skip
    one = ROOT & Term(1, 1)
    assert TREE.leaves() == [
        (ROOT & Term(1, 0), 0), (one & Term(0, 0), 0), (one & Term(0, 1), 1), (ROOT & Term(1, 2), 1),
    ]  # fmt: skip
    assert (TREE.size, TREE.depth) == (6, 2)
    tree = Tree(TREE.schema, Leaf((4, 5), 1))
    assert (tree.size, tree.depth, tree.leaves()) == (1, 0, [(ROOT, 1)])
    assert tree.predict(every_record((2, 3, 2))).tolist() == [1] * 12
    for counts, label in (((1, 2), 1), ((2, 2), 0), ((0, 3, 3), 1), ((0, 0, 0), 0), ((0.5, 0.25), 0)):
        assert majority(counts) == label
    assert len({expression for expression, _ in TREE.walk()}) == TREE.size
    assert Expression((Term(1, 1), Term(0, 0))) != Expression((Term(0, 0), Term(1, 1)))


def outcomes(tree: Tree, codes: np.ndarray, asker: str, *, probabilities: bool) -> list[RowOutcome]:
    """Let the asker see its own columns alone, the answerer all others, and add up."""
    routes = Routes(tree, asker, probabilities=probabilities)
    own = np.array([attribute.party == asker for attribute in tree.schema.attributes])
    bits = routes.bits(np.where(own, codes, -9))
    constants, weights = routes.weights(np.where(own, -9, codes))
    sums = constants + (bits * weights).sum(axis=1)
    return [routes.outcomes[number] for number in sums.tolist()]


@given(models(), st.data())
def test_bits_and_weights_add_up_to_what_the_whole_tree_says_whichever_side_asks(
    tree: Tree, data: st.DataObject
) -> None:
    row = st.tuples(*(st.integers(-1, attribute.size) for attribute in tree.schema.attributes))
    codes = np.array(data.draw(st.lists(row, min_size=1, max_size=12)), dtype=np.int16)
    asker = data.draw(st.sampled_from(["alice", "bob"]))
    classes = outcomes(tree, codes, asker, probabilities=False)
    assert [outcome.label for outcome in classes] == tree.predict(codes).tolist()
    told = outcomes(tree, codes, asker, probabilities=True)
    assert [outcome.label for outcome in told] == tree.predict(codes).tolist()
    np.testing.assert_allclose([[float(s) for s in outcome.shares or ()] for outcome in told], tree.shares(codes))


def test_an_edge_is_asked_once_where_branches_differ_also_deeper_than_the_stack() -> None:
    routes = Routes(small_model(), "alice", probabilities=True)
    assert routes.edges == 6  # three of her age, three of her city below the first
    assert Routes(small_model(), "bob", probabilities=True).edges == 2
    schema = Schema((Attribute("alice", "a", ("0", "1")),), Attribute("", "class", ("no", "yes")), ())
    agreed = Tree(schema, Split((3, 5), 0, (Leaf((1, 2), 1), Leaf((2, 3), 1))))
    routes = Routes(agreed, "alice", probabilities=False)
    assert (routes.edges, len(routes.outcomes)) == (0, 1)
    assert Routes(agreed, "alice", probabilities=True).edges == 2
    tree = chain(3000)
    codes = np.zeros((3, 3000), dtype=np.int16)
    codes[1] = 1
    codes[2, 0] = -1
    assert [o.label for o in outcomes(tree, codes, "alice", probabilities=False)] == tree.predict(codes).tolist()


def _bits(*counts: int) -> float:
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c)


def test_a_prediction_is_that_of_the_leaf_and_each_split_counts_by_its_records() -> None:
    records = every_record((2, 3, 2))
    predicted = TREE.predict(records)
    for expression, label in TREE.leaves():
        assert set(predicted[expression.satisfied_by(records)].tolist()) <= {label}
    assert (TREE.predict(records[:, [0, 1]]) == predicted).all()
    assert predicted.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1]
    assert TREE.predict(np.zeros((0, 3), dtype=np.uint8)).tolist() == []

    def telling(*leaves: tuple[int, int]) -> int | None:
        counts = (sum(leaf[0] for leaf in leaves), sum(leaf[1] for leaf in leaves))
        return replace(TREE, root=Split(counts, 1, tuple(Leaf(leaf, majority(leaf)) for leaf in leaves))).telling

    assert telling((3, 0), (0, 5), (0, 0)) == 1
    assert telling((3, 0), (1, 5), (0, 2)) is None
    assert telling((3, 0), (2, 0), (0, 0)) is None  # one class: there is nothing to tell
    assert TREE.telling is None
    assert replace(TREE, root=Leaf((4, 0), 0)).telling is None
    root = 16 * _bits(7, 9) - 8 * _bits(5, 3) - 7 * _bits(1, 6)
    decreases = np.array([root, 8 * _bits(5, 3), 7 * _bits(1, 6)])
    assert importances(small_model()) == pytest.approx(decreases / decreases.sum())
    tree = small_model()

    def by(impurity: Impurity) -> Tree:
        return replace(tree, growth=replace(Growth(), impurity=impurity))

    root = 16 * 2 * 7 * 9 / 256 - 8 * 2 * 15 / 64 - 7 * 2 * 6 / 49
    decreases = np.array([root, 8 * 2 * 15 / 64, 7 * 2 * 6 / 49])
    assert importances(by(Impurity.GINI)) == pytest.approx(decreases / decreases.sum())
    assert importances(by(Impurity.GAIN_RATIO)) == pytest.approx(importances(tree))


@given(models())
def test_shares_are_of_one_whole_or_of_nothing_and_of_split_attributes_alone(tree: Tree) -> None:
    shares = importances(tree)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1) or shares.sum() == 0
    assert {k for k, share in enumerate(shares) if share > 0} <= tree.columns
