"""Each thing that a party may object to in a job, or in what the peer brings to it, ends both sides by its own name."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.errors import DisagreementError
from protocols.jobs import Align, Job, Predict, PredictionTerms, Receiver, Train
from protocols.messages import Greeting
from protocols.terms import MODEL_BYTES, Method, Reveal, RuleMetric, RuleTerms, Terms
from protocols.two_party import agreement
from protocols.two_party.agreement import (
    Agreement,
    agree_again,
    agree_on_training,
    answer,
    object_to_limits,
    propose,
)
from protocols.two_party.inputs import Limits, PartyInputs
from tests.support.duel import End, Tamper, duel, honest
from tests.support.joint_itemsets import rule_terms
from tests.support.meeting import BOTH_HOLD, ONE_HOLDS, object_to, on
from tests.support.parties import NO_LIMITS, agree_to_all, make_local, make_terms

ALICE, BOB = make_local(ONE_HOLDS, "alice"), make_local(ONE_HOLDS, "bob")
HER_CLASS = make_local(BOTH_HOLD, "alice")
MODEL = PredictionTerms(bytes(MODEL_BYTES), Receiver.INITIATOR, False)
RULES = rule_terms(RuleTerms(Fraction(1, 2), 2, 50))


def of_sets(least: Fraction) -> Terms:
    rules = RuleTerms(Fraction(1, 2), 2, 50, metric=RuleMetric.LIFT, min_threshold=least)
    return rule_terms(rules, method=Method.SMC, reveal=Reveal.SETS)


def met(job: Job, bob_agrees: Any = agree_to_all, tamper: Tamper = honest) -> tuple[End[Any], End[Any]]:
    roles = propose(ALICE, job, agree_to_all, "bob", b"1" * 32), answer(BOB, bob_agrees, "alice", b"2" * 32)
    return duel(*roles, tamper)


def assert_differ(ends: tuple[End[Any], End[Any]], field: str) -> None:
    for end in ends:
        assert isinstance(end.error, DisagreementError), end
        assert end.error.field == field


@pytest.mark.parametrize("job", [Train(make_terms()), Predict(MODEL), Align()], ids=["train", "predict", "align"])
def test_a_job_of_any_kind_that_the_policy_does_not_allow_is_refused(job: Job) -> None:
    assert [end.error for end in met(job)] == [None, None]
    assert_differ(met(job, bob_agrees=object_to("budget")), "budget")


@pytest.mark.parametrize(
    ("job", "answered", "field"),
    [
        (Predict(MODEL), Predict(replace(MODEL, receiver=Receiver.BOTH)), "receiver"),
        (Predict(MODEL), Predict(replace(MODEL, model=b"m" * MODEL_BYTES)), "model"),
        (Align(), Align(count_only=True), "ids"),
        (Align(), Train(make_terms()), "job"),
        (Predict(MODEL), Align(), "job"),
    ],
)
def test_an_answer_that_names_another_job_is_refused(job: Job, answered: Job, field: str) -> None:
    assert_differ(met(job, tamper=on("b", Greeting, lambda m: replace(m, job=answered))), field)


def again(alice: PartyInputs) -> tuple[End[Any], End[Any]]:
    job = Train(make_terms())
    return duel(agree_again(alice, job, agree_to_all), agree_again(BOB, job, agree_to_all))


def test_rows_that_an_alignment_has_left_are_judged_again() -> None:
    assert [end.error for end in again(ALICE)] == [None, None]
    assert_differ(again(replace(ALICE, limits=Limits())), "test")


@pytest.mark.parametrize(
    ("limits", "terms", "field"),
    [
        (Limits(smallest_class=0), make_terms(), "test"),
        (NO_LIMITS, make_terms(min_leaf=9), "min_leaf"),
        (Limits(max_classes=1, smallest_test=0), make_terms(), "class values"),
        (Limits(smallest_class=20, smallest_test=0), make_terms(), "class counts"),
        (NO_LIMITS, replace(RULES, min_leaf=11), "rules"),
        (NO_LIMITS, RULES, None),
        (NO_LIMITS, of_sets(Fraction(1, 3)), None),
        (NO_LIMITS, of_sets(Fraction(10**17 - 1, 10**17)), "rules"),
        (NO_LIMITS, make_terms(min_leaf=8), None),
    ],
)
def test_what_our_own_limits_refuse_is_known_before_there_is_a_peer(
    limits: Limits, terms: Terms, field: str | None
) -> None:
    """20 records, of which 16 are trained on where a fifth is held out."""
    objection = object_to_limits(replace(HER_CLASS, limits=limits), terms)
    assert (objection and objection.field) == field


def test_our_class_is_counted_only_where_we_hold_one_and_its_counts_are_told_as_they_are() -> None:
    """Without a class the last column is an attribute; with noise the run judges what it tells."""
    strict = Limits(smallest_class=20, smallest_test=0)
    assert object_to_limits(replace(ALICE, limits=strict), make_terms()) is None
    noisy = make_terms(noise=Fraction(1), max_depth=2)
    assert object_to_limits(replace(HER_CLASS, limits=strict), noisy) is None


@pytest.mark.parametrize("most", [50 * 20, 50 * 20 - 1])
def test_sets_of_items_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(agreement, "MAX_SET_BITS", most)
    objection = object_to_limits(ALICE, RULES)
    assert (objection is None) == (most == 50 * 20)
    assert objection is None or (objection.field == "rules" and "at most 49 for 20 records" in objection.reason)


def agreed(alice: PartyInputs, bob: PartyInputs, terms: Terms) -> tuple[End[Agreement], End[Agreement]]:
    return duel(agree_on_training(alice, terms, "bob", bytes(64)), agree_on_training(bob, terms, "alice", bytes(64)))


def test_a_class_of_the_peer_with_more_values_than_we_allow_is_refused() -> None:
    for most, field in ((2, None), (1, "class values")):
        ends = agreed(replace(ALICE, limits=replace(NO_LIMITS, max_classes=most)), BOB, make_terms())
        assert [end.error is None for end in ends] == [field is None] * 2
        if field:
            assert_differ(ends, field)
