"""Method `randomized`: what the class holder mines and sends, and what of it is refused."""

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.models.tree_file import tree_json
from party.wire.codec import decode, encode
from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import ProjectedEstimates
from protocols.counting.rows import make_view
from protocols.errors import DisagreementError, InputError, PeerError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.messages import ClassCounts, DisguisedPage, SentTree
from protocols.role import Message, Transcript, run_alone, run_pair
from protocols.secret_tree.bits import Allowance
from protocols.terms import TO_THE_END, Growth, Impurity, Method
from protocols.two_party import mined
from protocols.two_party.inputs import split_records
from protocols.two_party.mined import receive_mined
from protocols.two_party.training import Outcome
from tests.support.cases import cases, correlated
from tests.support.duel import duel, replay
from tests.support.examples import at_most
from tests.support.parties import Case, make_local, make_roles, make_terms, play
from tests.support.plain import ReferenceId3, schema_of

CASE = Case(
    {"alice": (2, 3, 2), "bob": (2, 3)},
    ("alice",),
    2,
    correlated((2, 3, 2, 2, 3, 2), 400, seed=3, flips=0.7),
    {"alice": 2, "bob": 2},
    make_terms(method="randomized", theta=Fraction(4, 5)),
)
ALONE = replace(CASE, terms=make_terms(method="randomized", theta=Fraction(4, 5), reveal="tree", max_depth=3))


def shape(node: Node) -> Any:
    """Return what a tree splits on and says, without the counts."""
    return node.label if isinstance(node, Leaf) else (node.attribute, *map(shape, node.children))


def test_the_tree_is_the_one_that_the_class_holder_grows_and_crosses_without_a_count() -> None:
    """She grows it from her table, Bob's pages and the agreement."""
    sent = Transcript()
    a, b = play(CASE, sent)
    alice, bob = (make_local(CASE, party) for party in ("alice", "bob"))
    train, *_ = split_records(CASE.terms.seed, 400, CASE.terms.test)
    design = bob.design(CASE.terms.theta, class_is_shared=False)
    pages = b"".join(message.codes for message in sent.sent_by_b if isinstance(message, DisguisedPage))
    theirs = alice.table.codes[:, :2].copy()
    theirs.flat[:] = list(pages)
    view = make_view(a.tree.schema, "alice", alice.table.codes, theirs, design).rows(train)
    counts, told = ProjectedEstimates(Estimator(view)), alice.class_counts(train)
    grown = run_alone(HybridId3(a.tree.schema, told, None, counts, growth=CASE.terms.growth).build()).tree
    assert a.tree == b.tree
    assert shape(a.tree.root) == shape(grown.root)
    assert grown.depth > 1
    assert not any(node.counts for _, node in a.tree.nodes())


def test_whatever_is_revealed_one_copy_crosses_to_the_miner_and_no_class_counts() -> None:
    for owners in [("alice",), ("alice", "bob")]:
        for case in [CASE, ALONE]:
            sent = Transcript()
            a, b = play(replace(case, class_owners=owners), sent)
            crossed = (*sent.sent_by_a, *sent.sent_by_b)
            assert a.tree == b.tree
            assert a.tree.depth > 0
            assert not any(isinstance(message, ClassCounts) for message in crossed)
            assert not any(isinstance(message, DisguisedPage) for message in sent.sent_by_a)
            assert [len(message.codes) for message in sent.sent_by_b if isinstance(message, DisguisedPage)] == [2 * 400]
            assert (a.exact_counts_disclosed, a.smc_computations) == (0, 0)


@pytest.mark.parametrize(("bits", "nodes"), [(5, 1), (6, 4), (20, 13), (40, 20)])
def test_a_tree_alone_grows_no_further_than_its_bits(bits: int, nodes: int) -> None:
    """To the root alone, to one split of three values, and to some of a level."""
    alice, bob = play(replace(ALONE, terms=replace(ALONE.terms, most_bits=bits)))
    allowance = Allowance(alice.tree.schema, 3, most=Fraction(bits))
    assert alice.tree == bob.tree
    assert allowance.spent(alice.tree) <= bits
    assert alice.tree.size == nodes


BAD: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "no node": lambda nodes: (),
    "a node too few": lambda nodes: nodes[:-1],
    "a node too many": lambda nodes: (*nodes, nodes[-1]),
    "an unknown class": lambda nodes: (*nodes[:-1], ~2),
    "an unknown attribute": lambda nodes: (5, *nodes[1:]),
    "an attribute twice on a path": lambda nodes: (nodes[0], nodes[0], *[~0] * 9),
}


@pytest.mark.parametrize("change", BAD.values(), ids=list(BAD))
def test_what_is_no_tree_over_the_agreed_schema_is_the_peers_fault(
    change: Callable[[tuple[int, ...]], tuple[int, ...]],
) -> None:
    def tamper(who: str, number: int, message: Message) -> Message:
        return SentTree(change(message.nodes)) if isinstance(message, SentTree) else message

    _, bob = duel(*make_roles(CASE), tamper)
    assert type(bob.error) is PeerError
    assert "model does not fit" in str(bob.error)


@pytest.mark.parametrize(
    "limits",
    [{}, {"max_depth": 2}, {"min_leaf": 12}, {"min_leaf": 7, "impurity": Impurity.GINI, "max_depth": 3}],
    ids=str,
)
def test_what_is_sent_as_it_is_gives_plain_id3_with_the_same_limits(limits: dict[str, Any]) -> None:
    terms = replace(CASE.terms, **limits)
    case = replace(CASE, terms=terms)
    plainly = replace(make_local(case, "bob"), groups=())
    (_, alice), (_, bob) = run_pair(*make_roles(case, bob=plainly))
    train, *_ = split_records(terms.seed, 400, terms.test)
    reference = ReferenceId3((2, 3, 2, 2, 3), 2, terms.max_depth, terms.min_leaf, terms.impurity)
    assert alice.tree == bob.tree
    assert shape(alice.tree.root) == shape(reference.grow(CASE.codes[train].tolist()))


def received(
    *nodes: int, columns: int = 3, records: int = 1000, growth: Growth = TO_THE_END, most: Fraction | None = None
) -> Any:
    """Return the tree that a receiver takes it for, or the kind of error with which it ends."""
    schema = schema_of((2,) * columns, 2, alice=1)
    end = replay(receive_mined(schema, records, growth, Allowance(schema, None, most=most)), [SentTree(nodes)])
    return end.result or type(end.error)


def full(depth: int, level: int = 0) -> list[int]:
    """Return all nodes of a tree that splits every node of its first levels."""
    return [~0] if level == depth else [level, *full(depth, level + 1), *full(depth, level + 1)]


def test_trees_are_read_parents_first_and_refused_at_the_first_node_too_many() -> None:
    tree = received(0, ~1, 1, ~0, ~0)
    assert tree.root == Split((), 0, (Leaf((), 1), Split((), 1, (Leaf((), 0), Leaf((), 0)))))
    for limits, deepest in (({"growth": Growth(max_depth=3)}, 3), ({"records": 8}, 4), ({"most": Fraction(20)}, 2)):
        assert isinstance(received(*full(deepest), columns=6, **limits), Tree)
        assert received(*full(deepest + 1), columns=6, **limits) is PeerError

    class Nodes(tuple[int, ...]):
        """Tell how far they were read."""

        read = 0

        def __iter__(self) -> Any:
            for node in super().__iter__():
                Nodes.read += 1
                yield node

    endless = Nodes([0, ~0, ~1, *[~0] * 10_000])
    schema = schema_of((2, 2), 2, alice=1)
    end = replay(receive_mined(schema, 9, TO_THE_END, Allowance(schema, None)), [SentTree(endless)])
    assert type(end.error) is PeerError
    assert Nodes.read == 4


@settings(max_examples=at_most(60))
@given(cases(rows=40), st.sampled_from([Growth(), Growth(min_leaf=3), Growth(max_depth=2, impurity=Impurity.GINI)]))
def test_what_an_honest_miner_sends_is_always_taken(case: Case, growth: Growth) -> None:
    terms = replace(case.terms, method=Method.RANDOMIZED, min_leaf=growth.min_leaf, max_depth=growth.max_depth)
    terms = replace(terms, impurity=growth.impurity)
    outcomes: list[Outcome] = []
    try:
        outcomes += play(replace(case, terms=terms))
    except DisagreementError:  # no leaf of three among so few
        return
    except InputError as error:
        assert "more splits on a level than records" in str(error)  # noqa: PT017
        return
    assert outcomes[0].tree == outcomes[1].tree


def steps_and_memory(action: Callable[[], object]) -> tuple[int, int]:
    """Return how many functions are called, and the most memory that is used at a time."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        del frame, argument
        calls += event in ("call", "c_call")

    tracemalloc.start()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return calls, peak


def test_a_comb_of_twice_as_many_columns_takes_twice_the_steps_and_memory() -> None:
    """Were paths copied, either would be four times as much. What is done with a tree to its end is counted too."""

    def read(columns: int) -> tuple[int, int]:
        chain = [node for column in range(columns) for node in (column, ~0)]
        frame = encode(SentTree((*chain, ~0)))

        def use() -> None:
            tree = received(*decode(frame, SentTree).nodes, columns=columns)
            assert (tree.size, tree.depth, len(tree.columns)) == (2 * columns + 1, columns, columns)
            assert tree.digest()
            assert tree_json(tree)

        use()
        return steps_and_memory(use)

    (steps, memory), (more_steps, more_memory) = read(300), read(600)
    assert 1.8 < more_steps / steps < 2.2
    assert more_memory / memory < 2.4


def test_of_two_who_hold_the_class_the_first_mines_and_sends_no_tree_that_would_be_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = play(CASE)
    assert (a.records_test, b.records_test) == (80, 80)
    assert a.correct is not None
    assert 0 < a.standard_error < 80
    assert (b.correct, b.standard_error) == (None, 0.0)
    sent = Transcript()
    a, b = play(replace(CASE, class_owners=("alice", "bob")), sent)
    assert a.tree == b.tree
    assert sum(isinstance(m, SentTree) for m in sent.sent_by_a) == 1
    assert not any(isinstance(m, SentTree) for m in sent.sent_by_b)
    # Fractions of records can be split more often than there are records.
    monkeypatch.setattr(mined, "Counter", lambda _: {1: 401})
    with pytest.raises(InputError, match="more splits on a level than records: set min_leaf, or a max_depth"):
        play(CASE)
