"""Estimates against the definition: over all coin outcomes, in fractions, with no tolerance."""

from fractions import Fraction
from itertools import product
from math import erf, exp, prod, sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Estimate, estimate_count, quantile
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Codes, Expression, Term
from tests.support.binomial import ShareTest, log_mass
from tests.support.declaration import pattern_weights, undo
from tests.support.enumeration import (
    assert_unbiased,
    designs,
    disguised_copies,
    every_design,
    every_record,
    expressions,
    name,
    response_tables,
    shares,
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


def test_many_groups_and_digits_stay_exact() -> None:
    design = RelatedDesign((2,) * 12, tuple((c,) for c in range(12)), Fraction(9, 20))
    sent = np.zeros((3, 12), dtype=np.uint8)
    expression = Expression(tuple(Term(c, 0) for c in range(12)))
    factor = (Fraction(9, 20) / Fraction(-1, 10)) ** 12
    assert estimate_count(sent, expression, design) == Estimate(3, 3 * factor, 3 * factor**2)
    theta = Fraction(987654321, 10**9)
    design = RelatedDesign((2, 3), ((0,), (1,)), theta)
    expression = Expression((Term(0, 0), Term(1, 0)))
    sent = np.zeros((1, 2), dtype=np.uint8)
    binary = theta / (2 * theta - 1)
    ternary = (1 - (1 - theta) / 2) / (theta - (1 - theta) / 2)
    assert estimate_count(sent, expression, design).count == binary * ternary
    design = RelatedDesign((2,) * 12, tuple((c,) for c in range(12)), Fraction(1, 2) + Fraction(1, 10**9))
    sent = np.zeros((3, 12), dtype=np.uint8)
    expression = Expression(tuple(Term(c, 0) for c in range(12)))
    with pytest.raises(InputError, match="ask about columns of fewer groups"):
        estimate_count(sent, expression, design)
    estimate_count(sent, Expression(expression.terms[:6]), design)


RESPONDENTS = 400


def warner_intervals(theta: Fraction, confidence: float) -> list[tuple[float, float]]:
    """Return the interval for every number of respondents that say yes."""
    design = RelatedDesign((2,), ((0,),), theta)
    asked = Expression((Term(0, 1),))
    intervals = []
    for yes in range(RESPONDENTS + 1):
        sent = (np.arange(RESPONDENTS) < yes).astype(np.uint8)[:, None]
        intervals.append(estimate_count(sent, asked, design).interval(confidence))
    return intervals


@pytest.mark.parametrize("theta", ["3/10", "9/20", "7/10", "9/10"])
@pytest.mark.parametrize(("confidence", "low", "high"), [(0.95, 0.93, 0.97), (0.8, 0.77, 0.83), (0.99, 0.98, 0.996)])
def test_over_all_outcomes_of_warners_survey_the_interval_covers_as_often_as_it_says(
    theta: str, confidence: float, low: float, high: float
) -> None:
    """Respondents say yes with chance `theta P + (1 - theta)(1 - P)`, so the chance of each outcome is binomial."""
    intervals = warner_intervals(Fraction(theta), confidence)
    for share in map(Fraction, ("1/10", "1/4", "1/2", "9/10")):
        yes = Fraction(theta) * share + (1 - Fraction(theta)) * (1 - share)
        masses = [exp(log_mass(RESPONDENTS, yes, hits)) for hits in range(RESPONDENTS + 1)]
        assert sum(masses) == pytest.approx(1, abs=1e-9)
        covered = sum(m for m, (a, b) in zip(masses, intervals, strict=True) if a <= share <= b)
        assert low <= covered <= high


ALARM = 1e-8
"""False-alarm rate of each statistical test here, over the choice of its seed."""
SURVEYS = 1000
TWO_GROUPS = RelatedDesign((2, 3), ((0,), (1,)), Fraction(7, 10))
SURVEY = UnrelatedDesign((2, 3), ((0, 1),), Fraction(1, 2), (shares("1/4 3/4"), shares("1/3 1/3 1/3")))


@pytest.mark.parametrize("design", [TWO_GROUPS, SURVEY])
def test_simulated_intervals_cover_about_as_often_as_they_say(design: Design) -> None:
    """At 80 %, with 2 % allowed for the normal; a standard error three tenths too small or too large is noticed."""
    population = np.array([[0, 0]] * 3 + [[0, 2], [1, 1]] * 2 + [[1, 0], [0, 1], [1, 2]], dtype=np.uint8)
    asked = Expression((Term(0, 0), Term(1, 0)))
    generator = np.random.default_rng(41)
    hits = 0
    for _ in range(SURVEYS):
        codes = population[generator.integers(len(population), size=500)]
        low, high = estimate_count(design.randomize(codes, bulk_draw(generator, 500)), asked, design).interval(0.8)
        hits += low <= 0.3 <= high
    below, above = ShareTest(SURVEYS, Fraction(78, 100), ALARM), ShareTest(SURVEYS, Fraction(82, 100), ALARM)
    narrow, wide = (Fraction(erf(factor * quantile(0.8) / sqrt(2))) for factor in (0.7, 1.3))
    assert min(below.power(narrow), above.power(wide)) > 0.9
    assert below.low <= hits <= above.high


POPULATION = [
    design
    for design in every_design()
    if len(every_record(design.sizes)) <= 6
    and design.part(0).theta not in (0, 1)
    and design.part(0).theta.denominator != 20
]


@pytest.mark.parametrize("design", POPULATION, ids=name)
def test_over_all_samples_of_a_population_share_and_variance_are_unbiased(design: Design) -> None:
    """Three inhabitants, two respondents drawn with replacement, all their responses."""
    every = every_record(design.sizes)
    population = every[[0, len(every) // 2, -1]]
    samples = list(product(range(len(population)), repeat=2))
    for expression in list(expressions(design.sizes))[::2]:
        share = Fraction(true_count(population, expression), len(population))
        outcomes = [
            (chance / len(samples), estimate_count(table, expression, design))
            for sample in samples
            for table, chance in response_tables(population[list(sample)], design)
        ]
        assert sum(chance * e.proportion for chance, e in outcomes) == share
        variance = sum(chance * (e.count - 2 * share) ** 2 for chance, e in outcomes)
        assert sum(chance * e.population_variance for chance, e in outcomes) == variance


def test_the_standard_error_is_the_root_of_the_variance_or_zero() -> None:
    for variance, error in ((Fraction(9, 4), 1.5), (Fraction(0), 0.0), (Fraction(-3), 0.0)):
        assert Estimate(1, Fraction(1), variance + 1).standard_error == error
    estimate = Estimate(2, Fraction(2), Fraction(1))
    assert estimate.population_variance == -2
    assert estimate.proportion_error == 0
    assert estimate.interval(0.9) == (1, 1)


def test_where_there_is_no_share_or_confidence_there_is_no_interval() -> None:
    for confidence in (0.0, 1.0, -0.1, 1.1, float("nan")):
        with pytest.raises(InputError, match="a confidence must lie between 0 and 1, both excluded"):
            Estimate(2, Fraction(1), Fraction(1)).interval(confidence)
    with pytest.raises(InputError, match="there are no records to estimate from"):
        _ = Estimate(0, Fraction(0), Fraction(0)).proportion
    for records in (0, 1):
        with pytest.raises(InputError, match="a sample of fewer than 2 records has no variance"):
            _ = Estimate(records, Fraction(0), Fraction(0)).population_variance
        with pytest.raises(InputError, match="a sample of fewer than 2 records has no variance"):
            Estimate(records, Fraction(0), Fraction(0)).interval(0.95)


def test_an_interval_worked_by_hand() -> None:
    """Warner at 3/4: 6 of 10 say yes, `f` is 3/2 or -1/2, `P = 7/10`, `s^2 = 4 * 10/9 * 6/10 * 4/10`."""
    design = RelatedDesign((2,), ((0,),), Fraction(3, 4))
    estimate = estimate_count(np.array([[1]] * 6 + [[0]] * 4, dtype=np.uint8), Expression((Term(0, 1),)), design)
    assert estimate == Estimate(10, Fraction(7), Fraction(29, 2))
    assert estimate.proportion == Fraction(7, 10)
    assert estimate.population_variance == Fraction(32, 3)
    assert estimate.proportion_error == pytest.approx(sqrt(32 / 3) / 10)
    low, high = estimate.interval(0.95)
    assert (low + high) / 2 == pytest.approx(0.7)
    assert (high - low) / 2 == pytest.approx(1.959963985 * sqrt(32 / 3) / 10)
    design = RelatedDesign((2,), ((0,),), Fraction(3, 4))
    low, high = estimate_count(np.zeros((10, 1), dtype=np.uint8), Expression((Term(0, 0),)), design).interval(0.5)
    assert low == high == 1.5
    for confidence, deviations in ((0.5, 0.67449), (0.95, 1.95996), (0.99, 2.57583)):
        assert quantile(confidence) == pytest.approx(deviations, abs=1e-5)
    # By the exact tail, P(|z| > 8.2) = 2.4e-16.
    assert 8.1 < quantile(1 - 2**-52) < 8.3
