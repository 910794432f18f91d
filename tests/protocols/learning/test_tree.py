"""The finished tree: predictions, routes, importance, the order of nodes, and a digest that sees every change."""

from collections.abc import Callable
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.learning.impurity import importances
from protocols.learning.routes import Routes, RowOutcome
from protocols.learning.tree import Leaf, Split, Tree, majority
from protocols.tables import ROOT, Attribute, Expression, Schema, Term
from protocols.terms import Growth, Impurity
from tests.support.enumeration import every_record
from tests.support.models import chain, models, small_model
from tests.support.plain import schema_of

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


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_changes_the_digest(change: str) -> None:
    assert CHANGES[change](TREE).digest() != TREE.digest()


def test_digests_are_those_of_one_tree() -> None:
    other = Tree(schema_of((2, 3), 2, alice=1), replace(ROOT_NODE, counts=(4.0, 5.0)))
    assert other.digest() == TREE.digest()
    assert len(TREE.digest()) == 32
    assert len({change(TREE).digest() for change in CHANGES.values()}) == len(CHANGES)
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
        (ROOT, ROOT_NODE),
        (ROOT & Term(1, 0), Leaf((3, 0), 0)),
        (one, INNER),
        (one & Term(0, 0), Leaf((1, 0), 0)),
        (one & Term(0, 1), Leaf((0, 3), 1)),
        (ROOT & Term(1, 2), Leaf((0, 0), 1)),
    ]
    one = ROOT & Term(1, 1)
    assert TREE.leaves() == [
        (ROOT & Term(1, 0), 0),
        (one & Term(0, 0), 0),
        (one & Term(0, 1), 1),
        (ROOT & Term(1, 2), 1),
    ]
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
def test_bits_and_weights_add_up_to_what_the_whole_tree_says_whoever_asks(tree: Tree, data: st.DataObject) -> None:
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
