"""The invariant: with omega = all, the tree is plain ID3 on the joined data, node for node and count for count."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.terms import ALL, Engine, Method
from protocols.two_party.training import Outcome
from tests.support.cases import cases
from tests.support.parties import Case, make_terms, plain_id3, play

SECURE_WAYS: Mapping[str, dict[str, object]] = {
    "encrypted coins": {"method": "hybrid", "engine": "encrypted_coins"},
    "dot products": {"method": "hybrid", "engine": "dot_product"},
    "smc": {"method": "smc", "engine": "dot_product"},
}
CURVE_WAYS = {f"{way} on the curve": terms | {"cipher": "curve"} for way, terms in SECURE_WAYS.items()}
EVERY_WAY = {**SECURE_WAYS, **CURVE_WAYS}


def play_equal(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice == bob
    return alice


def assert_is_plain_id3(case: Case, way: str) -> None:
    terms = replace(case.terms, **EVERY_WAY[way])  # type: ignore[arg-type]
    outcome = play_equal(replace(case, terms=terms))
    plain, correct = plain_id3(case)
    assert outcome.tree == plain.tree
    assert outcome.smc_computations == plain.computations
    assert outcome.correct == (correct if outcome.records_test else None)
    assert outcome.exact_counts_disclosed == plain.computations + case.classes + (outcome.records_test > 0)
    assert outcome.records_train + outcome.records_test == len(case.codes)


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=110)
@given(case=cases())
def test_tree_counts_and_accuracy_are_those_of_plain_id3_on_the_joined_table(way: str, case: Case) -> None:
    assert_is_plain_id3(case, way)


@pytest.mark.parametrize("way", CURVE_WAYS)
@settings(max_examples=25)
@given(case=cases())
def test_on_the_curve_too(way: str, case: Case) -> None:
    assert_is_plain_id3(case, way)


@pytest.mark.parametrize("way", ["encrypted coins", "dot products"])
@settings(max_examples=25)
@given(case=cases(rows=24))
def test_a_window_as_wide_as_the_schema_is_all(way: str, case: Case) -> None:
    width = sum(map(len, case.sizes.values()))
    assert_is_plain_id3(replace(case, terms=replace(case.terms, omega=width)), way)


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=15)
@given(case=cases(rows=12, sizes=(1, 3)))
def test_columns_of_one_value_do_no_harm(way: str, case: Case) -> None:
    assert_is_plain_id3(case, way)


@pytest.mark.parametrize("way", EVERY_WAY)
def test_pages_are_joined(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.two_party.training.PAGE_RECORDS", 7)
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 5 * 64)
    codes = np.random.default_rng(5).integers(0, [2, 3, 2, 2], size=(40, 4)).astype(np.uint8)
    case = Case({"alice": (2, 3), "bob": (2,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, make_terms())
    assert_is_plain_id3(case, way)


@settings(max_examples=40)
@given(case=cases(rows=24))
def test_both_sides_agree_whatever_the_window_and_the_method(case: Case) -> None:
    for terms in (
        replace(case.terms, omega=1),
        replace(case.terms, omega=2, engine=Engine.DOT_PRODUCT),
        replace(case.terms, method=Method.RANDOMIZED, omega=ALL),
    ):
        outcome = play_equal(replace(case, terms=terms))
        assert (outcome.key_holder is None) == (terms.method == "randomized")
