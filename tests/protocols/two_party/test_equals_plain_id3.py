"""The invariant: with omega = all, the tree is plain ID3 on the joined data, node for node and count for count."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocols.messages import ExactCounts
from protocols.role import Transcript
from protocols.terms import Counting, Impurity
from protocols.two_party.inputs import split_records
from protocols.two_party.training import Outcome
from tests.support.cases import cases
from tests.support.examples import at_most
from tests.support.parties import Case, make_terms, plain_id3, play
from tests.support.plain import ReferenceId3

SECURE_WAYS: Mapping[str, dict[str, Any]] = {
    "hybrid by transfers": {"method": "hybrid", "counting": "oblivious_transfer"},
    "smc by transfers": {"method": "smc", "counting": "oblivious_transfer"},
    "hybrid by dot products": {"method": "hybrid", "counting": "paillier"},
    "smc by dot products": {"method": "smc", "counting": "paillier"},
}


def play_equal(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice == bob
    return alice


def assert_is_plain_id3(case: Case, way: str) -> None:
    terms = replace(case.terms, **SECURE_WAYS[way])
    outcome = play_equal(replace(case, terms=terms))
    plain, correct = plain_id3(case)
    assert outcome.tree == plain.tree
    assert outcome.smc_computations == plain.computations
    assert outcome.correct == (correct if outcome.records_test else None)
    assert outcome.exact_counts_disclosed == plain.computations + case.classes + (outcome.records_test > 0)
    assert outcome.records_train + outcome.records_test == len(case.codes)


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=at_most(60))
@given(case=cases())
def test_tree_counts_and_accuracy_are_those_of_plain_id3_on_the_joined_table(way: str, case: Case) -> None:
    assert_is_plain_id3(case, way)


@pytest.mark.parametrize("way", ["hybrid by transfers", "hybrid by dot products"])
@settings(max_examples=at_most(25))
@given(case=cases(rows=24))
def test_a_window_as_wide_as_the_schema_is_all(way: str, case: Case) -> None:
    width = sum(map(len, case.sizes.values()))
    assert_is_plain_id3(replace(case, terms=replace(case.terms, omega=width)), way)


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=at_most(15))
@given(case=cases(rows=12, sizes=(1, 3)))
def test_columns_of_one_value_do_no_harm(way: str, case: Case) -> None:
    assert_is_plain_id3(case, way)


@pytest.mark.parametrize("way", SECURE_WAYS)
def test_pages_are_joined(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocols.two_party.copies.PAGE_RECORDS", 7)
    monkeypatch.setattr("protocols.counting.replies.REPLY_PAGE_BYTES", 5 * 64)
    codes = np.random.default_rng(5).integers(0, [2, 3, 2, 2], size=(40, 4)).astype(np.uint8)
    case = Case({"alice": (2, 3), "bob": (2,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, make_terms())
    assert_is_plain_id3(case, way)


@st.composite
def limits(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "max_depth": draw(st.none() | st.integers(1, 3)),
        "min_leaf": draw(st.integers(1, 6)),
        "impurity": draw(st.sampled_from(Impurity)),
    }


@pytest.mark.parametrize("way", SECURE_WAYS)
@settings(max_examples=at_most(30))
@given(case=cases(rows=60, sizes=(2, 4)), limited=limits())
def test_with_limits_and_measures_it_is_plain_id3_with_the_same_and_no_other_count_crosses(
    way: str, case: Case, limited: dict[str, Any]
) -> None:
    """The oracle is written independently; the frames hold the counts that it needs at every level, and no more."""
    terms = replace(case.terms, **SECURE_WAYS[way], **limited)
    train, *_ = split_records(terms.seed, len(case.codes), terms.test)
    assume(terms.min_leaf == 1 or 2 * terms.min_leaf <= len(train))
    crossed = Transcript()
    outcome, _ = play(replace(case, terms=terms), crossed)
    sizes = [*case.sizes["alice"], *case.sizes["bob"]]
    reference = ReferenceId3(sizes, case.classes, **limited)
    assert outcome.tree.root == reference.grow(case.codes[train].tolist())
    told = [len(m.values) for m in (*crossed.sent_by_a, *crossed.sent_by_b) if isinstance(m, ExactCounts)]
    levels = [sum(level) for level in reference.asked.values()]
    assert told == [*levels, *([1] if outcome.records_test else [])]
    assert outcome.smc_computations == sum(levels)


@settings(max_examples=at_most(40))
@given(case=cases(rows=24))
def test_both_sides_agree_whatever_the_window(case: Case) -> None:
    small = min(2, len(case.codes) // 4 or 1)
    for terms in (
        replace(case.terms, omega=1),
        replace(case.terms, omega=2, counting=Counting.PAILLIER),
        replace(case.terms, omega=1, min_leaf=small, max_depth=2),
        replace(case.terms, omega=1, impurity=Impurity.GAIN_RATIO),
    ):
        outcome = play_equal(replace(case, terms=terms))
        assert (outcome.key is not None) == terms.encrypts
