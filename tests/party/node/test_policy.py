from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.errors import ConfigError
from party.node.policy import check_job, first_objection
from party.settings.party import Acceptance, read_party_config
from protocols.jobs import Train
from protocols.terms import ALL, Counting, Impurity, Method, Reveal, RuleTerms, Terms, TreeTerms
from protocols.two_party.inputs import Limits
from tests.support.cases import correlated
from tests.support.joint_itemsets import rule_terms
from tests.support.parties import Case, make_terms
from tests.support.sessions import Sessions

TERMS = TreeTerms(
    method=Method.HYBRID, theta=Fraction(9, 20), omega=2, counting=Counting.PAILLIER, class_name="outcome",
    seed=0, test=Fraction(1, 5), key_bits=3072, min_leaf=5,
)  # fmt: skip
AGREE = Acceptance(
    (Method.HYBRID, Method.SMC),
    Fraction(5, 2),
    3,
    (Counting.PAILLIER,),
    3072,
    None,
    5,
    Limits(5, 25, 50),
    exact_counts=True,
)


def make(**changes: Any) -> Terms:
    return replace(TERMS, **changes)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({}, None),
        ({"omega": 3}, None),
        ({"theta": Fraction(7, 10)}, None),
        ({"method": Method.RANDOMIZED}, "method"),
        ({"omega": 4}, "omega"),
        ({"omega": ALL}, "omega"),
        ({"key_bits": 3071}, "key_bits"),
        ({"key_bits": 2048, "omega": 9}, "omega"),
        ({"method": Method.SMC, "theta": Fraction(1, 2), "omega": 3}, "omega"),
        ({"counting": Counting.OBLIVIOUS_TRANSFER}, "counting"),
        ({"counting": Counting.OBLIVIOUS_TRANSFER, "method": Method.RANDOMIZED}, "method"),
        ({"min_leaf": 6, "max_depth": 9}, None),
        ({"min_leaf": 4}, "min_leaf"),
    ],
)
def test_the_first_term_that_this_party_does_not_agree_to_is_named(
    change: dict[str, object], field: str | None
) -> None:
    objection = first_objection(AGREE, make(**change))
    assert (objection and objection.field) == field


@pytest.mark.parametrize(
    ("change", "field"),
    [({"theta": Fraction(1, 2), "omega": 99}, None), ({"key_bits": 2048}, "key_bits"), ({"min_leaf": 1}, "min_leaf")],
)
def test_of_smc_whoever_agrees_to_all_windows_looks_at_what_it_uses(
    change: dict[str, object], field: str | None
) -> None:
    """`smc` counts every attribute, so that it passes any narrower window, whatever `omega` its job has."""
    objection = first_objection(replace(AGREE, omega=ALL), make(method=Method.SMC, **change))
    assert (objection and objection.field) == field


def test_who_agrees_to_all_agrees_to_none_less() -> None:
    agree = replace(AGREE, omega=ALL)
    assert first_objection(agree, make(omega=999)) is None
    assert first_objection(agree, make(omega=ALL)) is None
    agree = replace(AGREE, max_depth=4)
    assert first_objection(agree, make(max_depth=4)) is None
    for depth in (5, None):
        objection = first_objection(agree, make(max_depth=depth))
        assert objection is not None
        assert (objection.field, objection.reason.split(",")[0]) == (
            "max_depth",
            f"the job asks for max_depth = {depth or 'any'}",
        )
    agree = replace(AGREE, methods=(Method.RANDOMIZED,))
    assert first_objection(agree, make(method=Method.RANDOMIZED, key_bits=8, omega=9)) is None


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"omega": ALL}, "omega = all, our [agree] omega"),
        ({"omega": 4}, "omega = 4, our [agree] omega"),
        ({"method": Method.RANDOMIZED}, "method = randomized, our [agree] methods"),
        ({"method": Method.SMC}, "omega = smc (all attributes), our [agree] omega"),
        ({"min_leaf": 1}, "min_leaf = 1, our [agree] min_leaf"),
        ({"key_bits": 2048}, "key_bits = 2048, our [agree] smallest_key_bits"),
    ],
)
def test_what_the_job_asks_for_and_which_key_refuses_it_are_told_to_its_owner(
    change: dict[str, Any], value: str
) -> None:
    objection = first_objection(AGREE, make(**change))
    assert objection is not None
    assert objection.reason == f"the job asks for {value} does not allow it: change the job, or allow it there"


CASE = Case(
    sizes={"alice": (2,), "bob": (2,)},
    class_owners=("bob",),
    classes=2,
    codes=correlated((2, 2, 2), 80, seed=1, flips=0.5),
    groups={"alice": 1, "bob": 1},
    terms=make_terms(theta=Fraction(7, 10), omega=1),
)


def test_a_job_of_our_own_that_we_would_refuse_a_peer_is_refused_before_anybody_is_called(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path, CASE, 'odds = "any"\nomega = 1\n')
    config = read_party_config(tmp_path / "bob" / "party.toml", CASE.terms.key_bits)
    bob, job = sessions.local("bob"), Train(CASE.terms)
    check_job(bob, config, job)
    with pytest.raises(ConfigError, match=r"the job asks for omega = 2, our .agree. omega does not allow it"):
        check_job(bob, config, Train(replace(CASE.terms, omega=2)))
    large = replace(bob.limits, smallest_class=79)
    with pytest.raises(ConfigError, match=r"79"):
        check_job(replace(bob, limits=large), config, job)


def test_exact_counts_are_revealed_only_where_their_owner_allows_them() -> None:
    agree = replace(AGREE, exact_counts=False, omega=ALL)
    objection = first_objection(agree, make())
    assert objection is not None
    assert (objection.field, objection.reason[:22]) == ("reveal", 'by reveal = "counts" o')
    of_sets = rule_terms(RuleTerms(Fraction(1, 4), 2, 10), method=Method.SMC, reveal=Reveal.SETS, min_leaf=100)
    assert first_objection(replace(agree, methods=tuple(Method), counting=tuple(Counting)), of_sets) == objection
    for changes in (
        {
            "method": Method.SMC,
            "reveal": Reveal.TREE,
            "counting": Counting.OBLIVIOUS_TRANSFER,
            "max_depth": 3,
            "test": Fraction(0),
        },
    ):
        assert first_objection(replace(agree, counting=tuple(Counting)), make(**changes)) is None
    mined = make(method=Method.RANDOMIZED)  # no bits bound what such a tree says
    assert first_objection(replace(agree, methods=tuple(Method)), mined) == objection
    of_bits = replace(mined, reveal=Reveal.TREE, counting=Counting.OBLIVIOUS_TRANSFER, max_depth=3, test=Fraction(0))
    assert first_objection(replace(agree, methods=tuple(Method), counting=tuple(Counting)), of_bits) is None


@pytest.mark.parametrize(
    "changes",
    [{"omega": ALL}, {"method": Method.SMC, "reveal": Reveal.TREE, "impurity": Impurity.GINI, "min_leaf": 1}],
    ids=["counts", "tree"],
)
def test_noise_takes_the_place_of_other_bounds_only_where_their_owner_bounds_epsilon(changes: dict[str, Any]) -> None:
    terms = make(**{"noise": Fraction(1000), "max_depth": 3, "counting": Counting.OBLIVIOUS_TRANSFER} | changes)
    agree = replace(AGREE, exact_counts=False, omega=ALL, methods=tuple(Method), counting=tuple(Counting))
    objection = first_objection(agree, terms)
    assert objection is not None
    assert (objection.field, objection.reason[:62]) == (
        "noise",
        'the job asks for noise = 1000: our [agree] epsilon is "any", a',
    )
    assert first_objection(replace(agree, epsilon=Fraction(1000)), terms) is None
