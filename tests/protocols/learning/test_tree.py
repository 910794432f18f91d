"""The finished tree: predictions, the order of nodes, and a digest that sees every change."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from protocols.learning.tree import Leaf, Split, Tree, majority
from protocols.tables import ROOT, Attribute, Expression, Schema, Term
from tests.support.enumeration import every_record
from tests.support.plain import schema_of

INNER = Split((1, 3), 0, (Leaf((1, 0), 0), Leaf((0, 3), 1)))
ROOT_NODE = Split((4, 5), 1, (Leaf((3, 0), 0), INNER, Leaf((0, 0), 1)))
TREE = Tree(schema_of((2, 3), 2, alice=1), ROOT_NODE)


def test_a_prediction_is_that_of_the_leaf() -> None:
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


def test_equal_trees_have_equal_digests() -> None:
    other = Tree(schema_of((2, 3), 2, alice=1), replace(ROOT_NODE, counts=(4.0, 5.0)))
    assert other.digest() == TREE.digest()
    assert len(TREE.digest()) == 32


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_changes_the_digest(change: str) -> None:
    assert CHANGES[change](TREE).digest() != TREE.digest()


def test_all_changes_have_different_digests() -> None:
    assert len({change(TREE).digest() for change in CHANGES.values()}) == len(CHANGES)


def test_a_column_of_many_values_is_not_two_columns() -> None:
    """FAULTS case 33: the same labels, split otherwise."""
    label = Attribute("bob", "class", ("no", "yes"))
    one = Schema((Attribute("alice", "x", ("a", "b", "bob", "y", "c")),), label, ("bob",))
    two = Schema((Attribute("alice", "x", ("a", "b")), Attribute("bob", "y", ("c",))), label, ("bob",))
    assert Tree(one, Leaf((1, 0), 0)).digest() != Tree(two, Leaf((1, 0), 0)).digest()


def test_a_leaf_is_not_a_split_of_the_same_number() -> None:
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
