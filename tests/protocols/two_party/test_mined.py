"""Method `randomized`: what the class holder mines and sends, and what of it is refused.

A partner that chooses its class, seed or test share so that counts name people learns nothing (DESIGN 14).

Bob attacks: he has no limits of his own and otherwise follows the protocol. Alice has the usual ones.
"""

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from party.models.tree_file import tree_json
from party.wire.codec import decode, encode
from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import ProjectedEstimates
from protocols.counting.rows import make_view
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from protocols.jobs import Job, Train
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.messages import (
    ClassCounts,
    DisguisedPage,
    Greeting,
    HiddenContents,
    JointDigests,
    SentTree,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.role import Message, Transcript, run_alone, run_pair
from protocols.secret_tree.bits import Allowance
from protocols.tables import Codes
from protocols.terms import TO_THE_END, Growth, Impurity, Method
from protocols.two_party import mined
from protocols.two_party.agreement import answer, object_to_limits, propose
from protocols.two_party.inputs import USUAL_LIMITS, Limits, PartyInputs, split_records
from protocols.two_party.mined import receive_mined
from protocols.two_party.training import Outcome
from tests.support.cases import cases, correlated
from tests.support.duel import End, Tamper, duel, honest, replay
from tests.support.examples import at_most
from tests.support.parties import NO_LIMITS, Case, make_local, make_roles, make_terms, play
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

    (steps, memory), (more_steps, more_memory) = read(80), read(160)
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


METHODS = ("hybrid", "smc", "randomized")
RECORDS = 200
HELD_OUT = RECORDS // 5
BEFORE_COUNTS: set[type[Message]] = {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}


def with_class(classes: int, labels: Any, **terms: Any) -> Case:
    """Return a case whose class, Bob's, is given: a number per record."""
    codes: Codes = np.column_stack([correlated((2, 3, 2), RECORDS, seed=1), labels]).astype(np.uint8)
    return Case(
        sizes={"alice": (2, 3), "bob": (2,)},
        class_owners=("bob",),
        classes=classes,
        codes=codes,
        groups={"alice": 1, "bob": 1},
        terms=make_terms(**{"omega": 1, "theta": Fraction(9, 10)} | terms),
    )


def limited(case: Case, party: str = "alice", limits: Limits = USUAL_LIMITS) -> PartyInputs:
    return replace(make_local(case, party), limits=limits)


def attack(case: Case, tamper: Tamper = honest, limits: Limits = USUAL_LIMITS) -> tuple[End[Any], End[Any]]:
    return duel(*make_roles(case, limited(case, limits=limits)), tamper)


def halves() -> Any:
    return np.arange(RECORDS) % 2


def agree_to_all(job: Job) -> None:
    del job


def rare(train_records: int, method: str = "hybrid", seed: int = 1) -> Case:
    """Return a case whose second class has this many training records, and some held-out ones."""
    case = with_class(2, np.zeros(RECORDS), method=method, seed=seed)
    train, test = case_split(case)
    codes = case.codes.copy()
    codes[train[:train_records], -1] = 1
    codes[test[::2], -1] = 1
    return replace(case, codes=codes)


def case_split(case: Case) -> tuple[Any, Any]:
    return split_records(case.terms.seed, len(case.codes), case.terms.test)


def test_the_holder_of_the_class_keeps_to_its_own_limits_before_it_counts() -> None:
    for case, field, sent in [
        (rare(9), "class counts", BEFORE_COUNTS),
        (with_class(21, np.arange(RECORDS) % 21), "class values", {Greeting, Verdict}),
        (with_class(2, halves(), test=Fraction(1, RECORDS)), "test", {Greeting, Verdict}),
        (with_class(2, halves(), min_leaf=1 + (RECORDS - HELD_OUT) // 2), "min_leaf", {Greeting, Verdict}),
    ]:
        bob = limited(case, "bob")
        objection = object_to_limits(bob, case.terms)
        assert objection is not None
        assert objection.field == field
        ends = duel(*make_roles(case, bob=bob))
        for end in ends:
            assert isinstance(end.error, DisagreementError)
            assert end.error.field == field
            assert {type(message) for message in end.sent} == sent
        assert objection.reason in str(ends[1].error)


@pytest.mark.parametrize("opens", [True, False], ids=["she calls", "she answers"])
def test_what_a_side_agrees_to_shows_of_no_split_whether_a_class_is_rare_in_it(opens: bool) -> None:
    """A partner could try thousands of splits, take none, and solve what is refused for each record's class."""
    for seed in range(5):
        for train_records in (1, 5, 9, 30):
            case = rare(train_records, seed=seed)
            first, second = limited(case, "bob"), limited(case)
            proposes, answers = (first, second) if opens else (second, first)
            ends = duel(
                propose(proposes, Train(case.terms), agree_to_all, answers.party, b"1" * 32),
                answer(answers, agree_to_all, proposes.party, b"2" * 32),
            )
            assert [end.error for end in ends] == [None, None]


def test_enough_held_out_records_or_none_are_accepted() -> None:
    for method in METHODS:
        assert [end.error for end in attack(rare(10, method))] == [None, None]
    # A share below one record holds out none.
    for test in (Fraction(0), Fraction(1, 2 * RECORDS), Fraction(30, RECORDS)):
        assert [end.error for end in attack(with_class(2, halves(), test=test))] == [None, None]
    # One more is refused above.
    assert [end.error for end in attack(with_class(2, halves(), min_leaf=(RECORDS - HELD_OUT) // 2))] == [None, None]
    case = with_class(21, np.arange(RECORDS) % 21, method="randomized")
    assert all(end.error is not None for end in attack(case, limits=Limits(smallest_class=5)))
    assert [end.error for end in attack(case, limits=Limits(smallest_class=5, max_classes=21))] == [None, None]
    assert [end.error for end in attack(rare(1), limits=Limits(smallest_class=1))] == [None, None]
    assert object_to_limits(replace(make_local(case, "bob"), limits=NO_LIMITS), case.terms) is None


def told(sender: str, change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Tamper:
    """Tell other class counts than those that are true."""

    def tamper(who: str, number: int, message: Message) -> Message:
        return ClassCounts(change(message.values)) if who == sender and isinstance(message, ClassCounts) else message

    return tamper


@pytest.mark.parametrize("values", [(), (160,), (80, 80, 0), (80, 81), (161, -1), (0, 0)])
def test_counts_that_are_not_those_of_the_training_records_are_refused(values: tuple[int, ...]) -> None:
    alice, _ = attack(with_class(2, halves()), told("b", lambda _: values))
    assert type(alice.error) is PeerError
    assert "class counts do not add up to the training records" in str(alice.error)


@pytest.mark.parametrize("terms", [{}, {"counting": "paillier"}, {"method": "smc"}])
@pytest.mark.parametrize("holder", ["alice", "bob"])
def test_counts_that_are_not_those_of_the_tree_end_the_run_for_good(terms: dict[str, Any], holder: str) -> None:
    """Conservation holds from the root on: a class of one person cannot be passed off as a large one."""
    case = replace(rare(1), class_owners=(holder,), terms=make_terms(omega=1, **terms))
    victim = 1 if holder == "alice" else 0
    roles = make_roles(case, *((None, limited(case, "bob")) if victim else (limited(case), None)))
    end = duel(*roles, told(holder[0], lambda values: (values[0] - 60, values[1] + 60)))[victim]
    assert type(end.error) is DeviationError


def both_hold(tamper: Tamper, case: Case | None = None) -> tuple[End[Any], End[Any]]:
    case = replace(case or with_class(2, halves()), class_owners=("alice", "bob"))
    return duel(*make_roles(case, limited(case)), tamper)


def test_where_both_hold_the_class_both_send_and_compare() -> None:
    ends = both_hold(honest)
    for end in ends:
        assert end.error is None
        (counts,) = [message.values for message in end.sent if isinstance(message, ClassCounts)]
        assert sum(counts) == RECORDS - HELD_OUT
        assert sum(isinstance(message, HiddenContents) for message in end.sent) == 2  # of the ids, and of the class
    case = with_class(2, halves())
    alice, _ = both_hold(told("b", lambda values: (values[0] - 1, values[1] + 1)), case)
    assert type(alice.error) is DeviationError
    assert not any(isinstance(message, DisguisedPage) for message in alice.sent)
    for method in METHODS:
        for end in attack(with_class(1, np.zeros(RECORDS), method=method)):
            assert isinstance(end.error, DisagreementError)
            assert end.error.field == "class values"
            assert {type(message) for message in end.sent} <= BEFORE_COUNTS


@pytest.mark.parametrize("method", ["hybrid", "smc"])
def test_the_root_of_the_tree_has_the_counts_that_were_sent(method: str) -> None:
    case = with_class(2, halves(), method=method)
    alice, bob = attack(case)
    assert alice.result is not None
    (counts,) = [message.values for message in bob.sent if isinstance(message, ClassCounts)]
    train, _ = case_split(case)
    assert counts == tuple(np.bincount(case.codes[train, -1]).tolist())
    assert tuple(alice.result[1].tree.root.counts) == counts
