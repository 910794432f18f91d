"""Naive Bayes of two parties: it is plain naive Bayes on the joined table."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from protocols.errors import DeviationError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import ExactCounts, ModelDigest
from protocols.role import Message, Transcript
from protocols.tables import Codes
from protocols.terms import ALL, Counting, Learner, Terms
from protocols.two_party.inputs import split_records
from protocols.two_party.training import Outcome
from tests.support.cases import cases, correlated
from tests.support.duel import duel
from tests.support.examples import at_most
from tests.support.parties import Case, make_roles, make_terms, play

Chances = list[list[Fraction]]

BAYES: dict[str, Any] = {"learner": Learner.NAIVE_BAYES, "method": "smc"}
EXACT_WAYS: Mapping[str, dict[str, Any]] = {
    "by transfers": {},
    "by dot products": {"counting": Counting.PAILLIER, "test": Fraction(0)},
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
@settings(max_examples=at_most(25))
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


def test_another_model_than_the_peers_ends_the_run() -> None:
    def tamper(who: str, number: int, message: Message) -> Message:
        return ModelDigest(bytes(32)) if isinstance(message, ModelDigest) and who == "a" else message

    _, bob = duel(*make_roles(bayes_case()), tamper)
    assert type(bob.error) is DeviationError


def agreed_outcome(case: Case) -> Outcome:
    alice, bob = play(case)
    assert alice.model.digest() == bob.model.digest()
    assert replace(alice, model=bob.model) == bob
    return alice


def noisy_terms(**changes: Any) -> Terms:
    return bayes_terms(make_terms(omega=ALL), noise=Fraction(2), **changes)


def test_with_noise_both_have_the_same_model_and_twice_the_same() -> None:
    test = Fraction(1, 5)
    case = replace(CASE, terms=noisy_terms(test=test))
    first, second = agreed_outcome(case), agreed_outcome(case)
    assert first.model.digest() == second.model.digest()
    assert first.correct == second.correct
    train, *_ = split_records(case.terms.seed, len(case.codes), test)
    exact = plain_bayes(case.codes[train], sizes_of(case), 2)[1]
    assert isinstance(first.model, NaiveBayes)
    assert not np.allclose(np.exp(first.model.conditional[0]), np.array(exact[0], dtype=float), rtol=1e-6)
