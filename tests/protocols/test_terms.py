"""Terms: those that cannot be run cannot be made, and the error carries the field and its legal range."""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.errors import InputError
from protocols.terms import (
    ALL,
    EVERYONE,
    MOST_DEPTH,
    MOST_KEY_BITS,
    MOST_LEAF,
    MOST_SEED,
    MOST_WINDOW,
    TERM_NAMES,
    Counting,
    Impurity,
    Learner,
    Method,
    Reveal,
    RuleTerms,
    TermError,
    Terms,
    is_window,
)
from tests.support.parties import make_terms

THETA = "must be above 0 and below 1, and not 1/2, where two-valued columns carry nothing"
OMEGA = 'must be an integer from 1 to 65535, or "all"'
DEPTH = "must be an integer from 1 to 65535"
TEST = "must be 0 or more and below 1"
DIGITS = "must be a fraction of at most 18 digits above and below the line"
LONG = Fraction(1, 10**18)


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"method": "guess"}, "method", "must be hybrid, smc or randomized"),
        ({"theta": Fraction(0)}, "theta", THETA),
        ({"theta": Fraction(1)}, "theta", THETA),
        ({"theta": Fraction(1, 2)}, "theta", THETA),
        ({"theta": Fraction(1, 2), "method": Method.RANDOMIZED}, "theta", THETA),
        ({"theta": Fraction(-1, 3), "method": Method.SMC}, "theta", THETA),
        ({"theta": LONG}, "theta", DIGITS),
        ({"omega": 0}, "omega", OMEGA),
        ({"omega": -1}, "omega", OMEGA),
        ({"omega": MOST_WINDOW + 1}, "omega", OMEGA),
        ({"omega": True}, "omega", OMEGA),
        ({"counting": "abacus"}, "counting", "must be oblivious_transfer or paillier"),
        ({"class_name": ""}, "class", "must be text of 1 to 1024 characters"),
        ({"class_name": "x" * 1025}, "class", "must be text of 1 to 1024 characters"),
        ({"seed": -1}, "seed", f"must be an integer from 0 to {2**63 - 1}"),
        ({"seed": 2**63}, "seed", f"must be an integer from 0 to {2**63 - 1}"),
        ({"test": Fraction(1)}, "test", TEST),
        ({"test": Fraction(-1, 5)}, "test", TEST),
        ({"test": LONG}, "test", DIGITS),
        ({"key_bits": 0}, "key_bits", "must be an integer from 1 to 16384"),
        ({"key_bits": 16385}, "key_bits", "must be an integer from 1 to 16384"),
        ({"max_depth": 0}, "max_depth", DEPTH),
        ({"max_depth": MOST_DEPTH + 1}, "max_depth", DEPTH),
        ({"min_leaf": 0}, "min_leaf", f"must be an integer from 1 to {2**31 - 1}"),
        ({"impurity": "chaos"}, "impurity", "must be information_gain, gain_ratio or gini"),
        ({"min_leaf": 2**31}, "min_leaf", f"must be an integer from 1 to {2**31 - 1}"),
        ({"theta": Fraction(1), "key_bits": 0, "omega": 0}, "theta", THETA),
    ],
)
def test_what_no_run_can_have_cannot_be_made(changes: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(TermError) as caught:
        replace(make_terms(), **changes)
    assert (caught.value.field, caught.value.problem) == (field, reason)
    assert str(caught.value) == f"{field} {reason}"
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    "changes",
    [
        {"theta": Fraction(1, 2), "method": Method.SMC},
        {"theta": Fraction(1, 10**17)},
        {"omega": 1},
        {"omega": MOST_WINDOW},
        {"omega": ALL},
        {"class_name": "x" * 1024},
        {"seed": 0},
        {"seed": MOST_SEED},
        {"test": Fraction(0)},
        {"key_bits": 1},
        {"key_bits": MOST_KEY_BITS},
        {"max_depth": 1},
        {"max_depth": MOST_DEPTH},
        {"min_leaf": MOST_LEAF},
    ],
)
def test_the_ends_of_every_range_are_in_it(changes: dict[str, Any]) -> None:
    assert replace(make_terms(), **changes)


def test_the_names_of_the_terms_are_those_of_the_fields_but_for_the_class() -> None:
    first = "method theta omega counting class seed test key_bits max_depth min_leaf noise impurity reveal most_bits"
    assert " ".join(TERM_NAMES) == f"{first} learner rules"
    assert [field.name for field in fields(Terms)] == [name.replace("class", "class_name") for name in TERM_NAMES]


@pytest.mark.parametrize(
    ("method", "disguises", "counts_exactly", "ranks", "window"),
    [
        (Method.HYBRID, True, True, True, 3),
        (Method.SMC, False, True, False, ALL),
        (Method.RANDOMIZED, True, False, False, ALL),
    ],
)
def test_what_a_method_does_follows_from_its_name(
    method: Method, disguises: bool, counts_exactly: bool, ranks: bool, window: int | None
) -> None:
    terms = make_terms(method=method, omega=3)
    assert (terms.disguises, terms.counts_exactly, terms.ranks, terms.window) == (
        disguises,
        counts_exactly,
        ranks,
        window,
    )


@pytest.mark.parametrize("method", Method)
@pytest.mark.parametrize("counting", Counting)
def test_a_key_is_needed_where_counts_are_made_by_dot_products(method: Method, counting: Counting) -> None:
    expected = method is not Method.RANDOMIZED and counting is Counting.PAILLIER
    assert make_terms(method=method, counting=counting).encrypts == expected


@pytest.mark.parametrize(("counting", "test"), [("paillier", "0"), ("oblivious_transfer", "1/5")])
def test_naive_bayes_is_tested_where_classes_can_be_compared(counting: str, test: str) -> None:
    bayes: dict[str, object] = {"learner": Learner.NAIVE_BAYES, "method": "smc"}
    make_terms(counting=counting, test=Fraction(test), **bayes)
    with pytest.raises(TermError, match="dot products test trees") as caught:
        make_terms(counting="paillier", test=Fraction(1, 5), **bayes)
    assert caught.value.field == "test"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, None),
        ({"omega": 2}, "omega"),
        ({"class_name": "label"}, "class"),
        ({"seed": 9, "theta": Fraction(1, 3)}, "theta"),
        ({"key_bits": 128}, "key_bits"),
    ],
)
def test_the_first_term_that_differs_is_named(changes: dict[str, Any], name: str | None) -> None:
    assert make_terms().difference(make_terms(**changes)) == name


@pytest.mark.parametrize("value", ["3", "all", 1.0, True, 0, -1, MOST_WINDOW + 1])
def test_what_is_no_window_is_told_from_one(value: object) -> None:
    assert not is_window(value)


SECRET: dict[str, Any] = {"method": Method.SMC, "reveal": Reveal.TREE, "max_depth": 4, "test": Fraction(0)}


NOISY: dict[str, Any] = {"noise": Fraction(1, 4), "impurity": Impurity.GINI}


@pytest.mark.parametrize(("test", "epsilon"), [(Fraction(0), Fraction(1, 4)), (Fraction(1, 5), Fraction(1, 2))])
def test_a_noisy_tree_takes_its_epsilon_or_that_of_the_held_out_table(test: Fraction, epsilon: Fraction) -> None:
    terms = replace(make_terms(), **SECRET | NOISY | {"test": test})
    assert (terms.noises_tree, terms.epsilon) == (True, epsilon)
    assert replace(terms, reveal=Reveal.COUNTS).epsilon == Fraction(1, 4)
    assert replace(terms, noise=None).epsilon is None


def test_whether_sets_are_frequent_is_revealed_by_smc_alone() -> None:
    rules = RuleTerms(Fraction(1, 4), 2, 100)
    usual: dict[str, Any] = {"class_name": EVERYONE, "test": Fraction(0), "learner": Learner.RULES, "rules": rules}
    sets = replace(make_terms(), **usual | {"method": Method.SMC, "reveal": Reveal.SETS})
    assert sets.hides_counts
    asking = replace(sets, rules=replace(rules, min_threshold=Fraction(4, 5)))
    with pytest.raises(TermError, match='must be "sets" with min_threshold'):
        replace(asking, reveal=Reveal.COUNTS)
    others: list[tuple[dict[str, Any], str]] = [
        ({"method": Method.HYBRID}, '"counts" with method = "hybrid"'),
        ({"method": Method.RANDOMIZED}, '"counts" with method = "randomized"'),
        ({"counting": Counting.PAILLIER}, '"counts" with counting = "paillier"'),
        ({"reveal": Reveal.TREE}, '"sets" or "counts" with learner = "rules"'),
        ({"rules": None, "learner": Learner.TREE}, '"counts" with learner = "tree"'),
    ]
    for changes, problem in others:
        with pytest.raises(TermError, match=problem) as caught:
            replace(sets, **changes)
        assert caught.value.field == "reveal"


@pytest.mark.parametrize("changes", [{}, {"method": Method.HYBRID, "omega": 2}], ids=repr)
def test_a_tree_alone_is_revealed_by_smc_and_by_hybrid(changes: dict[str, Any]) -> None:
    assert replace(make_terms(), **SECRET | changes).hides_counts


@pytest.mark.parametrize(
    ("changes", "field", "problem"),
    [
        ({"method": Method.HYBRID, "omega": ALL}, "omega", 'must be a number with reveal = "tree"'),
        (
            {"method": Method.RANDOMIZED, "impurity": Impurity.GAIN_RATIO},
            "reveal",
            'must be "counts" with impurity = "gain_ratio"',
        ),
        ({"counting": Counting.PAILLIER}, "reveal", 'must be "counts" with counting = "paillier"'),
        (
            {"learner": Learner.NAIVE_BAYES, "max_depth": None},
            "reveal",
            'must be "counts" with learner = "naive_bayes"',
        ),
        ({"impurity": Impurity.GAIN_RATIO}, "reveal", 'must be "counts" with impurity = "gain_ratio"'),
        ({"max_depth": None}, "max_depth", 'must be a number with reveal = "tree"'),
        (NOISY | {"method": Method.HYBRID, "omega": ALL}, "method", "must be smc with noise"),
        (NOISY | {"method": Method.HYBRID, "omega": 2}, "noise", 'needs method = "smc"'),
        (NOISY | {"impurity": Impurity.INFORMATION_GAIN}, "impurity", "must be gini with noise"),
        (NOISY | {"impurity": Impurity.GAIN_RATIO}, "reveal", 'must be "counts" with impurity = "gain_ratio"'),
        (NOISY | {"min_leaf": 20}, "min_leaf", "must be 1 with noise"),
        (NOISY | {"max_depth": None}, "noise", "needs a max_depth"),
        (NOISY | {"learner": Learner.NAIVE_BAYES, "max_depth": None}, "reveal", 'must be "counts" with learner'),
    ],
)
def test_whatever_shows_counts_needs_to_say_so(changes: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(TermError) as caught:
        replace(make_terms(), **{**SECRET, **changes})
    assert (caught.value.field, caught.value.problem[: len(problem)]) == (field, problem)


ASSOCIATED = make_terms(
    learner="rules", class_name=EVERYONE, test=Fraction(0), theta=Fraction(2, 3), rules=RuleTerms(Fraction(1, 5), 2, 6)
)
NOISY_TREE = make_terms(noise=Fraction(1), method="smc", reveal="tree", max_depth=2, impurity="gini")


@pytest.mark.parametrize(
    ("terms", "changes", "same"),
    [
        (make_terms(method="smc", omega=ALL), {"method": Method.HYBRID}, True),
        (ASSOCIATED, {"omega": 3}, True),
        (replace(ASSOCIATED, method=Method.SMC), {"method": Method.HYBRID}, False),
        (replace(ASSOCIATED, method=Method.SMC), {"theta": Fraction(3, 4)}, True),
        (ASSOCIATED, {"theta": Fraction(3, 4)}, False),
        (NOISY_TREE, {"most_bits": 9}, True),
        (replace(NOISY_TREE, noise=None), {"most_bits": 9}, False),
        (make_terms(), {"most_bits": 9}, True),
    ],
)
def test_two_runs_ask_for_the_same_where_no_count_and_no_answer_can_differ(
    terms: Terms, changes: dict[str, Any], *, same: bool
) -> None:
    assert (terms.asking == replace(terms, **changes).asking) == same
