"""The learner over made-up engines: which counts it asks for, which attribute it takes, where it stops."""

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.counting.plaintext import PlaintextEngine
from protocols.counts import Counts
from protocols.errors import InputError
from protocols.learning.id3 import HybridId3, Result
from protocols.learning.impurity import entropy, gain
from protocols.learning.ranking import Ranking
from protocols.learning.tree import Leaf, Node, Split
from protocols.role import Progress, run_alone
from protocols.simulation.two_party import PlainRanking
from protocols.tables import Attribute, Codes, Schema, joint_schema
from protocols.terms import ALL, Window
from tests.support.cases import correlated
from tests.support.examples import at_most
from tests.support.plain import FixedTables, RecordingEngine, reference_id3, schema_of

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


@settings(max_examples=at_most(200))
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    classes=st.integers(1, 4),
    records=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_is_id3_as_anyone_would_write_it(sizes: list[int], classes: int, records: int, seed: int) -> None:
    codes = correlated([*sizes, classes], records, seed, flips=0.5)
    assert id3(schema_of(sizes, classes), codes).tree.root == reference_id3(codes.tolist(), sizes, classes)


def test_equal_gains_go_to_the_first_in_the_agreed_order() -> None:
    """Three copies of one column, of which the second and third are Bob's; the class is the column."""
    codes = np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.uint8)
    root = id3(schema_of((2, 2, 2), 2, alice=1), codes).tree.root
    assert root == Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1)))
    for ahead, chosen in ((0.0, 0), (0.49, 0), (1.0, 1)):
        tables = {0: [[3.0, 1.0], [1.0, 3.0]], 1: [[3.0 + ahead, 1.0 - ahead], [1.0 - ahead, 3.0 + ahead]]}
        root = run_alone(HybridId3(schema_of((2, 2), 2), (4, 4), ALL, FixedTables(tables)).build()).tree.root
        assert isinstance(root, Split)
        assert root.attribute == chosen


def test_leaves_are_made_where_nothing_can_be_split() -> None:
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


def test_for_a_root_of_one_class_nothing_is_counted() -> None:
    """The root's class counts are told by who holds the class; the paper asks for them."""
    codes = np.zeros((3, 2), dtype=np.uint8)
    result = id3(schema_of((2,), 2), codes)
    assert result.tree.root == Leaf((3, 0), 0)
    assert result.computations == 0


def test_quinlans_example_gives_quinlans_tree_and_the_printed_gains() -> None:
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


def test_a_tree_may_be_deeper_than_pythons_stack() -> None:
    """Constant columns part nothing, and contradictory records never become pure: one node per level."""
    columns = 250
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


@pytest.mark.parametrize(("window", "chosen"), [(1, (0,)), (2, (0, 2)), (3, (0, 1, 2))])
@pytest.mark.parametrize("estimates", [(MINE, YOURS), (YOURS, MINE)])
def test_candidates_are_ranked_by_the_mean_of_both_sides(
    window: int, chosen: tuple[int, ...], estimates: Sequence[Mapping[int, Any]]
) -> None:
    codes = correlated((2, 2, 2, 2, 2), 40, seed=1)
    _, engine, _ = play_windows(window, codes, schema_of((2, 2, 2, 2), 2, alice=2), estimates)
    assert engine.levels[0][0].candidates == chosen


def test_equal_means_are_ranked_in_the_agreed_order() -> None:
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


def test_progress_ends_with_all_records_settled() -> None:
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
