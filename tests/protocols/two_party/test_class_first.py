"""A partner that chooses its class, seed or test share so that counts name people learns nothing (DESIGN 14).

Bob attacks: he has no limits of his own and otherwise follows the protocol. Alice has the usual ones.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.jobs import Job, Train
from protocols.messages import (
    ClassCounts,
    DisguisedPage,
    Greeting,
    HiddenContents,
    JointDigests,
    Share,
    TableCommitment,
    Verdict,
)
from protocols.role import Message
from protocols.tables import Codes
from protocols.two_party.agreement import answer, object_to_limits, propose
from protocols.two_party.inputs import USUAL_LIMITS, Limits, PartyInputs, split_records
from tests.support.cases import correlated
from tests.support.duel import End, Tamper, duel, honest
from tests.support.parties import NO_LIMITS, Case, make_local, make_roles, make_terms

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


@pytest.mark.parametrize("method", METHODS)
def test_a_class_that_names_every_person_is_refused_before_anything_leaves(method: str) -> None:
    case = with_class(RECORDS, np.arange(RECORDS), method=method)
    alice, bob = attack(case)
    for end in (alice, bob):
        assert isinstance(end.error, DisagreementError)
        assert end.error.field == "class values"
        assert {type(message) for message in end.sent} == BEFORE_COUNTS
    assert "the class has 200 values, our [agree] max_classes allows 20: choose another class" in str(alice.error)
    assert "the class has one value, or too many" in str(bob.error)


@pytest.mark.parametrize("method", ["hybrid", "smc"])
@pytest.mark.parametrize("records", [0, 1, 9])
def test_a_class_of_few_training_records_is_refused_before_anything_leaves(method: str, records: int) -> None:
    """None at all included: all who have the value are held out then, and could be counted by the accuracy."""
    alice, bob = attack(rare(records, method))
    assert isinstance(alice.error, DisagreementError)
    assert isinstance(bob.error, DisagreementError)
    assert alice.error.field == bob.error.field == "class counts"
    assert {type(message) for message in alice.sent} == BEFORE_COUNTS
    assert {type(message) for message in bob.sent} == BEFORE_COUNTS | {ClassCounts}
    assert "1 of 2 class values have fewer than 10 training records (our [agree] smallest_class)" in str(alice.error)
    assert "merge rare values of the class" in str(bob.error)


def test_a_share_that_holds_out_few_people_is_refused_before_a_name_leaves() -> None:
    for method in METHODS:
        for test, seed, held_out in [(Fraction(1, RECORDS), 5, 1), (Fraction(29, RECORDS), 0, 29)]:
            alice, bob = attack(with_class(2, halves(), method=method, test=test, seed=seed))
            for end in (alice, bob):
                assert isinstance(end.error, DisagreementError)
                assert end.error.field == "test"
                assert {type(message) for message in end.sent} == {Greeting, Verdict}
            assert f"{held_out} records would be held out, our [agree] smallest_test asks for 30" in str(alice.error)
            assert "hold out more records, or none (test = 0)" in str(bob.error)


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
def test_what_a_side_agrees_to_tells_of_no_split_whether_a_class_is_rare_in_it(opens: bool) -> None:
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


def test_where_both_hold_the_class_both_tell_and_compare() -> None:
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
def test_the_root_of_the_tree_has_the_counts_that_were_told(method: str) -> None:
    case = with_class(2, halves(), method=method)
    alice, bob = attack(case)
    assert alice.result is not None
    (counts,) = [message.values for message in bob.sent if isinstance(message, ClassCounts)]
    train, _ = case_split(case)
    assert counts == tuple(np.bincount(case.codes[train, -1]).tolist())
    assert tuple(alice.result[1].tree.root.counts) == counts
