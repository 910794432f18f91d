"""Estimates against the definition: over all coin outcomes, in fractions, with no tolerance."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.estimate import Estimate, estimate_count
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.tables.expression import ROOT, Expression, Term
from protocols.tables.table import Codes
from tests.support.declaration import pattern_weights, undo
from tests.support.enumeration import (
    assert_unbiased,
    designs,
    disguised_copies,
    every_record,
    expressions,
    name,
    solve,
    true_count,
)


def few_records(design: RelatedDesign) -> Codes:
    """Return two different records; one where the outcomes of all coins would be too many."""
    records = every_record(design.sizes)
    return records[[len(records) * 2 // 3, 0]] if design.patterns <= 8 else records[[0]]


@pytest.mark.parametrize("design", designs(), ids=name)
def test_over_all_coins_the_estimate_is_the_count_and_its_variance_the_variance(design: RelatedDesign) -> None:
    codes = few_records(design)
    assert_unbiased(codes, list(disguised_copies(codes, design)), design)


@pytest.mark.parametrize("design", designs(), ids=name)
def test_the_weighted_guesses_of_a_record_add_up_to_its_factor(design: RelatedDesign) -> None:
    weights = pattern_weights(design)
    assert sum(weights) == 1
    guesses = design.pattern_coins()
    records = every_record(design.sizes)[::2]
    rows = undo(np.repeat(records, len(guesses), axis=0), np.tile(guesses, (len(records), 1)), design)
    for expression in expressions(design.sizes):
        hits = expression.satisfied_by(rows).reshape(len(records), -1).tolist()
        for record, satisfied in zip(records, hits, strict=True):
            weighed = sum(w for w, hit in zip(weights, satisfied, strict=True) if hit)
            assert weighed == estimate_count(record[None], expression, design).count


@pytest.mark.parametrize("design", [d for d in designs() if d.theta == 1], ids=name)
def test_with_theta_one_the_estimates_are_the_counts_without_error(design: RelatedDesign) -> None:
    codes = np.concatenate([every_record(design.sizes)] * 2)
    sent = disguise(codes, np.zeros((len(codes), len(design.groups)), dtype=np.uint8), design)
    for expression in expressions(design.sizes):
        estimate = estimate_count(sent, expression, design)
        count = Fraction(true_count(codes, expression))
        assert estimate == Estimate(len(codes), count, count)
        assert estimate.standard_error == 0


@pytest.mark.parametrize("groups", [((0, 1),), ((0, 1), (2,)), ((0, 1), (2,), (3, 4))])
@pytest.mark.parametrize("theta", [Fraction(9, 20), Fraction(7, 10), Fraction(1)])
def test_it_solves_the_papers_linear_system(groups: tuple[tuple[int, ...], ...], theta: Fraction) -> None:
    """Multi-group 4.2 to 4.4: P*(E_j) = sum_i P(E_i) theta^u (1-theta)^(m-u), u the groups in which i and j agree."""
    design = RelatedDesign((2,) * 5, groups, theta)
    sent = np.random.default_rng(len(groups)).integers(0, 2, size=(30, 5)).astype(np.uint8)
    parts = [[(column, column % 2) for column in group] for group in groups]
    variations = list(product([False, True], repeat=len(groups)))

    def varied(flips: tuple[bool, ...]) -> Expression:
        terms = [Term(c, v ^ flip) for part, flip in zip(parts, flips, strict=True) for c, v in part]
        return Expression(tuple(terms))

    def transition(i: tuple[bool, ...], j: tuple[bool, ...]) -> Fraction:
        return prod((theta if x == y else 1 - theta for x, y in zip(i, j, strict=True)), start=Fraction(1))

    matrix = [[transition(i, j) for i in variations] for j in variations]
    observed = [Fraction(true_count(sent, varied(flips)), len(sent)) for flips in variations]
    solved = solve(matrix, observed)
    for flips, share in zip(variations, solved, strict=True):
        assert estimate_count(sent, varied(flips), design).count == len(sent) * share


def test_many_groups_stay_exact() -> None:
    design = RelatedDesign((2,) * 12, tuple((c,) for c in range(12)), Fraction(9, 20))
    sent = np.zeros((3, 12), dtype=np.uint8)
    expression = Expression(tuple(Term(c, 0) for c in range(12)))
    factor = (Fraction(9, 20) / Fraction(-1, 10)) ** 12
    assert estimate_count(sent, expression, design) == Estimate(3, 3 * factor, 3 * factor**2)


def test_a_theta_of_many_digits_stays_exact() -> None:
    theta = Fraction(987654321, 10**9)
    design = RelatedDesign((2, 3), ((0,), (1,)), theta)
    expression = Expression((Term(0, 0), Term(1, 0)))
    sent = np.zeros((1, 2), dtype=np.uint8)
    binary = theta / (2 * theta - 1)
    ternary = (1 - (1 - theta) / 2) / (theta - (1 - theta) / 2)
    assert estimate_count(sent, expression, design).count == binary * ternary


def test_the_empty_expression_counts_every_record() -> None:
    design = RelatedDesign((2,), ((0,),), Fraction(9, 20))
    assert estimate_count(np.zeros((7, 1), dtype=np.uint8), ROOT, design) == Estimate(7, Fraction(7), Fraction(7))


@pytest.mark.parametrize(("variance", "error"), [(Fraction(9, 4), 1.5), (Fraction(0), 0.0), (Fraction(-3), 0.0)])
def test_the_standard_error_is_the_root_of_the_variance_or_zero(variance: Fraction, error: float) -> None:
    assert Estimate(1, Fraction(1), variance + 1).standard_error == error


def test_what_theta_hides_altogether_is_refused() -> None:
    design = RelatedDesign((2,) * 12, tuple((c,) for c in range(12)), Fraction(1, 2) + Fraction(1, 10**9))
    sent = np.zeros((3, 12), dtype=np.uint8)
    expression = Expression(tuple(Term(c, 0) for c in range(12)))
    with pytest.raises(InputError, match="ask about columns of fewer groups"):
        estimate_count(sent, expression, design)
    estimate_count(sent, Expression(expression.terms[:6]), design)
