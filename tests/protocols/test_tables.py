"""Attributes, expressions, the joint schema, tables: what is refused, and the agreed order.

Terms: those that cannot be run cannot be made, and the error carries the field and its legal range.

The ranges are those that the fields declare: each end, and what is beyond it, is tried of every field alike.
"""

from dataclasses import fields, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.jobs import PredictionTerms, Receiver
from protocols.kinds import kinds_of, values_of
from protocols.tables import MAX_DOMAIN, ROOT, Attribute, Codes, Expression, Schema, Table, Term, joint_schema
from protocols.terms import (
    ALL,
    LEARNERS,
    MODEL_BYTES,
    TERM_NAMES,
    Counting,
    Growth,
    Impurity,
    Learner,
    Leaves,
    Method,
    Metric,
    Reveal,
    RuleTerms,
    TermError,
    Terms,
    fixed_terms,
    reveal_key_of,
    terms_of,
    whole_weights,
)
from tests.support.enumeration import every_record, expressions
from tests.support.joint_itemsets import rule_terms
from tests.support.kinds import DIGITS, beyond, within
from tests.support.parties import learned, make_terms

CLASS = Attribute("bob", "class", ("no", "yes"))


def attribute(party: str, name: str, size: int = 2) -> Attribute:
    return Attribute(party, name, tuple(map(str, range(size))))


@pytest.mark.parametrize(
    ("owners", "alice", "bob"),
    [(("bob",), (0,), (1, 2)), (("alice",), (0, 2), (1,)), (("alice", "bob"), (0, 2), (1, 2))],
)
def test_a_party_holds_its_columns_and_the_class_where_it_owns_it(
    owners: tuple[str, ...], alice: tuple[int, ...], bob: tuple[int, ...]
) -> None:
    schema = joint_schema([attribute("alice", "x"), attribute("bob", "y")], CLASS, owners)
    assert schema.held_by("alice") == alice
    assert schema.held_by("bob") == bob


def test_the_agreed_order_is_parties_by_name_and_names_have_their_limits() -> None:
    mixed = [attribute("bob", "z"), attribute("alice", "y"), attribute("bob", "a"), attribute("alice", "x")]
    schema = joint_schema(mixed, CLASS, ("bob", "alice"))
    assert [(a.party, a.name) for a in schema.columns] == [
        ("alice", "y"), ("alice", "x"), ("bob", "z"), ("bob", "a"), ("bob", "class"),
    ]  # fmt: skip
    assert schema.class_owners == ("alice", "bob")
    assert (schema.class_index, schema.classes) == (4, 2)
    for size in (0, MAX_DOMAIN + 1):
        with pytest.raises(InputError, match=rf"'x': bin it or set max_values: it has {size} values"):
            attribute("alice", "x", size)
    for size in (1, MAX_DOMAIN):
        assert attribute("alice", "x", size).size == size
    with pytest.raises(InputError, match=r"^column 'x' lists a value twice$"):
        Attribute("alice", "x", ("canary", "b", "canary"))
    joint_schema([attribute("alice", "x"), attribute("bob", "x")], CLASS, ("bob",))
    with pytest.raises(InputError, match="occurs twice at one party"):
        joint_schema([attribute("alice", "x"), attribute("alice", "x", 3)], CLASS, ("bob",))
    with pytest.raises(InputError, match="neither party brings an attribute"):
        Schema((), CLASS, ("bob",))


def codes(*rows: list[int]) -> Codes:
    return np.array(rows, dtype=np.uint8)


PATH = Expression((Term(2, 1), Term(0, 0), Term(1, 2)))


def test_a_table_fits_its_schema_and_an_expression_is_its_terms_in_order() -> None:
    for bad in (codes([0, 0], [2, 0]), codes([0, 3])):
        with pytest.raises(InputError, match="outside its attribute's domain"):
            Table((attribute("alice", "x", 2), attribute("alice", "y", 3)), bad)
    for bad in (codes([0]), codes([0, 0, 0]), np.zeros(2, dtype=np.uint8)):
        with pytest.raises(InputError, match="records by attributes"):
            Table((attribute("alice", "x", 2), attribute("alice", "y", 3)), bad)
    table = Table((attribute("alice", "x", 9),), codes([0], [4], [8]))
    assert table.rows([2, 0]).codes.tolist() == [[8], [0]]
    assert len(table.rows([])) == 0
    table = Table((Attribute("alice", "canary", ("canary1", "canary2")),), codes([1], [0], [1]))
    assert repr(table) == "<Table 3 x 1>"
    assert ROOT & Term(2, 1) & Term(0, 0) & Term(1, 2) == PATH
    assert PATH.parent == ROOT & Term(2, 1) & Term(0, 0)
    assert ROOT.parent == ROOT
    assert PATH.columns == {0, 1, 2}
    for order in permutations(PATH.terms):
        assert Expression(order).restricted(frozenset({0, 2})) == Expression((Term(0, 0), Term(2, 1)))
    assert PATH.restricted(frozenset()) == ROOT
    records = every_record((2, 3, 2))
    for expression in expressions((2, 3, 2)):
        expected = [all(row[t.column] == t.value for t in expression.terms) for row in records.tolist()]
        assert expression.satisfied_by(records).tolist() == expected


TREE = make_terms(method="smc", omega=3)
BAYES = learned(TREE, Learner.NAIVE_BAYES)
WANTED = RuleTerms(Fraction(1, 2), 2, 9, metric=Metric.LIFT, min_threshold=Fraction(2))
RULES = rule_terms(RuleTerms(Fraction(1, 5), 3, 50))


@pytest.mark.parametrize("whole", [TREE, WANTED, Growth()], ids=lambda whole: type(whole).__name__)
def test_a_field_has_the_range_that_it_declares(whole: Any) -> None:
    for name, kind in kinds_of(type(whole)).items():
        for value, problem in beyond(kind):
            with pytest.raises(InputError) as caught:
                replace(whole, **{name: value})
            assert (caught.value.field, caught.value.problem) == (name.removesuffix("_name"), problem), value
        assert {said(whole, name, value) for value in within(kind)}.isdisjoint({kind.legal, DIGITS})


def said(whole: Any, name: str, value: object) -> str | None:
    """Return what is said of a value, be it that it does not go with the others."""
    try:
        assert getattr(replace(whole, **{name: value}), name) == value
    except InputError as error:
        return error.problem
    return None


def test_each_learner_has_all_terms_on_record_and_refuses_to_be_given_what_it_does_not_have() -> None:
    first = (
        "method theta omega counting class seed test key_bits max_depth min_leaf noise impurity reveal most_bits "
        "splits leaves weights"
    )
    assert " ".join(TERM_NAMES) == f"{first} learner rules"
    for whole in (TREE, BAYES, RULES):
        learner = LEARNERS[whole.learner]
        assert [each.name.removesuffix("_name") for each in fields(learner)] == [*TERM_NAMES]
        assert [name.removesuffix("_name") for name in values_of(whole)] == [*TERM_NAMES]
        assert terms_of(values_of(whole)) == whole
        for name in fixed_terms(learner):
            with pytest.raises(TermError, match="is not for learner") as caught:
                terms_of({**values_of(whole), name: "more"})
            assert caught.value.field == name.removesuffix("_name")
    with pytest.raises(TermError, match="rules is missing"):
        terms_of({**values_of(RULES), "rules": None})


def test_what_a_method_does_follows_from_its_name() -> None:
    for method, disguises, counts_exactly, ranks, window in [
        (Method.HYBRID, True, True, True, 3),
        (Method.SMC, False, True, False, ALL),
        (Method.RANDOMIZED, True, False, False, ALL),
    ]:
        terms = make_terms(method=method, omega=3)
        found = (terms.disguises, terms.counts_exactly, terms.ranks, terms.window)
        assert found == (disguises, counts_exactly, ranks, window)
        for counting in Counting:  # a key is needed where counts are made by dot products
            assert replace(terms, counting=counting).encrypts == (counts_exactly and counting is Counting.PAILLIER)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, None), ({"omega": 2}, "omega"), ({"class_name": "label"}, "class"),
        ({"seed": 9, "theta": Fraction(1, 3)}, "theta"), ({"key_bits": 128}, "key_bits"),
    ],
)  # fmt: skip
def test_the_first_term_that_differs_is_named(changes: dict[str, Any], name: str | None) -> None:
    assert make_terms().difference(make_terms(**changes)) == name
    assert TREE.difference(BAYES) == "learner"


ALONE = replace(TREE, reveal=Reveal.TREE, max_depth=4, test=Fraction(0))
NOISY = replace(TREE, noise=Fraction(1), max_depth=3)
BOTH = replace(ALONE, noise=Fraction(1, 4), impurity=Impurity.GINI)
HYBRID = {"method": Method.HYBRID, "omega": ALL}
SETS = replace(RULES, method=Method.SMC, reveal=Reveal.SETS)
ASKING = replace(SETS, rules=replace(RULES.rules, min_threshold=Fraction(4, 5)))
APART: list[tuple[Terms, dict[str, Any], str, str]] = [
    (TREE, {"method": Method.HYBRID, "theta": Fraction(1, 2)}, "theta", "must be above 0 and below 1, and not 1/2"),
    (NOISY, {"method": Method.RANDOMIZED}, "noise", "needs method"),
    (ALONE, {"leaves": Leaves.TENTHS, "min_leaf": 99}, "leaves", 'must be "label" with min_leaf = 99'),
    (TREE, {"leaves": Leaves.TENTHS, "min_leaf": 100}, "leaves", 'must be "label" but where a tree alone is opened'),
    (ALONE, {"weights": ("yes",)}, "weights", "must be values of the class with numbers"),
    (ALONE, {"weights": ("yes=101",)}, "weights", "must be values of the class with numbers"),
    (BOTH, {"weights": ("yes=4",)}, "weights", 'need method = "smc" and reveal = "tree", without noise'),
    (TREE, {"weights": ("yes=4",)}, "weights", 'need method = "smc" and reveal = "tree", without noise'),
    (NOISY, {"max_depth": None}, "noise", "needs a max_depth"),
    (NOISY, {"method": Method.HYBRID, "omega": 2}, "noise", 'needs omega = "all" or method = "smc": a window follows'),
    (BAYES, {"method": Method.HYBRID, "test": Fraction(0)}, "method", 'must be "smc" for naive Bayes'),
    (BAYES, {"method": Method.RANDOMIZED}, "method", 'must be "smc" for naive Bayes'),
    (BAYES, {"counting": Counting.PAILLIER}, "test", 'must be 0 for naive Bayes with counting = "paillier"'),
    (BAYES, {"reveal": Reveal.TREE}, "reveal", 'must be "counts" with learner = "naive_bayes"'),
    (BAYES, {"reveal": Reveal.SETS}, "reveal", 'must be "counts" with learner = "naive_bayes"'),
    (TREE, {"reveal": Reveal.SETS}, "reveal", 'must be "counts" with learner = "tree"'),
    (SETS, {"method": Method.HYBRID}, "reveal", 'must be "counts" with method = "hybrid"'),
    (SETS, {"method": Method.RANDOMIZED}, "reveal", 'must be "counts" with method = "randomized"'),
    (SETS, {"counting": Counting.PAILLIER}, "reveal", 'must be "counts" with counting = "paillier"'),
    (SETS, {"reveal": Reveal.TREE}, "reveal", 'must be "sets" or "counts" with learner = "rules"'),
    (ASKING, {"reveal": Reveal.COUNTS}, "reveal", 'must be "sets" with min_threshold'),
    (ALONE, HYBRID, "omega", 'must be a number with reveal = "tree"'),
    (ALONE, {"counting": Counting.PAILLIER}, "reveal", 'must be "counts" with counting = "paillier"'),
    (ALONE, {"impurity": Impurity.GAIN_RATIO}, "reveal", 'must be "counts" with impurity = "gain_ratio"'),
    (ALONE, {"max_depth": None}, "max_depth", 'must be a number with reveal = "tree"'),
    (BOTH, HYBRID, "method", "must be smc with noise"),
    (BOTH, {"method": Method.HYBRID, "omega": 2}, "noise", 'needs method = "smc"'),
    (BOTH, {"impurity": Impurity.INFORMATION_GAIN}, "impurity", "must be gini with noise"),
    (BOTH, {"impurity": Impurity.GAIN_RATIO}, "reveal", 'must be "counts" with impurity = "gain_ratio"'),
    (BOTH, {"min_leaf": 20}, "min_leaf", "must be 1 with noise"),
    (BOTH, {"max_depth": None}, "noise", "needs a max_depth"),
    (BOTH, {"most_bits": 9}, "most_bits", 'is for reveal = "tree" without noise'),
    (TREE, {"most_bits": 9}, "most_bits", 'is for reveal = "tree" without noise'),
    (NOISY, {"most_bits": 9}, "most_bits", 'is for reveal = "tree" without noise'),
]


def test_the_first_flaw_or_terms_that_do_not_go_together_are_named_and_what_is_beside_can_be_made() -> None:
    with pytest.raises(TermError, match="theta must be above 0") as caught:
        replace(TREE, theta=Fraction(1), key_bits=0, omega=0)
    assert caught.value.field == "theta"
    for terms, changes, field, problem in APART:
        with pytest.raises(TermError) as caught:
            replace(terms, **changes)
        assert (caught.value.field, caught.value.problem[: len(problem)]) == (field, problem)
    replace(BAYES, counting=Counting.PAILLIER, test=Fraction(0))
    replace(TREE, theta=Fraction(1, 2))
    replace(ALONE, leaves=Leaves.TENTHS, min_leaf=100)
    replace(BOTH, leaves=Leaves.TENTHS)
    assert whole_weights(replace(ALONE, weights=("a = b=3/2",)).weights, ["no", "a = b"]) == [2, 3]
    with pytest.raises(TermError, match="too fine"):
        whole_weights(["yes=99.99999999999"], ["no", "yes"])
    with pytest.raises(TermError, match="'maybe', which is no value of the class"):
        whole_weights(["maybe=2"], ["no", "yes"])
    assert all(each.hides_counts for each in (ALONE, replace(ALONE, method=Method.HYBRID, omega=2), SETS, ASKING))


def test_two_runs_ask_for_the_same_where_no_count_and_no_answer_can_differ() -> None:
    for terms, changes, same in (
        (replace(TREE, omega=ALL), {"method": Method.HYBRID, "theta": Fraction(2, 3)}, True),
        (replace(RULES, method=Method.SMC), {"method": Method.HYBRID}, False),
        (replace(RULES, method=Method.SMC), {"theta": Fraction(3, 4)}, True),
        (RULES, {"theta": Fraction(3, 4)}, False),
        (BOTH, {"most_bits": 9}, True),
        (ALONE, {"most_bits": 9}, False),
        (TREE, {"most_bits": 9}, True),
        (replace(ALONE, min_leaf=100), {"leaves": Leaves.TENTHS}, False),
        (ALONE, {"weights": ("yes=4",)}, False),
    ):
        assert (terms.reveal_key == reveal_key_of(values_of(terms) | changes)) == same, (terms, changes)


@pytest.mark.parametrize(("test", "epsilon"), [(Fraction(0), Fraction(1, 4)), (Fraction(1, 5), Fraction(1, 2))])
def test_a_noisy_tree_takes_its_epsilon_or_that_of_the_held_out_table(test: Fraction, epsilon: Fraction) -> None:
    terms = replace(BOTH, test=test)
    assert (terms.noises_tree, terms.epsilon) == (True, epsilon)
    assert replace(terms, reveal=Reveal.COUNTS).epsilon == Fraction(1, 4)
    assert replace(terms, noise=None).epsilon is None


def test_a_metric_goes_with_a_threshold_and_an_impossible_prediction_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="goes with a min_threshold"):
        RuleTerms(Fraction(1, 4), 2, 9, metric=Metric.LIFT)
    with pytest.raises(InputError, match="min_threshold must be above 0 and at most 1"):
        RuleTerms(Fraction(1, 4), 2, 9, min_threshold=Fraction(6, 5))
    fine = RuleTerms(Fraction(1, 4), 2, 9, (), Metric.LIFT, Fraction(11, 10))
    assert fine.compared_width(2**29) == 63
    with pytest.raises(InputError, match="is too fine for 1,073,741,824 records"):
        fine.compared_width(2**30)
    whole = PredictionTerms(bytes(MODEL_BYTES), Receiver.BOTH, False)
    with pytest.raises(TermError) as caught:
        replace(whole, model=bytes(MODEL_BYTES - 1))
    assert caught.value.field == "model"
