"""Before any data leaves, both sides compare everything; a difference ends both with the name of the same field."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import DisagreementError, InputError, PeerError
from protocols.jobs import NO_JOB, Align, Crosstab, CrosstabTerms, Job, Predict, PredictionTerms, Receiver, Train
from protocols.kinds import kinds_of
from protocols.messages import (
    ClassCounts,
    DisguisedPage,
    Greeting,
    HiddenContents,
    JointDigests,
    Share,
    SharedColumn,
    TableCommitment,
    Verdict,
)
from protocols.terms import HALF, MODEL_BYTES, Learner, Method, Metric, Reveal, RuleTerms, Terms
from protocols.two_party import agreement
from protocols.two_party.agreement import Agreement, agree_again, agree_on_training, answer, object_to_limits, propose
from protocols.two_party.inputs import Limits, PartyInputs
from protocols.two_party.objections import FIELDS, Objection, settle
from tests.support.duel import End, Tamper, duel, honest
from tests.support.joint_itemsets import rule_terms
from tests.support.kinds import beyond
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
    wide,
    with_attributes,
    with_codes,
    with_terms,
)
from tests.support.parties import NO_LIMITS, TEST_BITS, agree_to_all, labels, make_local, make_terms


def without_attributes(party: str) -> PartyInputs:
    case = replace(BOTH_HOLD, sizes={"alice": (), "bob": ()}, codes=np.zeros((20, 1), dtype=np.uint8))
    return make_local(case, party)


OTHER_TERMS: list[tuple[str, dict[str, Any]]] = [
    *(("method", {"method": "smc"}), ("theta", {"theta": Fraction(9, 10)}), ("omega", {"omega": 2})),
    *(("counting", {"counting": "paillier"}), ("class", {"class_name": "label"}), ("seed", {"seed": 2})),
    *(("test", {"test": Fraction(1, 3)}), ("key_bits", {"key_bits": 128}), ("max_depth", {"max_depth": 3})),
    *(("min_leaf", {"min_leaf": 2}), ("noise", {"noise": Fraction(1)}), ("impurity", {"impurity": "gini"})),
]
COUNTED = make_terms(method="smc", omega=3)
OF_RULES = make_terms(learner=Learner.RULES, rules=RuleTerms(HALF, 2, 9))
HERS, HIS = make_local(BOTH_HOLD, "alice"), make_local(BOTH_HOLD, "bob")


def first_terms() -> list[tuple[str, Meeting]]:
    meetings: list[tuple[str, Meeting]] = []
    for name, changes in OTHER_TERMS:
        meetings += [
            (f"{name}: the responder objects", meet(bob_agrees=object_to(name))),
            (f"{name}: the initiator objects", meet(alice_agrees=object_to(name))),
            (f"{name}: another answer", meet(tamper=on("b", Greeting, with_terms(**changes)))),
            (f"{name}: another proposal arrives", meet(tamper=on("a", Greeting, with_terms(**changes)))),
        ]
    for name, kind in kinds_of(Terms).items():
        value, _ = next(beyond(kind))
        impossible = meet(tamper=on("a", Greeting, with_terms(**{name: value})))
        meetings.append((f"{name.removesuffix('_name')}: impossible", impossible))
    for name, learner in (("learner", "oracle"), ("rules", "rules")):
        meetings.append((f"{name}: of {learner}", meet(tamper=on("a", Greeting, with_terms(learner=learner)))))
    return meetings


def greeting(sender: str, **changes: object) -> Meeting:
    """Let this side greet in another way."""
    return meet(tamper=on(sender, Greeting, lambda m: replace(m, **changes)))


def share(**changes: object) -> Meeting:
    """Let Bob show another share."""
    return meet(tamper=on("b", Share, lambda m: replace(m, **changes)))


def of_the_class(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give the first column the name of the class."""
    return (replace(columns[0], name="class"), *columns[1:])


def turned(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """List the values of the last column in another order."""
    return (*columns[:-1], replace(columns[-1], values=columns[-1].values[::-1]))


def named_twice(columns: tuple[Any, ...]) -> tuple[Any, ...]:
    return (columns[0], replace(columns[1], name="a0"), columns[2])


AT_ONCE: list[tuple[str, Meeting]] = [
    ("version: the responder's", greeting("b", version="cotally/1")),
    ("version: the initiator's", greeting("a", version="cotally/0")),
    ("party: the responder's", greeting("b", party="mallory")),
    ("party: the initiator's", greeting("a", party="mallory")),
    ("party: a mirror", meet(alice_expects="alice", tamper=on("b", Greeting, lambda m: replace(m, party="alice")))),
    *first_terms(),
    *(
        (f"learner: of {side}", meet(terms=COUNTED, tamper=on(side, Greeting, with_terms(learner="naive_bayes"))))
        for side in ("a", "b")
    ),
    ("reveal: the responder objects", meet(bob_agrees=object_to("reveal"))),
    ("reveal: the initiator objects", meet(alice_agrees=object_to("reveal"))),
    ("job: the answer has none", greeting("b", job=NO_JOB)),
    ("job: the proposal has none", greeting("a", job=NO_JOB)),
    ("class: the initiator's column has another name", meet(alice=with_attributes(HERS, rename("label")))),
    ("class: the responder's column has another name", meet(bob=with_attributes(HIS, rename("label")))),
    ("columns: the initiator has one of the class's name", meet(alice=with_attributes(HERS, of_the_class))),
    ("columns: the responder has one of the class's name", meet(bob=with_attributes(HIS, of_the_class))),
    ("rules: the responder objects", meet(terms=OF_RULES, bob_agrees=object_to("rules"))),
    ("rules: another answer", meet(terms=OF_RULES, tamper=on("b", Greeting, with_terms(rules=RuleTerms(HALF, 3, 9))))),
    ("key_bits: the keys are smaller", meet(terms=make_terms(counting="paillier", key_bits=TEST_BITS + 1))),
]

AFTER_THE_SHARES: list[tuple[str, Meeting]] = [
    ("records: fewer", meet(bob=with_codes(HIS, lambda codes: codes[:-1]))),
    ("record ids: others", meet(bob=replace(HIS, records=tuple(f"canary{i}" for i in range(20))))),
    ("record ids: another order", meet(bob=replace(HIS, records=HIS.records[::-1]))),
    ("class values: another order", meet(bob=with_attributes(HIS, turned))),
    (
        "class values: one for all records",
        meet(
            replace(BOTH_HOLD, class_owners=("bob",)),
            tamper=on("b", Share, lambda m: replace(m, class_values=(m.class_values or ())[:1])),
        ),
    ),
    (
        "columns: the peer shows one of the class's name",
        meet(tamper=on("b", Share, lambda m: replace(m, attributes=of_the_class(m.attributes)))),
    ),
    ("class values: none at all", share(class_values=())),
    ("class column: a record differs", meet(alice=with_codes(HERS, flip_first_class))),
    ("class: nobody holds it", meet(replace(BOTH_HOLD, class_owners=()))),
    ("columns: a name twice", meet(alice=with_attributes(HERS, named_twice))),
    ("columns: too many values", share(attributes=(SharedColumn("b0", labels(257)),))),
    ("columns: none", Meeting(without_attributes("alice"), without_attributes("bob"))),
    ("theta: too fine to compute with", meet(terms=make_terms(theta=Fraction(10**17, 10**18 - 1)))),
    ("groups: a column twice", share(groups=((0,), (0,)))),
    ("groups: a column below zero", share(groups=((-1,),))),
]


def test_a_difference_in_greeting_or_terms_ends_both_sides_before_a_name_leaves() -> None:
    for case, meeting in AT_ONCE:
        alice, bob, kinds = outcome_of(meeting)
        assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
        assert kinds == {Greeting, Verdict}


def test_a_difference_in_the_shares_ends_both_sides_before_data_leave() -> None:
    """A share that only one side sees changed is no more than what a hostile peer sends: both end all the same."""
    for case, meeting in AFTER_THE_SHARES:
        alice, bob, kinds = outcome_of(meeting)
        assert alice.field == bob.field == case.split(":", maxsplit=1)[0]
        compared = set() if alice.field == "records" else {HiddenContents, JointDigests}
        assert kinds == {Greeting, Verdict, Share, TableCommitment} | compared
        assert "canary" not in f"{alice} {bob}"


@pytest.mark.parametrize(
    ("sizes", "named"), [((20, 16, 2), "'a0' (20): "), ((9, 3, 2), "'a0' (9), 'a1' (3), 'a2' (2): ")]
)
def test_of_columns_too_wide_for_the_peer_those_within_the_usual_bound_are_named_only_where_none_is_wider(
    sizes: tuple[int, ...], named: str
) -> None:
    case = replace(BOTH_HOLD, sizes={"alice": sizes, "bob": ()}, codes=np.zeros((20, 4), dtype=np.uint8))
    _, alice = duel(settle(Objection("most_values", "")), settle(None, make_local(case, "alice")))
    assert f"the most have {named}give them fewer" in str(alice.error)


def test_every_field_has_a_case_and_those_who_agree_know_the_same() -> None:
    told = {name.split(":")[0] for name, _ in (*AT_ONCE, *AFTER_THE_SHARES)}
    others = {"class counts", "memory", "run", "released", "budget", "ids", "id list", "overlap", "comparisons"}
    others |= {"model", "receiver", "probabilities", "rows", "people", "predictions", "trained on", "answers"}
    others |= {"most_columns", "most_values", "initiator", "responder"}  # of a tree alone, and of a table
    others |= {"refusal", "approval", "proposal"}  # of people
    assert told | {*BROUGHT, COPY} == set(FIELDS) - others
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


RESPELLED = {
    "case": str.upper,
    "blanks": lambda record: f" {record}\t",
    "leading zeros": lambda record: record,
    "other people": lambda record: f"{record}x",
}


@pytest.mark.parametrize("how", RESPELLED)
def test_the_same_people_in_another_spelling_are_told_from_other_people_on_both_sides(how: str) -> None:
    """Bob's list has another order too, as its spelling sorts otherwise."""
    alice, bob = make_local(BOTH_HOLD, "alice"), make_local(BOTH_HOLD, "bob")
    if how == "leading zeros":
        alice = replace(alice, records=tuple(f"{number:03}" for number in range(20)))
        bob = replace(bob, records=tuple(f"{number}.0" for number in range(20)))
    else:
        bob = replace(bob, records=tuple(sorted(map(RESPELLED[how], bob.records))))
    right, wrong = "of the same people in another spelling: write the ids alike", "of other people"
    if how == "other people":
        right, wrong = wrong, right
    for error in outcome_of(meet(alice=alice, bob=bob))[:2]:
        assert error.field == "record ids"
        assert f"20 records here and at the peer, {right}" in str(error)
        assert wrong not in str(error)


@pytest.mark.parametrize("who", ["alice", "bob"])
@pytest.mark.parametrize("field", BROUGHT)
def test_a_peer_that_brings_another_table_than_before_is_refused_before_data_leave(field: str, who: str) -> None:
    asked: list[Agreement] = []

    def judge(agreed: Agreement) -> Objection:
        asked.append(agreed)
        return Objection(field, "canary: our own business")

    ends = meet(ONE_HOLDS, **{f"{who}_judges": judge})
    alice, bob, kinds = outcome_of(ends)
    assert alice.field == bob.field == field
    assert kinds == {Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests}
    ours, theirs = (alice, bob) if who == "alice" else (bob, alice)
    assert "canary" in str(ours)
    assert str(theirs) == (
        f"the parties differ on {field!r}: "
        "this data set was used with another table of ours before, and results of both can be subtracted to expose "
        "single records: use that table again"
    )
    (agreed,) = asked
    peer = ends.bob if who == "alice" else ends.alice
    assert agreed.commitment == peer.digest(b"commitment")


@pytest.mark.parametrize(("method", "who"), [("hybrid", "alice"), ("hybrid", "bob"), ("randomized", "bob")])
def test_a_peer_that_sends_another_copy_than_before_is_refused_before_gains_leave(method: str, who: str) -> None:
    objecting: dict[str, Any] = {f"{who}_judges_copy": lambda _: Objection(COPY, "canary: our own business")}
    alice, bob, kinds = outcome_of(meet(ONE_HOLDS, terms=make_terms(method=method, omega=1), **objecting))
    assert alice.field == bob.field == COPY
    assert kinds == {
        Greeting, Verdict, Share, TableCommitment, HiddenContents, JointDigests,
        *({ClassCounts} if method == "hybrid" else ()), DisguisedPage,
    }  # fmt: skip
    assert "canary" in str(alice if who == "alice" else bob)


def test_the_digest_of_a_copy_tells_copies_apart_and_not_the_order_of_columns() -> None:
    def digest_of(bob: PartyInputs, secret: bytes = bytes(32)) -> bytes:
        alice = make_local(ONE_HOLDS, "alice")
        heard: list[bytes] = []
        alice = replace(alice, secrets=replace(alice.secrets, coins=secret))
        ends = meet(ONE_HOLDS, alice=alice, bob=bob, alice_judges_copy=heard.append).play()
        assert all(end.error is None for end in ends), ends
        return heard[0]

    bob = make_local(ONE_HOLDS, "bob")
    assert digest_of(bob) == digest_of(bob)
    assert digest_of(bob) != digest_of(bob, secret=bytes(range(32)))
    assert digest_of(bob) != digest_of(with_codes(bob, flip_first_class))
    assert digest_of(bob) != digest_of(replace(bob, dataset="next year"))


def test_how_many_people_each_holds_is_shown_on_both_and_who_objects_alone_knows_why() -> None:
    alice, bob, _ = outcome_of(meet(bob=with_codes(make_local(BOTH_HOLD, "bob"), lambda codes: codes[:-1])))
    assert "20 records here, 19 at the peer" in str(alice)
    assert "19 records here, 20 at the peer" in str(bob)
    alice, bob, _ = outcome_of(meet(bob_agrees=object_to("seed")))
    assert "canary" in str(bob)
    assert str(alice).startswith("the parties differ on 'seed': the peer has used its data set with another seed")
    for field in sorted(set(FIELDS) - {"proposal"}):  # that the caller alone says
        alice, *_ = outcome_of(meet(bob_agrees=object_to(field)))
        reason = str(alice).removeprefix(f"the parties differ on {field!r}: ")
        assert len(reason.split()) > 5, field
        assert "canary" not in reason
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("seed"), bob_agrees=object_to("omega")))
    assert alice.field == bob.field == "omega"
    assert "canary" not in str(alice)
    assert "canary" in str(bob)
    alice, bob, _ = outcome_of(meet(alice_agrees=object_to("theta"), bob_agrees=object_to("theta")))
    assert str(alice) == str(bob)


def test_a_field_that_nobody_compares_is_another_version() -> None:
    alice, bob = meet(tamper=on("b", Verdict, lambda m: Verdict("colour"))).play()
    assert isinstance(alice.error, DisagreementError)
    assert alice.error.field == "version"
    assert "colour" not in str(alice.error)
    assert bob.error is None
    with pytest.raises(InputError, match=r"the parties compare version, party, .*, and not 'colour'"):
        Objection("colour", "we like blue")


@pytest.mark.parametrize("terms", [{}, {"counting": "paillier"}, {"method": "smc"}, {"method": "randomized"}])
def test_any_number_of_coins_is_carried(terms: dict[str, Any]) -> None:
    meeting = Meeting(wide("alice", (2,)), wide("bob", (2,) * 17), make_terms(**terms))
    assert all(end.error is None for end in meeting.play())


IN_NO_DISGUISE: dict[str, tuple[Callable[[Terms], Meeting], Terms, str]] = {
    "theta is too fine": (lambda terms: meet(terms=terms), make_terms(theta=Fraction(10**17, 10**18 - 1)), "theta"),
    "too many offsets": (
        lambda terms: Meeting(wide("alice", (67,)), wide("bob", (2,)), terms),
        make_terms(counting="paillier"),
        "groups",
    ),
}


@pytest.mark.parametrize("case", IN_NO_DISGUISE)
def test_what_spoils_a_disguise_does_not_matter_to_smc(case: str) -> None:
    make, terms, name = IN_NO_DISGUISE[case]
    alice, bob, _ = outcome_of(make(terms))
    assert alice.field == bob.field == name
    ends = make(replace(terms, method=Method.SMC)).play()
    for end in ends:
        assert end.error is None
        assert end.result is not None
        assert end.result[0].own_design.orders == end.result[0].peer_design.orders == ()


ALICE, BOB = make_local(ONE_HOLDS, "alice"), make_local(ONE_HOLDS, "bob")
HER_CLASS = make_local(BOTH_HOLD, "alice")
TABLE = CrosstabTerms("a0", "b0", Fraction(1, 2))
MODEL = PredictionTerms(bytes(MODEL_BYTES), Receiver.INITIATOR, False)
RULES = rule_terms(RuleTerms(Fraction(1, 2), 2, 50))


def of_weights(weight: str, min_leaf: int) -> Terms:
    weights = (f"{HER_CLASS.table.attributes[-1].values[0]}={weight}",)
    tree = {"method": "smc", "reveal": "tree", "max_depth": 2, "test": Fraction(0)}
    return make_terms(**tree, min_leaf=min_leaf, weights=weights)


def of_sets(least: Fraction) -> Terms:
    rules = RuleTerms(Fraction(1, 2), 2, 50, metric=Metric.LIFT, min_threshold=least)
    return rule_terms(rules, method=Method.SMC, reveal=Reveal.SETS)


def met(job: Job, bob_agrees: Any = agree_to_all, tamper: Tamper = honest) -> tuple[End[Any], End[Any]]:
    roles = propose(ALICE, job, agree_to_all, "bob", b"1" * 32), answer(BOB, bob_agrees, "alice", b"2" * 32)
    return duel(*roles, tamper)


def assert_differ(ends: tuple[End[Any], End[Any]], field: str) -> None:
    for end in ends:
        assert isinstance(end.error, DisagreementError), end
        assert end.error.field == field


@pytest.mark.parametrize("job", [Train(make_terms()), Predict(MODEL), Align(), Crosstab(TABLE)], ids=str)
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
        (Crosstab(TABLE), Crosstab(replace(TABLE, noise=Fraction(1))), "noise"),
        (Crosstab(TABLE), Crosstab(replace(TABLE, initiator="a1")), "initiator"),
        (Predict(MODEL), Align(), "job"),
    ],
)
def test_an_answer_that_names_another_job_is_refused(job: Job, answered: Job, field: str) -> None:
    assert_differ(met(job, tamper=on("b", Greeting, lambda m: replace(m, job=answered))), field)


def again(alice: PartyInputs) -> tuple[End[Any], End[Any]]:
    job = Train(make_terms())
    return duel(agree_again(alice, job, agree_to_all), agree_again(BOB, job, agree_to_all))


def test_what_our_own_limits_refuse_is_known_before_there_is_a_peer() -> None:
    """20 records, of which 16 are trained on where a fifth is held out."""
    for limits, terms, field in [
        (Limits(smallest_class=0), make_terms(), "test"),
        (NO_LIMITS, make_terms(min_leaf=9), "min_leaf"),
        (Limits(max_classes=1, smallest_test=0), make_terms(), "class values"),
        (Limits(smallest_class=20, smallest_test=0), make_terms(), "class counts"),
        (NO_LIMITS, replace(RULES, min_leaf=11), "rules"),
        (NO_LIMITS, RULES, None),
        (NO_LIMITS, of_sets(Fraction(1, 3)), None),
        (NO_LIMITS, of_sets(Fraction(10**17 - 1, 10**17)), "rules"),
        (NO_LIMITS, make_terms(min_leaf=8), None),
        (NO_LIMITS, of_weights("5/2", min_leaf=8), None),
        (NO_LIMITS, of_weights("5/2", min_leaf=7), "weights"),
        (NO_LIMITS, of_weights("3", min_leaf=8), "weights"),
    ]:
        objection = object_to_limits(replace(HER_CLASS, limits=limits), terms)
        assert (objection and objection.field) == field


@pytest.mark.parametrize("most", [50 * 20, 50 * 20 - 1])
def test_sets_of_items_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(agreement, "MAX_SET_BITS", most)
    objection = object_to_limits(ALICE, RULES)
    assert (objection is None) == (most == 50 * 20)
    assert objection is None or (objection.field == "rules" and "at most 49 for 20 records" in objection.reason)


def agreed(alice: PartyInputs, bob: PartyInputs, terms: Terms) -> tuple[End[Agreement], End[Agreement]]:
    return duel(agree_on_training(alice, terms, "bob", bytes(64)), agree_on_training(bob, terms, "alice", bytes(64)))


LIMITS = Limits(max_classes=3, smallest_class=10, smallest_test=30)


def test_a_class_too_large_is_judged_again_and_one_past_a_limit_refused_with_the_way_out() -> None:
    assert [end.error for end in again(ALICE)] == [None, None]
    assert_differ(again(replace(ALICE, limits=Limits())), "test")
    for most, field in ((2, None), (1, "class values")):
        ends = agreed(replace(ALICE, limits=replace(NO_LIMITS, max_classes=most)), BOB, make_terms())
        assert [end.error is None for end in ends] == [field is None] * 2
        if field:
            assert_differ(ends, field)
    # Without a class the last column is an attribute; with noise the run judges what it sends.
    strict = Limits(smallest_class=20, smallest_test=0)
    assert object_to_limits(replace(ALICE, limits=strict), make_terms()) is None
    noisy = make_terms(noise=Fraction(1), max_depth=2)
    assert object_to_limits(replace(HER_CLASS, limits=strict), noisy) is None
    rare = LIMITS.refuse_counts([9, 0, 51], "xyz")
    for accepted, refused, way_out in (
        (LIMITS.refuse_classes(3), LIMITS.refuse_classes(4), "max_classes allows 3: choose another class"),
        (LIMITS.refuse_counts([10, 50], "no"), rare, "merge them ([columns] max_values)"),
        (LIMITS.refuse_test(30), LIMITS.refuse_test(29), "test = 0"),
        (LIMITS.refuse_test(0), LIMITS.refuse_test(1), "test = 0"),
    ):
        assert accepted is None
        assert refused is not None
        assert way_out in refused
    assert (rare or "").startswith("2 of 3 class values have fewer than 10")
    assert "smallest_class), 'x', 'y': merge" in (rare or "")
