"""A number is told with one noise: whichever term a partner varies, it hears it again, or other epsilon is spent."""

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from protocols.role import run_pair
from protocols.tables import Table
from protocols.terms import ALL, Counting, Impurity, Learner, Method, Terms
from protocols.two_party.noise import run_digest
from tests.support.cases import correlated
from tests.support.curious import Told, listening
from tests.support.parties import NO_LIMITS, Case, make_local, make_roles, make_terms

SMC = make_terms(method="smc", noise=Fraction(20), max_depth=2)
VARIED: dict[str, dict[str, Any]] = {
    "method": {"method": Method.HYBRID, "omega": ALL},
    "theta": {"theta": Fraction(3, 5)},
    "omega": {"omega": 3},
    "counting": {"counting": Counting.PAILLIER},
    "seed": {"seed": 3},
    "test": {"test": Fraction(1, 4)},
    "key_bits": {"key_bits": 128},
    "max_depth": {"max_depth": 3},
    "min_leaf": {"min_leaf": 12},
    "noise": {"noise": Fraction(10)},
    "impurity": {"impurity": Impurity.GINI},
}
IDLE = {"method", "theta", "omega", "counting", "key_bits"}
OF_THE_TRUTH = {"seed", "test"}
OF_THE_SCALE = {"max_depth", "noise"}


def case_of(terms: Terms) -> Case:
    codes = correlated([3, 2, 2, 2, 3], 400)
    return Case({"alice": (3, 2), "bob": (2, 2)}, ("bob",), 3, codes, {"alice": 1, "bob": 1}, terms)


def by_node(told: Told) -> dict[Any, list[list[float]]]:
    """Return told tables by what was asked, whatever the order of a path."""
    return {(frozenset(e.terms), c, t.shape): t.tolist() for (e, c), t in told.items()}


def run_on(terms: Terms) -> tuple[bytes, dict[Any, list[list[float]]]]:
    """Return Alice's digest of a run, and all counts that it tells."""
    case = case_of(terms)
    with listening() as told:
        (agreed, _), _ = run_pair(*make_roles(case))
    return run_digest(make_local(case, "alice"), agreed), by_node(told)


def test_every_term_that_a_partner_may_choose_is_varied_here() -> None:
    beside = {
        "class_name",
        "rules",
        "learner",
        "reveal",
        "most_bits",
    }  # no rules and no hidden counts under noise; learners are below
    assert {*VARIED, *beside} == {field.name for field in fields(Terms)}


@pytest.mark.parametrize("name", VARIED)
def test_a_varied_term_tells_the_same_numbers_again_or_spends_epsilon_of_its_own(name: str) -> None:
    terms = replace(SMC, **VARIED[name])
    (before, first), (after, second) = run_on(SMC), run_on(terms)
    assert (before == after) == (name in IDLE)
    if name in IDLE:
        assert first == second
        return
    shared = first.keys() & second.keys()
    assert shared
    alike = {key for key in shared if first[key] == second[key]}
    assert alike == (set() if name in OF_THE_TRUTH | OF_THE_SCALE else shared)


def test_another_learner_spends_epsilon_of_its_own_and_has_other_noise() -> None:
    """The root's counts are asked by both; a tree tells more of the same people, so that its scale is another."""
    everyone = replace(SMC, test=Fraction(0))
    (before, tree), (after, bayes) = (
        run_on(everyone),
        run_on(replace(everyone, learner=Learner.NAIVE_BAYES, max_depth=None)),
    )
    assert before != after
    shared = tree.keys() & bayes.keys()
    assert len(shared) == 4
    assert not [key for key in shared if tree[key] == bayes[key]]


def test_the_order_of_a_partners_columns_changes_no_number() -> None:
    """Five columns have 120 orders: were each another noise, they would average to the truth."""
    case = case_of(SMC)
    bob = make_local(case, "bob")
    *columns, label = bob.table.attributes
    turned = replace(
        bob, table=Table((*columns[::-1], label), bob.table.codes[:, [1, 0, 2]]), groups=((0,), (1,), (2,))
    )
    heard: list[dict[Any, list[list[float]]]] = []
    digests = []
    for each in (replace(bob, groups=((0,), (1,), (2,))), turned):
        with listening() as told:
            (agreed, _), _ = run_pair(*make_roles(case, bob=replace(each, limits=NO_LIMITS)))
        names = [attribute.name for attribute in agreed.schema.attributes]
        heard.append({
            (frozenset((names[t.column], t.value) for t in e.terms), names[c]): table.tolist()
            for (e, c), table in told.items()
        })  # fmt: skip
        digests.append(run_digest(make_local(case, "alice"), agreed))
    assert heard[0] == heard[1]
    assert digests[0] == digests[1]
