"""Estimates against the definition, over all coins, and published ones; the most likely distribution beside them."""

import json
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise, product
from math import exp, log, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.crosswise import ForcedDesign
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.estimate import Estimate, estimate_count, quantile, record_factors
from protocols.randomized_response.likelihood import MAX_GROUP_CELLS, MAX_LIKELIHOOD_CELLS, MostLikely, most_likely
from protocols.randomized_response.moments import error_bound, largest_moments, variance_bound
from protocols.randomized_response.random_answers import corrected_share, random_share
from protocols.randomized_response.related_question import RelatedDesign, disguise, keyed_draw
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Codes, Expression, Floats, Term
from tests.support.binomial import log_mass, lower_tail, upper_tail
from tests.support.cases import correlated
from tests.support.declaration import joint_transition, pattern_coins
from tests.support.enumeration import (
    assert_unbiased,
    coin_outcomes,
    designs,
    disguised_copies,
    every_design,
    every_record,
    expressions,
    response_tables,
    shares,
    true_count,
)
from tests.support.examples import few
from tests.support.questions import QUESTIONS, crosswise


def few_records(design: RelatedDesign) -> Codes:
    """Return two different records; one where the outcomes of all coins would be too many."""
    records = every_record(design.sizes)
    return records[[len(records) * 2 // 3, 0]] if prod(design.orders) <= 8 else records[[0]]


def test_over_all_coins_the_estimate_is_the_count_and_its_variance_the_variance() -> None:
    for design in few(designs(), 12):
        codes = few_records(design)
        assert_unbiased(codes, list(disguised_copies(codes, design)), design)


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


def test_over_all_outcomes_of_warners_survey_the_interval_covers_as_often_as_it_says() -> None:
    """Respondents say yes with chance `theta P + (1 - theta)(1 - P)`, so the chance of each outcome is binomial."""
    for theta in few(["9/20", "3/10", "9/10", "7/10"], 2):
        for confidence, low, high in [(0.95, 0.93, 0.97), (0.8, 0.77, 0.83), (0.99, 0.98, 0.996)]:
            intervals = warner_intervals(Fraction(theta), confidence)
            for share in map(Fraction, ("1/10", "1/4", "1/2", "9/10")):
                yes = Fraction(theta) * share + (1 - Fraction(theta)) * (1 - share)
                masses = [exp(log_mass(RESPONDENTS, yes, hits)) for hits in range(RESPONDENTS + 1)]
                assert sum(masses) == pytest.approx(1, abs=1e-9)
                covered = sum(m for m, (a, b) in zip(masses, intervals, strict=True) if a <= share <= b)
                assert low <= covered <= high


POPULATION = [
    design
    for design in every_design()
    if len(every_record(design.sizes)) <= 6
    and design.part(0).theta not in (0, 1)
    and design.part(0).theta.denominator != 20
]


def test_over_all_samples_of_a_population_share_and_variance_are_unbiased() -> None:
    """Three inhabitants, two respondents drawn with replacement, all their responses."""
    for design in few(POPULATION, 9):
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


def test_an_interval_is_the_one_worked_by_hand_and_there_is_none_without_share_or_confidence() -> None:
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
    # Warner at 3/4: 6 of 10 say yes, `f` is 3/2 or -1/2, `P = 7/10`, `s^2 = 4 * 10/9 * 6/10 * 4/10`.
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


VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "survey_estimates.json").read_text("utf-8"))
YES = Expression((Term(0, 1),))


def design_of(case: dict[str, Any]) -> Design:
    theta = Fraction(case["theta"])
    if case["kind"] == "related":
        return RelatedDesign((2,), ((0,),), theta)
    if case["kind"] == "crosswise":
        return crosswise((2,), [0], case["theta"])
    personal = Fraction(case["personal"])
    kind = {"unrelated": UnrelatedDesign, "forced": ForcedDesign}[case["kind"]]
    return kind((2,), ((0,),), theta, ((1 - personal, personal),))


def test_published_estimates_are_found_again_and_many_groups_stay_exact() -> None:
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
    for case in VECTORS["cases"]:
        answers = np.zeros((case["records"], 1), dtype=np.uint8)
        answers[: case["yes"]] = 1
        estimate = estimate_count(answers, YES, design_of(case))
        assert float(estimate.proportion) == pytest.approx(case["share"], abs=5e-5 if case["error"] else 5e-8)
        if case["error"] is not None:
            assert estimate.proportion_error == pytest.approx(case["error"], abs=5e-5)
    told = VECTORS["random_answers"]
    design = crosswise((2, 2), [0, 1], told["prevalence"])
    rows = [[each["question"], each["anchor"]] for each in told["counts"] for _ in range(each["records"])]
    answers, anchor = np.array(rows, dtype=np.uint8), [Term(1, 0)]
    assert float(1 - random_share(answers, design, anchor).share) == pytest.approx(told["attentive"], abs=5e-5)
    corrected = corrected_share(answers, YES, design, anchor)
    assert float(corrected.share) == pytest.approx(told["corrected"], abs=5e-5)


TOLERANCE = 1e-9
WARNER = RelatedDesign((2,), ((0,),), Fraction(7, 10))


def answers(yes: int, no: int) -> Codes:
    return np.array([[1]] * yes + [[0]] * no, dtype=np.uint8)


def random_responses(design: Design, records: int = 40) -> Codes:
    every = every_record(design.sizes)
    generator = np.random.default_rng(len(every))
    return every[generator.integers(len(every), size=records) ** 2 // len(every)]


def reference_likelihood(found: Floats, codes: Codes, columns: tuple[int, ...], design: Design) -> float:
    """Return the log-likelihood a record, by the written-out matrix."""
    matrix = np.array(joint_transition(design, columns), dtype=np.float64)
    chances = dict(zip(cells([design.sizes[c] for c in columns]), (matrix @ found.ravel()).tolist(), strict=True))
    return sum(log(chances[tuple(record)]) for record in codes[:, list(columns)].tolist()) / len(codes)


def test_of_one_binary_column_it_is_the_estimate_cut_to_the_simplex() -> None:
    for theta, yes in product(["1/10", "9/20", "7/10", "1"], [0, 11, 18, 20, 29, 40]):
        design = RelatedDesign((2,), ((0,),), Fraction(theta))
        sent = answers(yes, 40 - yes)
        estimate = float(estimate_count(sent, Expression((Term(0, 1),)), design).proportion)
        found = most_likely(sent, [0], design, tolerance=1e-12)
        assert found.converged
        assert found.shares[1] == pytest.approx(min(max(estimate, 0), 1), abs=1e-5)


SMALL_QUESTIONS = [design for design in QUESTIONS.values() if len(design.sizes) < 4]


def test_inside_the_simplex_it_is_the_estimate() -> None:
    """Responses in the shares that a population of all records, none rare, would send."""
    for design in [d for d in every_design() if d.part(0).theta == Fraction(9, 10) or d in SMALL_QUESTIONS]:
        every = every_record(design.sizes)
        columns = tuple(range(len(design.sizes)))
        weights = np.arange(len(every)) % 3 + 1
        truth = weights / weights.sum()
        expected = np.array(joint_transition(design, columns), dtype=np.float64) @ truth
        sent = np.repeat(every, np.rint(expected * 20_000).astype(int), axis=0)
        estimates = [
            float(estimate_count(sent, Expression(tuple(map(Term, columns, record))), design).proportion)
            for record in every.tolist()
        ]
        assert min(estimates) > 0
        found = most_likely(sent, columns, design, tolerance=1e-12)
        assert found.converged
        assert found.shares.ravel() == pytest.approx(np.array(estimates), abs=1e-5)


def test_it_is_a_distribution_with_the_likelihood_and_gap_it_states() -> None:
    for design in few(every_design()[::3], 3):
        columns = tuple(reversed(range(len(design.sizes))))
        sent = random_responses(design)
        found = most_likely(sent, columns, design, TOLERANCE)
        assert found.converged
        assert found.gap <= TOLERANCE
        assert found.shares.shape == tuple(design.sizes[column] for column in columns)
        assert found.shares.min() >= 0
        assert found.shares.sum() == pytest.approx(1, abs=1e-12)
        likelihood = reference_likelihood(found.shares, sent, columns, design)
        assert found.log_likelihood == pytest.approx(likelihood, abs=1e-9)


GRID = 24
ON_A_GRID: list[tuple[Design, tuple[int, ...]]] = [
    (RelatedDesign((2, 2), ((0,), (1,)), Fraction(7, 10)), (0, 1)),
    (RelatedDesign((2, 2), ((0, 1),), Fraction(9, 20)), (1, 0)),
    (RelatedDesign((3, 2), ((0,),), Fraction(3, 5)), (0,)),
    (RelatedDesign((2, 2), ((1,),), Fraction(3, 5)), (0, 1)),
    (UnrelatedDesign((2, 2), ((0, 1),), Fraction(1, 2), (shares("1/4 3/4"), shares("1/2 1/2"))), (0, 1)),
    (UnrelatedDesign((2, 2), ((0,), (1,)), Fraction(2, 5), (shares("1/4 3/4"), shares("1/2 1/2"))), (0, 1)),
]


def test_no_distribution_of_a_grid_is_more_likely_than_the_gap_allows() -> None:
    for (design, columns), seed in few([*product(ON_A_GRID, [1, 2, 3])], 4):
        every = every_record(design.sizes)
        sent = every[np.random.default_rng(seed).integers(len(every), size=12)]
        found = most_likely(sent, columns, design, TOLERANCE)
        size = found.shares.size
        grid = [
            (*parts, GRID - sum(parts)) for parts in product(range(GRID + 1), repeat=size - 1) if sum(parts) <= GRID
        ]
        matrix = np.array(joint_transition(design, columns), dtype=np.float64)
        position = np.ravel_multi_index(tuple(sent[:, list(columns)].T.astype(int)), found.shares.shape)
        with np.errstate(divide="ignore"):
            likelihoods = np.log((np.array(grid) / GRID) @ matrix.T)[:, position].mean(axis=1)
        assert likelihoods.max() <= found.log_likelihood + TOLERANCE
        assert likelihoods.max() >= found.log_likelihood - 0.05
        nearest = np.array(grid[int(likelihoods.argmax())]) / GRID
        assert np.abs(matrix @ (nearest - found.shares.ravel())).max() < 0.05


@pytest.mark.parametrize("theta", few(["9/20", "7/10"], 2))
def test_the_likelihood_never_falls_and_the_gap_bounds_what_is_missing(theta: str) -> None:
    design = RelatedDesign((2, 2, 3), ((0,), (1,), (2,)), Fraction(theta))
    sent = random_responses(design, 60)
    rounds = [most_likely(sent, [0, 1, 2], design, tolerance=1e-13, limit=limit) for limit in range(1, 25)]
    best = most_likely(sent, [0, 1, 2], design, tolerance=1e-10)
    likelihoods = [found.log_likelihood for found in rounds]
    assert all(later >= earlier - 1e-14 for earlier, later in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0]
    assert all(found.log_likelihood + found.gap >= best.log_likelihood - 1e-12 for found in rounds)


def test_the_likelihood_stops_at_the_limit_and_plain_columns_have_their_observed_shares() -> None:
    design = RelatedDesign((2, 2, 3), ((0,), (1,), (2,)), Fraction(9, 20))
    sent = random_responses(design, 60)
    stopped = most_likely(sent, [0, 1, 2], design, limit=2)
    assert (stopped.rounds, stopped.converged) == (2, False)
    assert stopped.gap > 1e-9
    ended = most_likely(sent, [0, 1, 2], design)
    assert ended.converged
    assert 2 < ended.rounds < 10_000
    assert most_likely(sent, [0, 1, 2], design, limit=ended.rounds).converged
    assert not most_likely(sent, [0, 1, 2], design, limit=ended.rounds - 1).converged
    design = RelatedDesign((2, 2, 2), ((2,),), Fraction(3, 5))
    sent = np.array([[0, 0, 0], [1, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    assert most_likely(sent, [1, 0], design).shares == pytest.approx(np.array([[0.25, 0.5], [0, 0.25]]))
    design = RelatedDesign((2, 2), ((0,),), Fraction(7, 10))
    sent = np.array([[1, 0]] * 9 + [[0, 0]] * 11 + [[1, 1]] * 10, dtype=np.uint8)
    found = most_likely(sent, [0, 1], design, tolerance=1e-12).shares
    for label, codes in ((0, sent[:20, :1]), (1, sent[20:, :1])):
        alone = most_likely(codes, [0], WARNER, tolerance=1e-12).shares
        assert found[:, label] * len(sent) / len(codes) == pytest.approx(alone, abs=1e-6)
    design = RelatedDesign((1, 2), ((0, 1),), Fraction(7, 10))
    sent = np.hstack([np.zeros((40, 1), dtype=np.uint8), answers(18, 22)])
    alone = most_likely(answers(18, 22), [0], WARNER).shares
    assert most_likely(sent, [0, 1], design).shares == pytest.approx(alone[None])
    assert most_likely(sent, [0], design).shares == pytest.approx([1])


def test_the_standard_error_is_the_root_of_the_variance_and_the_repr_shows_size() -> None:
    for variance, error in ((Fraction(9, 4), 1.5), (Fraction(0), 0.0), (Fraction(-3), 0.0)):
        assert Estimate(1, Fraction(1), variance + 1).standard_error == error
    estimate = Estimate(2, Fraction(2), Fraction(1))
    assert estimate.population_variance == -2
    assert estimate.proportion_error == 0
    assert estimate.interval(0.9) == (1, 1)
    found = most_likely(answers(18, 22), [0], WARNER)
    assert repr(found) == f"<MostLikely 2 cells, {found.rounds} rounds>"
    assert repr(MostLikely(np.zeros((2, 3)), 0.0, 0.0, 7, converged=True)) == "<MostLikely 2x3 cells, 7 rounds>"
    for kind in ("related", "unrelated"):
        design: Design = RelatedDesign((2, 3), ((0, 1),), Fraction(1))
        if kind == "unrelated":
            design = UnrelatedDesign((2, 3), ((0, 1),), Fraction(1), (shares("1/2 1/2"), shares("0 0 1")))
        sent = np.array([[0, 0]] * 3 + [[1, 2]] * 5 + [[1, 0]] * 2, dtype=np.uint8)
        found = most_likely(sent, [1, 0], design)
        assert found.shares == pytest.approx(np.array([[0.3, 0.2], [0, 0], [0, 0.5]]))
        assert found.rounds == 1


MANY = RelatedDesign((2,) * 18, (tuple(range(11)), (11,)), Fraction(7, 10))
ZEROS = np.zeros((3, 18), dtype=np.uint8)


def test_what_cannot_be_estimated_is_refused_and_the_most_that_can_is_not() -> None:
    for codes, columns, text in (
        (ZEROS[:0], [0], "there are no records to estimate from"),
        (ZEROS, [], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [1, 1], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [18], "name one column or more, each once: columns are 0 to 17"),
        (ZEROS, [-1], "name one column or more, each once: columns are 0 to 17"),
        (
            ZEROS,
            list(range(1, 18)),
            f"the columns have more than {MAX_LIKELIHOOD_CELLS} joint cells: name fewer of them",
        ),
        (ZEROS, list(range(11)), f"columns of one group have more than {MAX_GROUP_CELLS} joint cells: name fewer"),
        (ZEROS[:, 1:], [0], "the design has 18 columns, the table 17"),
        (ZEROS + 2, [0], "the table holds a code outside the design's domains"),
    ):
        with pytest.raises(InputError) as refusal:
            most_likely(codes, columns, MANY)
        assert text in str(refusal.value)
    found = most_likely(ZEROS, [*range(11, 18), *range(9)], MANY, limit=1)
    assert found.shares.size == MAX_LIKELIHOOD_CELLS
    assert most_likely(ZEROS, range(1, 6), MANY).shares.size == 32
    for tolerance, limit in ((0.0, 1), (-1.0, 1), (1e-9, 0), (1e-9, -1), (float("nan"), 1)):
        with pytest.raises(InputError, match="the tolerance and the limit of rounds must be above 0"):
            most_likely(answers(1, 1), [0], WARNER, tolerance, limit)


def touched(expression: Expression, design: RelatedDesign) -> tuple[int, ...]:
    return tuple(k for k, group in enumerate(design.groups) if expression.columns.intersection(group))


Contribution = dict[Fraction, Fraction]
"""What one record may add to an estimate, each with its chance over the coins."""


class Enumerated:
    """All that can be sent of some records, whatever is then asked about it."""

    def __init__(self, codes: Codes, design: RelatedDesign) -> None:
        self._design, self._records = design, len(codes)
        outcomes = coin_outcomes(design)
        coins = np.array([c for c, _ in outcomes], dtype=np.uint8).reshape(len(outcomes), -1)
        every = np.tile(coins, (len(codes), 1))
        self._sent = disguise(np.repeat(codes, len(outcomes), axis=0), every, design)
        self._chances = [chance for _, chance in outcomes]

    def contributions(self, expression: Expression) -> list[Contribution]:
        """Return what each record adds to the estimate."""
        factors = record_factors(self._sent, expression, self._design)
        added = []
        for kinds in factors.kinds.reshape(self._records, -1).tolist():
            chances: Contribution = defaultdict(Fraction)
            for kind, chance in zip(kinds, self._chances, strict=True):
                chances[factors.values[kind]] += chance
            added.append(chances)
        return added

    def moments(self, expression: Expression) -> list[tuple[Fraction, Fraction]]:
        """Return the first and second moment of what each record adds, by enumeration."""
        return [
            (sum((p * f for f, p in each.items()), Fraction(0)), sum((p * f * f for f, p in each.items()), Fraction(0)))
            for each in self.contributions(expression)
        ]


ONE_GROUP = [d for d in designs() if len(d.groups) == 1]


def test_second_moments_are_the_largest_that_occur() -> None:
    """Exactly so where expressions reach every divisor of L, which they do in these designs but "dividing domains"."""
    for design in ONE_GROUP:
        largest: dict[bool, Fraction] = {True: Fraction(1), False: Fraction(0)}
        every = Enumerated(every_record(design.sizes), design)
        for expression in expressions(design.sizes):
            if touched(expression, design) and expression.columns <= set(design.groups[0]):
                for first, second in every.moments(expression):
                    largest[first == 1] = max(largest[first == 1], second)
        assert largest_moments(design, 0) == (largest[True], largest[False])


def test_no_variance_passes_its_bound_and_dead_records_have_none() -> None:
    for design in few([d for d in designs() if prod(d.orders) <= 12], 3):
        records = every_record(design.sizes)[::3]
        every, patterns = Enumerated(records, design), Patterns(records, design)
        for expression in expressions(design.sizes):
            bound = variance_bound(design, touched(expression, design))
            for (first, second), lives in zip(every.moments(expression), patterns.lives(expression), strict=True):
                variance = second - first**2
                assert float(variance) <= bound * (1 + 1e-12)
                if not lives:
                    assert variance == 0


class Patterns:
    """Some records under all coins that there are, possible or not."""

    def __init__(self, codes: Codes, design: RelatedDesign) -> None:
        coins = pattern_coins(design)
        self._shape = len(coins), len(codes)
        self._every = disguise(np.tile(codes, (len(coins), 1)), np.repeat(coins, len(codes), axis=0), design)

    def lives(self, expression: Expression) -> list[bool]:
        """Tell which records satisfy the expression under some coins."""
        lives: list[bool] = np.logical_or.reduce(expression.satisfied_by(self._every).reshape(self._shape)).tolist()
        return lives

    def live(self, expression: Expression) -> int:
        """Count them."""
        return sum(self.lives(expression))


def test_the_worst_record_reaches_the_bound() -> None:
    """Binary groups at theta = 3/4 and 1/4: every number is a short binary fraction, so nothing is rounded."""
    for groups, theta in product([1, 2, 3], [Fraction(1, 4), Fraction(3, 4)]):
        design = RelatedDesign((2,) * groups, tuple((c,) for c in range(groups)), theta)
        expression = Expression(tuple(Term(c, 0) for c in range(groups)))
        pairs = Enumerated(every_record(design.sizes), design).moments(expression)
        assert variance_bound(design, tuple(range(groups))) == max(second - first**2 for first, second in pairs)


SMALL = [d for d in designs() if 2 <= prod(d.orders) <= 8 and d.theta not in (0, 1)]


def test_over_all_coins_the_error_passes_its_bound_no_more_often_than_stated() -> None:
    for design in few(SMALL, 3):
        codes = every_record(design.sizes)[[0, -1]]
        every, patterns = Enumerated(codes, design), Patterns(codes, design)
        for expression in expressions(design.sizes):
            if not touched(expression, design):
                continue
            truth, alive = true_count(codes, expression), patterns.live(expression)
            errors: dict[Fraction, Fraction] = defaultdict(Fraction)
            for each in product(*(added.items() for added in every.contributions(expression))):
                errors[abs(sum((f for f, _ in each), Fraction(0)) - truth)] += prod(
                    (p for _, p in each), start=Fraction(1)
                )
            for alarm in (0.0, 0.5, 1.0, 2.0, 4.0):
                bound = error_bound(design, touched(expression, design), alive, alarm)
                slack = 1e-9 * (1 + bound)
                assert float(sum(p for error, p in errors.items() if error > bound + slack)) <= exp(-alarm)


def test_for_one_binary_group_the_exact_tail_stays_below_the_stated_chance() -> None:
    """The number of sent records that satisfy E is binomial: `N* = k/D - n q/D`, so the tail is known exactly."""
    for theta in [Fraction(9, 20), Fraction(3, 5), Fraction(9, 10), Fraction(1, 10)]:
        for records in [1, 10, 1000, 30_000]:
            for satisfied in [True, False]:
                design = RelatedDesign((2,), ((0,),), theta)
                hit = theta if satisfied else 1 - theta
                for alarm in (0.1, 1.0, 5.0, 20.0, 40.0):
                    bound = error_bound(design, (0,), records, alarm) * abs(float(2 * theta - 1))
                    mean = float(records * hit)
                    outside = 0.0
                    if mean + bound < records:
                        outside += upper_tail(records, hit, int(mean + bound) + 1)
                    if mean - bound > 0:
                        outside += lower_tail(records, hit, -int(-(mean - bound) // 1) - 1)
                    assert outside <= exp(-alarm)


def test_bounds_hold_at_once_on_a_large_table_and_where_nothing_can_err_they_are_nothing() -> None:
    design = RelatedDesign((2, 2), ((0,),), Fraction(9, 20))
    assert variance_bound(design, ()) == 0
    assert error_bound(design, (), 100, 5.0) == 0
    for design in designs()[:10]:
        assert error_bound(design, (0,), 0, 20.0) == 0
    # At a thousand records it is within a factor of the normal quantile, so it does catch what it should.
    design = RelatedDesign((2,), ((0,),), Fraction(9, 20))
    deviation = sqrt(1000 * float(Fraction(9, 20) * Fraction(11, 20)) * 100)
    assert 5 * deviation < error_bound(design, (0,), 1000, -log(1e-6)) < 7 * deviation
    # Every expression of up to three columns, alarm `ln(10^8 * expressions)`: a false alarm in one of 10^8 tables.
    sizes = (2, 2, 3, 2)
    design = RelatedDesign(sizes, ((0, 1), (2,), (3,)), Fraction(9, 20))
    codes = correlated(sizes, 2000, seed=3)
    coins = design.coins(keyed_draw(bytes(32), "tail", [str(i) for i in range(len(codes))]))
    copy = disguise(codes, coins, design)
    patterns = Patterns(codes, design)
    asked = [e for e in expressions(sizes) if 1 <= len(e.terms) <= 3]
    alarm = log(1e8 * len(asked))
    worst = 0.0
    for expression in asked:
        bound = error_bound(design, touched(expression, design), patterns.live(expression), alarm)
        error = abs(float(estimate_count(copy, expression, design).count) - true_count(codes, expression))
        assert error <= bound
        worst = max(worst, error / bound)
    assert worst > 0.1
