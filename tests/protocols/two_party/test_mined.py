"""Method `randomized`: what the class holder mines and sends, and what of it is refused."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import gcd, prod
from typing import Any

import pytest

from protocols.counting.estimated import Estimator
from protocols.counting.projected import ProjectedEstimates
from protocols.counting.rows import make_view
from protocols.errors import PeerError
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Tree
from protocols.messages import DisguisedPage, SentNode, SentTree
from protocols.role import Message, Transcript, run_alone, run_pair
from protocols.tables.expression import ROOT
from protocols.terms import Impurity
from protocols.two_party.rounding import TWICE, count_step
from protocols.two_party.split import split_records
from tests.support.cases import correlated
from tests.support.duel import duel
from tests.support.parties import Case, make_local, make_roles, make_terms, play
from tests.support.plain import ReferenceId3

CASE = Case(
    {"alice": (2, 3, 2), "bob": (2, 3)},
    ("alice",),
    2,
    correlated((2, 3, 2, 2, 3, 2), 400, seed=3, flips=0.7),
    {"alice": 2, "bob": 2},
    make_terms(method="randomized", theta=Fraction(4, 5)),
)


def mined_by_hand(sent: Transcript) -> Tree:
    """Grow the tree from what Alice has: her table, Bob's pages, and the agreement."""
    alice, bob = (make_local(CASE, party) for party in ("alice", "bob"))
    schema = play(CASE)[0].tree.schema
    train, *_ = split_records(CASE.terms.seed, 400, CASE.terms.test)
    design = bob.design(CASE.terms.theta, class_is_shared=False)
    pages = b"".join(message.codes for message in sent.sent_by_b if isinstance(message, DisguisedPage))
    theirs = alice.table.codes[:, :2].copy()
    theirs.flat[:] = list(pages)
    view = make_view(schema, "alice", alice.table.codes, theirs, design).rows(train)
    told = alice.class_counts(train)
    growth = CASE.terms.growth
    return run_alone(HybridId3(schema, told, None, ProjectedEstimates(Estimator(view)), growth=growth).build()).tree


def test_the_tree_is_the_class_holders_own_with_counts_rounded_to_what_its_copy_tells() -> None:
    sent = Transcript()
    a, b = play(CASE, sent)
    assert a == b
    exact = mined_by_hand(sent)
    assert [(str(e), n.label if isinstance(n, Leaf) else n.attribute) for e, n in a.tree.walk()] == [
        (str(e), n.label if isinstance(n, Leaf) else n.attribute) for e, n in exact.walk()
    ]
    designs = [make_local(CASE, party).design(CASE.terms.theta, class_is_shared=False) for party in ("alice", "bob")]
    assert a.tree.root.counts == exact.root.counts
    for (expression, told), (_, node) in zip(a.tree.walk(), exact.walk(), strict=True):
        step = 1.0 if expression == ROOT else max(1.0, count_step(designs, sum(node.counts), TWICE))
        assert all(count % step == 0 for count in told.counts)
        assert all(abs(x - y) <= step / 2 for x, y in zip(told.counts, node.counts, strict=True))
    assert max(count_step(designs, sum(node.counts), TWICE) for _, node in exact.walk()) > 1


def test_the_accuracy_comes_as_multiples_of_a_quarter_of_its_error() -> None:
    outcome, _ = play(replace(CASE, terms=replace(CASE.terms, theta=Fraction(3, 5))))
    assert outcome.correct is not None
    step = gcd(int(outcome.correct), int(outcome.standard_error))
    assert step >= outcome.standard_error / 9 > 1  # the error itself is rounded up by less than a step


def with_nodes(change: Callable[[tuple[SentNode, ...]], tuple[SentNode, ...]]) -> Callable[[SentTree], SentTree]:
    return lambda m: replace(m, nodes=change(m.nodes))


BAD: dict[str, Callable[[SentTree], SentTree]] = {
    "no node": with_nodes(lambda nodes: ()),
    "a node too few": with_nodes(lambda nodes: nodes[:-1]),
    "a node too many": with_nodes(lambda nodes: (*nodes, nodes[-1])),
    "counts at the root": with_nodes(lambda nodes: (replace(nodes[0], counts=(1, 2)), *nodes[1:])),
    "counts of one class": with_nodes(lambda nodes: (*nodes[:-1], replace(nodes[-1], counts=(1,)))),
    "an unknown class": with_nodes(lambda nodes: (*nodes[:-1], replace(nodes[-1], label=2))),
    "an unknown attribute": with_nodes(lambda nodes: (replace(nodes[0], attribute=5), *nodes[1:])),
    "a split with a class": with_nodes(lambda nodes: (replace(nodes[0], label=1), *nodes[1:])),
    "an attribute twice on a path": lambda m: SentTree((m.nodes[0], replace(m.nodes[0], counts=(1, 1))), 0, 0),
    "too many right": lambda m: replace(m, correct=2**52),
    "too few right": lambda m: replace(m, correct=-(2**52)),
}


@pytest.mark.parametrize("change", BAD.values(), ids=list(BAD))
def test_what_is_no_tree_over_the_agreed_schema_is_the_peers_fault(
    change: Callable[[SentTree], SentTree],
) -> None:
    def tamper(who: str, number: int, message: Message) -> Message:
        return change(message) if isinstance(message, SentTree) else message

    _, bob = duel(*make_roles(CASE), tamper)
    assert type(bob.error) is PeerError
    assert "model does not fit" in str(bob.error)


def test_a_deeper_tree_than_was_agreed_is_the_peers_fault() -> None:
    """Alice mines to the end what Bob takes for a tree of depth 1."""
    deep = play(CASE)[0].tree.depth
    shallow = replace(CASE, terms=replace(CASE.terms, max_depth=deep - 1))
    sent = Transcript()
    play(CASE, sent)
    (whole,) = (message for message in sent.sent_by_a if isinstance(message, SentTree))

    def tamper(who: str, number: int, message: Message) -> Message:
        return whole if isinstance(message, SentTree) else message

    assert type(duel(*make_roles(shallow), tamper)[1].error) is PeerError
    assert duel(*make_roles(shallow))[1].error is None


def shape(node: Node) -> Any:
    """Return what a tree splits on and says, without the counts."""
    return node.label if isinstance(node, Leaf) else (node.attribute, *map(shape, node.children))


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


@pytest.mark.parametrize("orders", [(2, 3), (6,)])
def test_the_number_of_right_records_is_bounded_by_the_disguise_of_the_receivers_copy(orders: tuple[int, ...]) -> None:
    """The miner estimates from our copy: one record adds at most the inverse of each group's contrast."""
    case = replace(CASE, groups={"alice": 2, "bob": len(orders)}, terms=replace(CASE.terms, theta=Fraction(9, 10)))
    assert sorted(make_local(case, "bob").design(case.terms.theta, class_is_shared=False).orders) == list(orders)
    held_out = len(split_records(case.terms.seed, 400, case.terms.test)[1])
    limit = int(held_out * prod(Fraction(8 + order, 8) for order in orders))

    def told(correct: int) -> type[BaseException] | None:
        def tamper(who: str, number: int, message: Message) -> Message:
            return replace(message, correct=correct) if isinstance(message, SentTree) else message

        error = duel(*make_roles(case), tamper)[1].error
        return None if error is None else type(error)

    assert told(limit) is None
    assert told(limit + 1) is PeerError


def test_of_two_who_hold_the_class_the_first_name_mines() -> None:
    sent = Transcript()
    a, b = play(replace(CASE, class_owners=("alice", "bob")), sent)
    assert a == b
    assert sum(isinstance(m, SentTree) for m in sent.sent_by_a) == 1
    assert not any(isinstance(m, SentTree) for m in sent.sent_by_b)
