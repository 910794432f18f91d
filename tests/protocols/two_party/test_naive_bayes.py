"""Naive Bayes of two parties: what is counted exactly is plain naive Bayes on the joined table, the rest is as told."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.counting.estimated import Estimator
from protocols.counting.projected import ProjectedEstimates
from protocols.counting.rows import make_view
from protocols.counts import Query
from protocols.errors import DeviationError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import (
    DisguisedPage,
    EstimatedCorrect,
    EstimatedCounts,
    ExactCounts,
    HolderKey,
    ModelDigest,
    OpenedPage,
)
from protocols.role import Message, Transcript, run_alone
from protocols.tables.expression import ROOT
from protocols.tables.table import Codes
from protocols.terms import ALL, Counting, Learner, Terms
from protocols.two_party.split import split_records
from protocols.two_party.told_estimates import estimate_step
from protocols.two_party.training import Outcome
from tests.support.cases import cases, correlated
from tests.support.duel import duel
from tests.support.parties import Case, make_local, make_roles, make_terms, play

Chances = list[list[Fraction]]

BAYES: dict[str, Any] = {"learner": Learner.NAIVE_BAYES}
EXACT_WAYS: Mapping[str, dict[str, Any]] = {
    "hybrid by transfers": {"method": "hybrid"},
    "smc by transfers": {"method": "smc"},
    "hybrid by dot products": {"method": "hybrid", "counting": Counting.PAILLIER, "test": Fraction(0)},
    "smc by dot products": {"method": "smc", "counting": Counting.PAILLIER, "test": Fraction(0)},
}


def bayes_terms(terms: Terms, **changes: Any) -> Terms:
    return replace(terms, **BAYES, **changes)


def plain_bayes(codes: Codes, sizes: list[int], classes: int) -> tuple[list[Fraction], list[Chances]]:
    """Return `P(c)`, and `P(v | c)` of each attribute with Laplace's smoothing, by counting people one by one."""
    of_class = Counter(row[-1] for row in codes.tolist())
    prior = [Fraction(of_class[c], len(codes)) for c in range(classes)]
    tables = []
    for column, size in enumerate(sizes):
        both = Counter((row[column], row[-1]) for row in codes.tolist())
        tables.append([[Fraction(both[v, c] + 1, of_class[c] + size) for c in range(classes)] for v in range(size)])
    return prior, tables


def assert_is(model: object, prior: list[Fraction], tables: list[Chances]) -> None:
    assert isinstance(model, NaiveBayes)
    np.testing.assert_allclose(np.exp(model.prior), np.array(prior, dtype=float), rtol=1e-11)
    for ours, theirs in zip(model.conditional, tables, strict=True):
        np.testing.assert_allclose(np.exp(ours), np.array(theirs, dtype=float), rtol=1e-11)


def right(codes: Codes, prior: list[Fraction], tables: list[Chances]) -> set[int]:
    """Return how many rows the plain classifier may get right: those of a tie may go either way."""
    least = most = 0
    for row in codes.tolist():
        scores = [float(share) for share in prior]
        for column, table in enumerate(tables):
            scores = [score * float(chance) for score, chance in zip(scores, table[row[column]], strict=True)]
        best = max(scores)
        ties = [c for c, score in enumerate(scores) if score >= best * (1 - 1e-9)]
        least += ties == [row[-1]]
        most += row[-1] in ties
    return set(range(least, most + 1))


def sizes_of(case: Case) -> list[int]:
    return [*case.sizes["alice"], *case.sizes["bob"]]


@pytest.mark.parametrize("way", EXACT_WAYS)
@settings(max_examples=25)
@given(case=cases())
def test_counted_exactly_it_is_plain_naive_bayes_on_the_joined_table(way: str, case: Case) -> None:
    terms = bayes_terms(case.terms, **EXACT_WAYS[way])
    train, test = split_records(terms.seed, len(case.codes), terms.test)
    crossed = Transcript()
    alice, bob = play(replace(case, terms=terms), crossed)
    prior, tables = plain_bayes(case.codes[train], sizes_of(case), case.classes)
    assert_is(alice.model, prior, tables)
    assert alice.model.digest() == bob.model.digest()
    cells = sum(sizes_of(case)) * case.classes
    assert alice.smc_computations == cells
    assert alice.exact_counts_disclosed == cells + case.classes + (len(test) > 0)
    told = [len(m.values) for m in (*crossed.sent_by_a, *crossed.sent_by_b) if isinstance(m, ExactCounts)]
    assert told == [cells, *([1] if len(test) else [])]
    assert alice.correct == bob.correct
    if len(test):
        assert alice.correct in right(case.codes[test], prior, tables)


def with_twin(table: Chances, column: int) -> Chances:
    return [[*row, row[column]] for row in table]


CASE = Case(
    {"alice": (2, 3, 2), "bob": (2, 3)},
    ("alice",),
    2,
    correlated((2, 3, 2, 2, 3, 2), 600, seed=3, flips=0.7),
    {"alice": 2, "bob": 2},
    make_terms(theta=Fraction(4, 5)),
)


def bayes_case(**changes: Any) -> Case:
    return replace(CASE, terms=bayes_terms(CASE.terms, **changes))


def estimated_by_hand(case: Case, sent: Transcript) -> tuple[list[Any], float]:
    """Return what Alice's table and Bob's pages give, and what it is told as multiples of."""
    alice, bob = (make_local(case, party) for party in ("alice", "bob"))
    schema = play(case)[0].model.schema
    train, *_ = split_records(case.terms.seed, len(case.codes), case.terms.test)
    design, own = (local.design(case.terms.theta, class_is_shared=False) for local in (bob, alice))
    pages = b"".join(message.codes for message in sent.sent_by_b if isinstance(message, DisguisedPage))
    theirs = alice.table.codes[:, :2].copy()
    theirs.flat[:] = list(pages)
    view = make_view(schema, "alice", alice.table.codes, theirs, design).rows(train)
    query = Query(ROOT, (0, 1, 2, 3, 4), alice.class_counts(train))
    (answer,) = run_alone(ProjectedEstimates(Estimator(view)).count([query]))
    return list(answer.tables), estimate_step(own, design, len(train))


def test_randomized_tells_the_class_holders_estimates_rounded_and_nothing_else() -> None:
    sent, case = Transcript(), bayes_case(method="randomized")
    alice, bob = play(case, sent)
    assert alice.model.digest() == bob.model.digest()
    (told,) = (message.values for message in sent.sent_by_a if isinstance(message, EstimatedCounts))
    tables, step = estimated_by_hand(case, sent)
    assert step > 1
    exact = np.concatenate([table.ravel() for table in tables])
    assert all(count % step == 0 for count in told)
    assert np.abs(np.array(told) - exact).max() <= step / 2
    kinds = {type(m) for m in (*sent.sent_by_a, *sent.sent_by_b)}
    assert not kinds & {ExactCounts, HolderKey, OpenedPage}
    assert not any(isinstance(m, EstimatedCounts | EstimatedCorrect) for m in sent.sent_by_b)
    assert (alice.smc_computations, alice.exact_counts_disclosed, alice.key) == (0, 2, None)


def test_a_value_that_was_rounded_away_is_no_impossible_one() -> None:
    model = play(bayes_case(method="randomized", theta=Fraction(11, 20)))[0].model
    assert isinstance(model, NaiveBayes)
    assert all(np.isfinite(table).all() for table in model.conditional)


def test_hybrid_counts_the_best_ranked_exactly_and_estimates_the_rest() -> None:
    sent, case = Transcript(), bayes_case(omega=2)
    alice, bob = play(case, sent)
    assert alice.model.digest() == bob.model.digest()
    train, *_ = split_records(case.terms.seed, len(case.codes), case.terms.test)
    _, plain = plain_bayes(case.codes[train], sizes_of(case), 2)
    (told,) = (message.values for message in sent.sent_by_a if isinstance(message, EstimatedCounts))
    assert isinstance(alice.model, NaiveBayes)
    exact = [
        np.allclose(np.exp(ours), np.array(theirs, dtype=float), rtol=1e-11)
        for ours, theirs in zip(alice.model.conditional, plain, strict=True)
    ]
    assert sum(exact) == 2
    assert len(told) == sum(2 * size for size, counted in zip(sizes_of(case), exact, strict=True) if not counted)
    assert alice.smc_computations == sum(
        2 * size for size, counted in zip(sizes_of(case), exact, strict=True) if counted
    )


def test_the_window_takes_the_attributes_of_which_the_class_depends_most() -> None:
    codes = np.random.default_rng(7).integers(0, 2, size=(2000, 5)).astype(np.uint8)
    codes[:, 1], codes[:, 2] = codes[:, 4], codes[:, 4]
    codes[:300, 1], codes[300:600, 2] = 1 - codes[:300, 1], 1 - codes[300:600, 2]
    terms = bayes_terms(make_terms(theta=Fraction(9, 10), omega=2))
    case = Case({"alice": (2, 2), "bob": (2, 2)}, ("alice",), 2, codes, {"alice": 3, "bob": 2}, terms)
    train, *_ = split_records(terms.seed, len(codes), terms.test)
    _, plain = plain_bayes(codes[train], [2, 2, 2, 2], 2)
    model = play(case)[0].model
    assert isinstance(model, NaiveBayes)
    for column in (1, 2):
        np.testing.assert_allclose(np.exp(model.conditional[column]), np.array(plain[column], dtype=float), rtol=1e-11)


def test_rare_classes_are_counted_together_and_say_the_same_of_values() -> None:
    codes = correlated((3, 2, 4), 400, seed=1, flips=0.5)
    codes[:, -1] = np.where(codes[:, -1] == 3, 0, codes[:, -1])
    codes[:6, -1] = 3
    terms = bayes_terms(make_terms(min_leaf=20, theta=Fraction(9, 10)))
    case = Case({"alice": (3,), "bob": (2,)}, ("alice",), 4, codes, {"alice": 1, "bob": 1}, terms)
    model = play(case)[0].model
    assert isinstance(model, NaiveBayes)
    train, *_ = split_records(terms.seed, len(codes), terms.test)
    sizes = Counter(codes[train, -1].tolist())
    joined_with = min((0, 1, 2), key=lambda label: sizes[label])
    merged = codes[train].copy()
    merged[merged[:, -1] == 3, -1] = joined_with
    _, tables = plain_bayes(merged, [3, 2], 3)
    assert_is(model, [Fraction(sizes[c], len(train)) for c in range(4)], [with_twin(t, joined_with) for t in tables])


def test_another_model_than_the_peers_ends_the_run() -> None:
    def tamper(who: str, number: int, message: Message) -> Message:
        return ModelDigest(bytes(32)) if isinstance(message, ModelDigest) and who == "a" else message

    _, bob = duel(*make_roles(bayes_case()), tamper)
    assert type(bob.error) is DeviationError


@settings(max_examples=30)
@given(case=cases(rows=30))
def test_both_sides_agree_whatever_the_window_and_the_method(case: Case) -> None:
    for changes in ({"omega": 1}, {"omega": 2}, {"method": "randomized"}):
        outcome = agreed_outcome(replace(case, terms=bayes_terms(case.terms, **changes)))
        assert outcome.key is None


def agreed_outcome(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice.model.digest() == bob.model.digest()
    assert replace(alice, model=bob.model) == bob
    return alice


def noisy_terms(**changes: Any) -> Terms:
    return bayes_terms(make_terms(omega=ALL), noise=Fraction(2), **changes)


@pytest.mark.parametrize("method", ["hybrid", "smc"])
def test_with_noise_both_have_the_same_model_and_twice_the_same(method: str) -> None:
    test = Fraction(1, 5)
    case = replace(CASE, terms=noisy_terms(method=method, test=test))
    first, second = agreed_outcome(case), agreed_outcome(case)
    assert first.model.digest() == second.model.digest()
    assert first.correct == second.correct
    train, *_ = split_records(case.terms.seed, len(case.codes), test)
    exact = plain_bayes(case.codes[train], sizes_of(case), 2)[1]
    assert isinstance(first.model, NaiveBayes)
    assert not np.allclose(np.exp(first.model.conditional[0]), np.array(exact[0], dtype=float), rtol=1e-6)
