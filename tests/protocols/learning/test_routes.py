"""A tree walked by two parties, each by its own columns: the sum of bits and weights is where the row ends."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from protocols.learning.routes import Routes, RowOutcome
from protocols.learning.tree import Leaf, Split, Tree
from protocols.tables import Attribute, Schema
from tests.support.models import chain, models, small_model


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


def test_an_edge_is_asked_once_and_only_where_branches_differ() -> None:
    routes = Routes(small_model(), "alice", probabilities=True)
    assert routes.edges == 6  # three of her age, three of her city below the first
    assert Routes(small_model(), "bob", probabilities=True).edges == 2
    schema = Schema((Attribute("alice", "a", ("0", "1")),), Attribute("", "class", ("no", "yes")), ())
    agreed = Tree(schema, Split((3, 5), 0, (Leaf((1, 2), 1), Leaf((2, 3), 1))))
    routes = Routes(agreed, "alice", probabilities=False)
    assert (routes.edges, len(routes.outcomes)) == (0, 1)
    assert Routes(agreed, "alice", probabilities=True).edges == 2


def test_a_tree_deeper_than_the_stack_is_walked() -> None:
    tree = chain(3000)
    codes = np.zeros((3, 3000), dtype=np.int16)
    codes[1] = 1
    codes[2, 0] = -1
    assert [o.label for o in outcomes(tree, codes, "alice", probabilities=False)] == tree.predict(codes).tolist()
