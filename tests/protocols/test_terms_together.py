"""Terms that no run can have together, and those of rules and of predictions: each is refused by its name."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.errors import InputError
from protocols.jobs import PredictionTerms, Receiver
from protocols.terms import (
    MODEL_BYTES,
    MOST_LENGTH,
    MOST_SETS,
    Growth,
    Learner,
    Method,
    RuleMetric,
    RuleTerms,
    TermError,
    Terms,
)
from tests.support.joint_itemsets import rule_terms
from tests.support.parties import make_terms

LONG = Fraction(1, 10**18)
TREE = make_terms(method="smc", max_depth=3)
BAYES = replace(TREE, learner=Learner.NAIVE_BAYES, max_depth=None)
RULES = rule_terms(RuleTerms(Fraction(1, 5), 3, 50))
NOISY = replace(TREE, noise=Fraction(1))


APART: list[tuple[Terms, dict[str, Any], str, str]] = [
    (TREE, {"noise": LONG + 1}, "noise", "18 digits"),
    (TREE, {"noise": Fraction(1, 10_000)}, "noise", "0.001 to 1000"),
    (NOISY, {"method": Method.RANDOMIZED}, "noise", "needs method"),
    (NOISY, {"max_depth": None}, "noise", "needs a max_depth"),
    (NOISY, {"method": Method.HYBRID, "omega": 2}, "noise", "a window follows from true columns"),
    (BAYES, {"max_depth": 2}, "max_depth", "is for trees"),
    (BAYES, {"method": Method.HYBRID}, "method", 'take method = "smc"'),
    (BAYES, {"method": Method.RANDOMIZED}, "method", 'take method = "smc"'),
    (TREE, {"learner": Learner.RULES}, "learner", "must be rules where"),
    (RULES, {"learner": Learner.TREE}, "learner", "must be rules where"),
    (RULES, {"class_name": "class"}, "class", "is not for rules"),
    (RULES, {"test": Fraction(1, 5)}, "test", "is not for rules"),
    (RULES, {"noise": Fraction(1)}, "noise", "is not for rules"),
    (RULES, {"max_depth": 2}, "max_depth", "is not for rules"),
]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"min_support": Fraction(0)}, "min_support"),
        ({"min_support": Fraction(6, 5)}, "min_support"),
        ({"min_support": LONG}, "min_support"),
        ({"max_len": 0}, "max_len"),
        ({"max_len": MOST_LENGTH + 1}, "max_len"),
        ({"most_sets": -1}, "most_sets"),
        ({"most_sets": MOST_SETS + 1}, "most_sets"),
        ({"absent": ("",)}, "absent"),
        ({"absent": ("x" * 2000,)}, "absent"),
        ({"absent": ("0", "0")}, "absent"),
        ({"metric": "conviction", "min_threshold": Fraction(1)}, "metric"),
        ({"min_threshold": Fraction(0)}, "min_threshold"),
        ({"min_threshold": Fraction(6, 5)}, "min_threshold"),
        ({"min_threshold": LONG}, "min_threshold"),
        ({"min_threshold": 1 / LONG, "metric": RuleMetric.LIFT}, "min_threshold"),
    ],
)
def test_rules_that_nobody_can_look_for_are_refused_by_name(changes: dict[str, Any], field: str) -> None:
    whole = RuleTerms(Fraction(1), MOST_LENGTH, MOST_SETS, ("0", "no"))
    with pytest.raises(InputError, match="must be") as caught:
        replace(whole, **changes)
    assert caught.value.field == field


def test_what_cannot_go_together_is_refused_by_name() -> None:
    for terms in (TREE, BAYES, RULES, NOISY):
        assert replace(terms) == terms
    for terms, changes, field, reason in APART:
        with pytest.raises(TermError, match=reason) as caught:
            replace(terms, **changes)
        assert caught.value.field == field
    assert Growth(prune=Fraction(1, 5))
    for prune in (Fraction(1), Fraction(-1, 5), LONG):
        with pytest.raises(TermError, match="prune"):
            Growth(prune=prune)
    whole = PredictionTerms(bytes(MODEL_BYTES), Receiver.BOTH, False)
    with pytest.raises(TermError) as caught:
        replace(whole, model=bytes(MODEL_BYTES - 1))
    assert caught.value.field == "model"
    with pytest.raises(InputError, match="goes with a min_threshold"):
        RuleTerms(Fraction(1, 4), 2, 9, metric=RuleMetric.LIFT)
    fine = RuleTerms(Fraction(1, 4), 2, 9, (), RuleMetric.LIFT, Fraction(11, 10))
    assert fine.compared_width(2**29) == 63
    with pytest.raises(InputError, match="is too fine for 1,073,741,824 records"):
        fine.compared_width(2**30)
