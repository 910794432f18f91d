"""Before any data leaves, both sides compare everything; a difference ends both with the name of the same field."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import PeerError
from protocols.jobs import NO_JOB
from protocols.messages import Greeting, HiddenContents, JointDigests, Share, SharedColumn, TableCommitment, Verdict
from protocols.terms import EVERYONE, HALF, Learner, RuleTerms
from protocols.two_party.agreement import FIELDS
from protocols.two_party.inputs import PartyInputs
from tests.support.meeting import (
    BOTH_HOLD,
    BROUGHT,
    COPY,
    ONE_HOLDS,
    Meeting,
    flip_first_class,
    meet,
    object_to,
    on,
    outcome_of,
    rename,
    with_attributes,
    with_codes,
    with_terms,
)
from tests.support.parties import TEST_BITS, labels, make_local, make_terms


def without_attributes(party: str) -> PartyInputs:
    case = replace(BOTH_HOLD, sizes={"alice": (), "bob": ()}, codes=np.zeros((20, 1), dtype=np.uint8))
    return make_local(case, party)


OTHER_TERMS: dict[str, dict[str, Any]] = {
    "method": {"method": "smc"},
    "theta": {"theta": Fraction(9, 10)},
    "omega": {"omega": 2},
    "counting": {"counting": "paillier"},
    "class": {"class_name": "label"},
    "seed": {"seed": 2},
    "test": {"test": Fraction(1, 3)},
    "key_bits": {"key_bits": 128},
    "max_depth": {"max_depth": 3},
    "min_leaf": {"min_leaf": 2},
    "noise": {"noise": Fraction(1)},
    "impurity": {"impurity": "gini"},
    "learner": {"learner": "naive_bayes"},
}

OF_RULES = make_terms(
    learner=Learner.RULES, rules=RuleTerms(HALF, 2, 9), class_name=EVERYONE, test=Fraction(0), max_depth=None
)

IMPOSSIBLE_TERMS: list[tuple[str, dict[str, Any]]] = [
    ("method", {"method": "guess"}),
    ("theta", {"theta": Fraction(0)}),
    ("theta", {"theta": Fraction(1)}),
    ("theta", {"theta": Fraction(-1, 2)}),
    ("theta", {"theta": Fraction(1, 2)}),
    ("theta", {"theta": Fraction(1, 10**18)}),
    ("omega", {"omega": -1}),
    ("omega", {"omega": 0}),
    ("omega", {"omega": 65536}),
    ("counting", {"counting": "abacus"}),
    ("class", {"class_name": ""}),
    ("class", {"class_name": "x" * 1025}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 2**63}),
    ("test", {"test": Fraction(1)}),
    ("test", {"test": Fraction(-1, 5)}),
    ("key_bits", {"key_bits": 0}),
    ("key_bits", {"key_bits": 16385}),
    ("max_depth", {"max_depth": -1}),
    ("max_depth", {"max_depth": 65536}),
    ("min_leaf", {"min_leaf": 0}),
    ("min_leaf", {"min_leaf": 2**31}),
    ("impurity", {"impurity": "chaos"}),
    ("learner", {"learner": "oracle"}),
    ("learner", {"learner": "rules"}),
]


def first_terms() -> list[tuple[str, Meeting]]:
    meetings: list[tuple[str, Meeting]] = []
    for name, changes in OTHER_TERMS.items():
        meetings += [
            (f"{name}: the responder objects", meet(bob_agrees=object_to(name))),
            (f"{name}: the initiator objects", meet(alice_agrees=object_to(name))),
            (f"{name}: another answer", meet(tamper=on("b", Greeting, with_terms(**changes)))),
            (f"{name}: another proposal arrives", meet(tamper=on("a", Greeting, with_terms(**changes)))),
        ]
    for name, changes in IMPOSSIBLE_TERMS:
        meetings.append((f"{name}: impossible {changes}", meet(tamper=on("a", Greeting, with_terms(**changes)))))
    return meetings


AT_ONCE: list[tuple[str, Meeting]] = [
    ("version: the responder's", meet(tamper=on("b", Greeting, lambda m: replace(m, version="cotally/1")))),
    ("version: the initiator's", meet(tamper=on("a", Greeting, lambda m: replace(m, version="cotally/0")))),
    ("party: the responder's", meet(tamper=on("b", Greeting, lambda m: replace(m, party="mallory")))),
    ("party: the initiator's", meet(tamper=on("a", Greeting, lambda m: replace(m, party="mallory")))),
    ("party: a mirror", meet(alice_expects="alice", tamper=on("b", Greeting, lambda m: replace(m, party="alice")))),
    *first_terms(),
    ("reveal: the responder objects", meet(bob_agrees=object_to("reveal"))),
    ("reveal: the initiator objects", meet(alice_agrees=object_to("reveal"))),
    ("job: the answer has none", meet(tamper=on("b", Greeting, lambda m: replace(m, job=NO_JOB)))),
    ("job: the proposal has none", meet(tamper=on("a", Greeting, lambda m: replace(m, job=NO_JOB)))),
    (
        "class: the initiator's column has another name",
        meet(alice=with_attributes(make_local(BOTH_HOLD, "alice"), rename("label"))),
    ),
    (
        "class: the responder's column has another name",
        meet(bob=with_attributes(make_local(BOTH_HOLD, "bob"), rename("label"))),
    ),
    (
        "columns: the initiator has one of the class's name",
        meet(alice=with_attributes(make_local(BOTH_HOLD, "alice"), lambda a: (replace(a[0], name="class"), *a[1:]))),
    ),
    (
        "columns: the responder has one of the class's name",
        meet(bob=with_attributes(make_local(BOTH_HOLD, "bob"), lambda a: (replace(a[0], name="class"), *a[1:]))),
    ),
    ("rules: the responder objects", meet(terms=OF_RULES, bob_agrees=object_to("rules"))),
    ("rules: another answer", meet(terms=OF_RULES, tamper=on("b", Greeting, with_terms(rules=RuleTerms(HALF, 3, 9))))),
    ("key_bits: the keys are smaller", meet(terms=make_terms(counting="paillier", key_bits=TEST_BITS + 1))),
]

AFTER_THE_SHARES: list[tuple[str, Meeting]] = [
    ("records: fewer", meet(bob=with_codes(make_local(BOTH_HOLD, "bob"), lambda codes: codes[:-1]))),
    (
        "record ids: others",
        meet(bob=replace(make_local(BOTH_HOLD, "bob"), records=tuple(f"canary{i}" for i in range(20)))),
    ),
    (
        "record ids: another order",
        meet(bob=replace(make_local(BOTH_HOLD, "bob"), records=make_local(BOTH_HOLD, "bob").records[::-1])),
    ),
    (
        "class values: another order",
        meet(
            bob=with_attributes(
                make_local(BOTH_HOLD, "bob"), lambda a: (*a[:-1], replace(a[-1], values=a[-1].values[::-1]))
            )
        ),
    ),
    (
        "class values: one for all records",
        meet(
            replace(BOTH_HOLD, class_owners=("bob",)),
            tamper=on("b", Share, lambda m: replace(m, class_values=(m.class_values or ())[:1])),
        ),
    ),
    (
        "columns: the peer shows one of the class's name",
        meet(
            tamper=on(
                "b", Share, lambda m: replace(m, attributes=(replace(m.attributes[0], name="class"), *m.attributes[1:]))
            )
        ),
    ),
    ("class values: none at all", meet(tamper=on("b", Share, lambda m: replace(m, class_values=())))),
    ("class column: a record differs", meet(alice=with_codes(make_local(BOTH_HOLD, "alice"), flip_first_class))),
    ("class: nobody holds it", meet(replace(BOTH_HOLD, class_owners=()))),
    (
        "columns: a name twice",
        meet(alice=with_attributes(make_local(BOTH_HOLD, "alice"), lambda a: (a[0], replace(a[1], name="a0"), a[2]))),
    ),
    (
        "columns: too many values",
        meet(tamper=on("b", Share, lambda m: replace(m, attributes=(SharedColumn("b0", labels(257)),)))),
    ),
    ("columns: none", Meeting(without_attributes("alice"), without_attributes("bob"))),
    ("theta: too fine to compute with", meet(terms=make_terms(theta=Fraction(10**17, 10**18 - 1)))),
    ("groups: a column twice", meet(tamper=on("b", Share, lambda m: replace(m, groups=((0,), (0,)))))),
    ("groups: a column below zero", meet(tamper=on("b", Share, lambda m: replace(m, groups=((-1,),))))),
]


@pytest.mark.parametrize(("case", "meeting"), AT_ONCE, ids=[name for name, _ in AT_ONCE])
def test_a_difference_in_greeting_or_terms_ends_both_sides_before_a_name_leaves(case: str, meeting: Meeting) -> None:
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
    assert kinds == {Greeting, Verdict}


@pytest.mark.parametrize(("case", "meeting"), AFTER_THE_SHARES, ids=[name for name, _ in AFTER_THE_SHARES])
def test_a_difference_in_the_shares_ends_both_sides_before_data_leave(case: str, meeting: Meeting) -> None:
    """A share that only one side sees changed is no more than what a hostile peer sends: both end all the same."""
    alice, bob, kinds = outcome_of(meeting)
    assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
    compared = set() if alice.field == "records" else {HiddenContents, JointDigests}
    assert kinds == {Greeting, Verdict, Share, TableCommitment} | compared
    assert "canary" not in f"{alice} {bob}"


def test_every_field_has_a_case() -> None:
    told = {name.split(":")[0] for name, _ in (*AT_ONCE, *AFTER_THE_SHARES)}
    others = {"class counts", "memory", "run", "released", "budget", "ids", "id list", "overlap", "comparisons"}
    others |= {"model", "receiver", "probabilities", "rows", "people", "predictions", "trained on"}  # of predictions
    others |= {"most_bits", "most_columns", "most_values"}  # of a tree alone
    assert told | {*BROUGHT, COPY} == set(FIELDS) - others


def test_those_who_agree_know_the_same() -> None:
    for case in (BOTH_HOLD, ONE_HOLDS, replace(BOTH_HOLD, class_owners=("alice",))):
        alice, bob = meet(case).play()
        assert alice.result
        assert bob.result
        (a, _), (b, _) = alice.result, bob.result
        assert (a.terms, a.schema) == (b.terms, b.schema)
        assert (a.own_design, a.peer_design) == (b.peer_design, b.own_design)
        assert (a.peer, b.peer) == ("bob", "alice")
        shared = len(case.class_owners) > 1
        assert len(a.own_design.sizes) == 2 + ("alice" in case.class_owners and not shared)
        assert len(b.own_design.sizes) == 1 + ("bob" in case.class_owners and not shared)
    alice, _ = meet(tamper=on("b", Verdict, lambda m: Share(0, (), None, ()))).play()
    assert type(alice.error) is PeerError
