"""Several samples as one estimate, and answers at random taken out: exact over all outcomes of small cases.

Crosswise, triangular and forced questions: published formulas, and what cannot be asked.

That their estimates, variances, moments, transitions and likelihoods are exact, every outcome enumerated, is tested
with those of all designs (`tests/support/questions.py`).
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import comb, lcm, prod, sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.privacy.loss import attribute_loss, known_answers_loss
from protocols.privacy.single_entry import given_away
from protocols.randomized_response.combined import CombinedEstimate, combined, poststratified, weighted_share
from protocols.randomized_response.crosswise import CrosswiseDesign, ForcedDesign, TriangularDesign
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Estimate, estimate_count
from protocols.randomized_response.mixed import MixedDesign
from protocols.randomized_response.random_answers import corrected_share, random_factor, random_share
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Codes, Expression, Term
from tests.support.enumeration import responses
from tests.support.examples import few
from tests.support.questions import DIE, QUESTIONS, crosswise, mixed, triangular
from tests.support.surveys import SIZES, designs, every_survey, unrelated

HALF = Fraction(1, 2)
YES = Expression().child(0, 1)
WEAK = RelatedDesign((2,), ((0,),), Fraction(11, 20))
STRONG = RelatedDesign((2,), ((0,),), Fraction(9, 10))
UNRELATED = UnrelatedDesign((2,), ((0,),), HALF, ((HALF, HALF),))
DIRECT = RelatedDesign((2,), (), Fraction(1))
PAIRS = [
    (WEAK, STRONG),
    (STRONG, UNRELATED),
    (crosswise((2,), [0], "1/6"), triangular((2,), [0], "1/4")),
    (DIRECT, WEAK),
]
NAMES = ["two thetas", "two kinds", "statements", "one asked directly"]

Outcome = tuple[Fraction, CombinedEstimate]


def chance(design: Design, truth: int, response: int) -> Fraction:
    if not design.groups:
        return Fraction(truth == response)
    return design.transition(0, (0,))[response][truth]


def outcomes(designs: tuple[Design, Design], truths: list[tuple[int, ...]]) -> Iterator[Outcome]:
    """Yield all that the coins can make of two samples of these true records."""
    for said_by_each in product(*(product(range(2), repeat=len(truth)) for truth in truths)):
        each = [
            chance(design, true, said)
            for design, truth, sample in zip(designs, truths, said_by_each, strict=True)
            for true, said in zip(truth, sample, strict=True)
        ]
        tables = [np.array(sample, dtype=np.uint8)[:, None] for sample in said_by_each]
        samples = [estimate_count(table, YES, design) for table, design in zip(tables, designs, strict=True)]
        yield prod(each, start=Fraction(1)), combined(samples, designs, [YES, YES])


def test_of_samples_of_one_design_count_and_share_are_those_of_all_records_over_all_coins() -> None:
    records_of: list[list[tuple[int, ...]]] = [[(0, 0), (0, 0)], [(1, 0), (1, 1, 1)], [(1, 1, 0), (0, 0)]]
    for design, truths in product([WEAK, STRONG, UNRELATED, DIRECT], records_of):
        every = list(outcomes((design, design), truths))
        truth, records = sum(map(sum, truths)), sum(map(len, truths))
        assert sum(p * found.count for p, found in every) == truth
        assert sum(p * found.proportion for p, found in every) == Fraction(truth, records)
        spread = sum(p * (found.count - truth) ** 2 for p, found in every)
        assert sum(p * sum(sample.variance for sample in found.samples) for p, found in every) == spread
        assert all(found.weights == tuple(Fraction(len(each), records) for each in truths) for _, found in every)


def of_population(theta: Fraction, records: int, share: Fraction) -> Iterator[tuple[Fraction, Estimate]]:
    """Yield each estimate that this many respondents of a population can give, with its chance: a binomial."""
    yes, contrast = theta * share + (1 - theta) * (1 - share), 2 * theta - 1
    for said in range(records + 1):
        chance = comb(records, said) * yes**said * (1 - yes) ** (records - said)
        true, lie = theta / contrast, (theta - 1) / contrast
        counted, squares = (said * true**k + (records - said) * lie**k for k in (1, 2))
        yield chance, Estimate(records, counted, squares)


FILES = [  # theta and records of each
    ((Fraction(1), 50), (Fraction(3, 4), 50)),
    ((Fraction(9, 10), 30), (Fraction(3, 5), 60)),
    ((Fraction(4, 5), 20), (Fraction(2, 3), 60)),
    ((Fraction(2, 3), 40), (Fraction(2, 3), 20)),
    ((Fraction(1), 40), (Fraction(1), 20)),
]


def test_over_all_samples_two_files_are_never_further_from_the_truth_than_the_better_one() -> None:
    """Exactly, over every number of answers: the mean squared error, and what weights lose that follow from them."""
    shares = [Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)]
    for (first, second), share in few([*product(FILES, shares)], 8):
        own = []
        for theta, records in (first, second):
            yes, contrast = theta * share + (1 - theta) * (1 - share), 2 * theta - 1
            own.append(yes * (1 - yes) / contrast**2 / records)
        mean = square = told = Fraction(0)
        for (p, one), (q, other) in product(of_population(*first, share), of_population(*second, share)):
            found = CombinedEstimate((one, other), (first[0], second[0]))
            mean += p * q * found.proportion
            square += p * q * (found.proportion - share) ** 2
            told += p * q * found.proportion_variance
        assert square < min(own)
        assert (mean - share) ** 2 < square / 50
        assert square * Fraction(17, 20) < told <= square


def test_a_sample_that_says_little_counts_for_little() -> None:
    # 60 of 200 say yes: squares about the mean are `200 * 0.3 * 0.7` over the contrast squared, and one is added.
    table = np.array([[1]] * 60 + [[0]] * 140, dtype=np.uint8)
    samples = [estimate_count(table, YES, design) for design in (WEAK, STRONG)]
    found = combined(samples, [WEAK, STRONG], [YES, YES])
    weak, strong = (1 + 42 / contrast**2 for contrast in (Fraction(1, 10), Fraction(4, 5)))
    assert found.weights == (strong / (weak + strong), weak / (weak + strong))
    assert found.proportion_error < min(sample.proportion_error for sample in samples)
    assert found.count == 400 * found.proportion
    nobody, some = (np.array([[1]] * yes + [[0]] * (30 - yes), dtype=np.uint8) for yes in (0, 12))
    samples = [estimate_count(nobody, YES, DIRECT), estimate_count(some, YES, STRONG)]
    assert combined(samples, [DIRECT, STRONG], [YES, YES]).proportion > 0
    tables = [np.array([[1]] * yes + [[0]] * (100 - yes), dtype=np.uint8) for yes in (20, 80)]
    samples = [estimate_count(table, YES, DIRECT) for table in tables]
    assert combined(samples, [DIRECT, DIRECT], [YES, YES]).deviation > 50
    assert combined(samples[:1] * 2, [DIRECT, DIRECT], [YES, YES]).deviation == 0
    one = estimate_count(np.zeros((1, 1), dtype=np.uint8), YES, DIRECT)
    with pytest.raises(InputError, match="fewer than 2"):
        combined([one], [DIRECT], [YES])
    with pytest.raises(InputError, match="there must be one"):
        CombinedEstimate((), ())


CODES = np.array([[0, 1, 0, 1], [1, 3, 1, 1], [1, 0, 0, 0]], dtype=np.uint8)
WEIGHTS = [Fraction(1, 2), Fraction(5), Fraction(0)]
EXPRESSION = Expression().child(0, 1).child(3, 1)
SMALL = {"related": RelatedDesign((2, 3), ((0,),), Fraction(3, 4)), "unrelated": unrelated((2, 3), ((0, 1),))}


@pytest.mark.parametrize("design", SMALL.values(), ids=SMALL)
def test_over_all_coins_the_expected_share_is_the_weighted_truth(design: RelatedDesign) -> None:
    codes, asked = CODES[:, :2].clip(max=2), Expression().child(0, 1)
    shares = [
        (weighted_share(s.codes, asked, design, WEIGHTS).share, chance) for s, chance in every_survey(design, codes)
    ]
    assert sum(share * chance for share, chance in shares) == Fraction(5) / Fraction(11, 2)


CONTROL = (Term(1, 0),)


def said_by_one(design: Design, at_random: Fraction, share: Fraction) -> dict[tuple[int, ...], Fraction]:
    """Return the chances of one respondent's answers: `share` have the first statement, nobody the control."""
    chances = dict.fromkeys(product((0, 1), repeat=2), at_random / 4)
    for truth, own in (((1, 0), share), ((0, 0), 1 - share)):
        for response, chance in responses(truth, design).items():
            chances[response] += (1 - at_random) * own * chance
    return chances


@pytest.mark.parametrize("design", [crosswise((2, 2), [0, 1], "1/6"), triangular((2, 2), [0, 1], "1/4")], ids=repr)
def test_over_all_answers_of_two_respondents_the_share_at_random_and_its_variance_are_unbiased(design: Design) -> None:
    at_random = Fraction(1, 5)
    one = said_by_one(design, at_random, Fraction(1, 3))
    mean = square = variance = Fraction(0)
    for outcome in product(one.items(), repeat=2):
        found = random_share(np.array([answer for answer, _ in outcome], dtype=np.uint8), design, CONTROL)
        chance = prod((chance for _, chance in outcome), start=Fraction(1))
        mean += chance * found.share
        square += chance * found.share**2
        variance += chance * found.variance
    assert mean == at_random
    assert variance == square - mean**2


@pytest.mark.parametrize("design", [crosswise((2, 2), [0, 1], "1/6"), triangular((2, 2), [0, 1], "1/4")], ids=repr)
def test_answers_in_the_expected_numbers_are_corrected_exactly(design: Design) -> None:
    one = said_by_one(design, Fraction(1, 5), Fraction(1, 3))
    scale = lcm(*(chance.denominator for chance in one.values()))
    codes = np.array([cell for cell, chance in one.items() for _ in range(int(chance * scale))], dtype=np.uint8)
    assert len(codes) == scale
    assert random_share(codes, design, CONTROL).share == Fraction(1, 5)
    assert corrected_share(codes, YES, design, CONTROL).share == Fraction(1, 3)


def test_it_is_the_correction_of_atsusaka_and_stevenson_with_the_error_of_repeated_surveys() -> None:
    """`pi - (1/2 - 1/(2 gamma)) (lambda - 1/2)/(p - 1/2)`, `gamma = (lambda' - 1/2)/(1/2 - p')`."""
    design, p = crosswise((2, 2), [0, 1], "3/20"), Fraction(3, 20)
    counts = {(1, 1): 60, (1, 0): 110, (0, 1): 330, (0, 0): 100}
    codes = np.array([cell for cell, times in counts.items() for _ in range(times)], dtype=np.uint8)
    share, anchor = Fraction(170, 600), Fraction(390, 600)
    attentive = (anchor - HALF) / (HALF - p)
    naive = (share + p - 1) / (2 * p - 1)
    expected = naive - (HALF - 1 / (2 * attentive)) * (share - HALF) / (p - HALF)
    assert random_share(codes, design, CONTROL).share == 1 - attentive
    assert corrected_share(codes, YES, design, CONTROL).share == expected
    # Of 200 surveys the errors' mean square is within six standard errors of such a spread.
    design, generator = crosswise((2, 2), [0, 1], "1/6"), np.random.default_rng(7)
    one = said_by_one(design, Fraction(1, 5), Fraction(1, 3))
    cells = np.array(list(one), dtype=np.uint8)
    shares, variances = [], []
    for _ in range(200):
        codes = cells[generator.choice(4, 1000, p=[float(chance) for chance in one.values()])]
        found = corrected_share(codes, YES, design, CONTROL)
        shares.append(float(found.share))
        variances.append(float(found.variance))
    assert np.var(shares) == pytest.approx(np.mean(variances), rel=0.6)
    assert np.mean(shares) == pytest.approx(1 / 3, abs=6 * np.sqrt(np.mean(variances) / 200))


def test_equal_weights_have_the_shares_of_the_population_and_plain_columns_are_no_question_of_chance() -> None:
    for name in ("related, two groups", "unrelated, three groups"):
        design = designs()[name]
        codes = np.random.default_rng(1).integers(0, SIZES, (50, 4)).astype(np.uint8)
        found, usual = (
            weighted_share(codes, EXPRESSION, design, [Fraction(3)] * 50),
            estimate_count(codes, EXPRESSION, design),
        )
        assert found.share == usual.proportion
        assert found.standard_error == pytest.approx(usual.proportion_error * sqrt(49 / 50))
    codes = np.array([[0], [0], [0], [1]], dtype=np.uint8)
    weights = poststratified(codes, 0, [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    assert weights == [Fraction(1, 6)] * 3 + [Fraction(1, 2)]
    codes = np.array([[0], [0]], dtype=np.uint8)
    with pytest.raises(InputError, match="nobody stands for"):
        poststratified(codes, 0, [Fraction(1, 2), Fraction(1, 2)])
    with pytest.raises(InputError, match="an answer of everybody"):
        poststratified(np.array([[0], [255]], dtype=np.uint8), 0, [Fraction(1), Fraction(0)])
    design = RelatedDesign((2,), ((0,),), Fraction(3, 4))
    for weights in ([Fraction(1)], [Fraction(0), Fraction(0)], [Fraction(-1), Fraction(2)]):
        with pytest.raises(InputError, match="weights must be"):
            weighted_share(codes, Expression().child(0, 1), design, weights)
    design = mixed()
    assert random_factor(design, Expression().child(3, 1)) == 1
    assert random_factor(design, Expression().child(4, 1)) == HALF


def test_what_cannot_be_corrected_is_refused() -> None:
    design = triangular((2, 2), [0, 1], "1/2")
    codes = np.zeros((4, 2), dtype=np.uint8)
    with pytest.raises(InputError, match="look like true ones"):
        random_share(codes, design, CONTROL)
    with pytest.raises(InputError, match="there is no control item"):
        random_share(codes, design, ())
    with pytest.raises(InputError, match="has a known answer"):
        corrected_share(codes, Expression(CONTROL), design, CONTROL)
    with pytest.raises(InputError, match="all seem to answer at random"):
        corrected_share(np.array([[0, 1], [0, 1]], dtype=np.uint8), YES, crosswise((2, 2), [0, 1], "4/5"), CONTROL)


def said(yes: int, no: int) -> Codes:
    return np.array([[1]] * yes + [[0]] * no, dtype=np.uint8)


def test_share_and_variance_are_those_of_yu_tian_and_tang() -> None:
    """`(lambda + p - 1)/(2p - 1)` and `1 - (1 - lambda)/(1 - p)`, with the variance of `lambda` over its square."""
    for prevalence, (yes, no) in product(["1/6", "1/4", "4/5"], [(30, 70), (71, 29), (1, 1)]):
        p, n = Fraction(prevalence), yes + no
        share = Fraction(yes, n)
        spread = share * (1 - share) / (n - 1)
        found = estimate_count(said(yes, no), YES, crosswise((2,), [0], prevalence))
        assert found.proportion == (share + p - 1) / (2 * p - 1)
        assert found.population_variance / n**2 == spread / (2 * p - 1) ** 2
        found = estimate_count(said(yes, no), YES, triangular((2,), [0], prevalence))
        assert found.proportion == 1 - (1 - share) / (1 - p)
        assert found.population_variance / n**2 == spread / (1 - p) ** 2


def test_a_die_that_forces_answers_is_undone_and_the_crosswise_question_has_warners_matrix() -> None:
    """Of 2/3 truths, 1/6 forced yes: `(lambda - 1/6)/(2/3)`."""
    design = ForcedDesign((2,), ((0,),), Fraction(2, 3), (DIE,))
    assert estimate_count(said(40, 60), YES, design).proportion == (Fraction(4, 10) - Fraction(1, 6)) / Fraction(2, 3)
    p = Fraction(1, 6)
    assert crosswise((2,), [0], "1/6").transition(0, (0,)) == RelatedDesign((2,), ((0,),), p).transition(0, (0,))
    assert triangular((2,), [0], "1/6").transition(0, (0,)) == ((1 - p, Fraction(0)), (p, Fraction(1)))


@pytest.mark.parametrize("make", [crosswise, triangular])
def test_a_respondent_who_knows_the_harmless_statement_answers_by_it(make: type) -> None:
    design: Design = make((2, 2), [1], "1/4")
    truths = np.array([[0, 0], [0, 1], [0, 0], [0, 1]], dtype=np.uint8)
    harmless = np.array([[0, 0], [0, 0], [0, 1], [0, 1]], dtype=np.uint8)
    sent = design.randomize(truths, bulk_draw(np.random.default_rng(0), 4), harmless)
    assert sent[:, 1].tolist() == ([1, 0, 0, 1] if make is crosswise else [0, 1, 1, 1])
    assert sent[:, 0].tolist() == [0, 0, 0, 0]


def test_who_knows_the_harmless_statement_answers_by_it_and_what_is_no_question_is_refused() -> None:
    half = ((Fraction(1, 2), Fraction(1, 2)),)
    assert given_away(crosswise((2,), [0], "1/6"), 0, half) == 1
    assert given_away(triangular((2,), [0], "1/6"), 0, half) == Fraction(5, 6)
    assert given_away(QUESTIONS["forced by a die"], 0, half) is None
    independent = unrelated((2, 2), ((0, 1),))
    known = replace(independent, joint=((Fraction(1, 2), Fraction(0), Fraction(0), Fraction(1, 2)),))
    skewed = ((Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 3), Fraction(2, 3)))
    assert given_away(independent, 0, skewed) == Fraction(1, 2) * (1 - Fraction(1, 4))
    assert given_away(known, 0, skewed) == Fraction(1, 2) * (1 - (Fraction(1, 24) + Fraction(1, 4)))
    assert known_answers_loss(crosswise((2,), [0], "1/6"), 0) == float("inf")
    assert known_answers_loss(QUESTIONS["forced by a die"], 0) is None
    assert attribute_loss(triangular((2,), [0], "1/6"), 0) == float("inf")
    with pytest.raises(InputError, match="true of half of all makes every answer carry nothing"):
        crosswise((2,), [0], "1/2")
    with pytest.raises(InputError, match="a group of its own: name one column"):
        CrosswiseDesign((2, 2), ((0, 1),), Fraction(1, 6))
    with pytest.raises(InputError, match="its column has two values, in this order"):
        triangular((3,), [0], "1/6")
    with pytest.raises(InputError, match="answers true where its harmless statement is"):
        TriangularDesign((2,), ((0,),), Fraction(1, 6), (DIE,))
    with pytest.raises(InputError, match="no personal answers"):
        ForcedDesign((2,), ((0,),), Fraction(2, 3), (DIE,)).randomize(
            said(1, 0), bulk_draw(np.random.default_rng(0), 1), said(1, 0)
        )


def test_groups_of_a_mixed_design_are_apart() -> None:
    design = mixed()
    with pytest.raises(InputError, match="one part per group, in their order"):
        MixedDesign(design.sizes, design.groups, design.parts[::-1])
    with pytest.raises(InputError, match="all parts of a mixed design are for the same columns"):
        MixedDesign(design.sizes, design.groups, (*design.parts[:3], triangular((*design.sizes, 2), [5], "1/4")))
    sizes = (2, 2)
    design = MixedDesign.of(sizes, [crosswise(sizes, [0], "1/4"), crosswise(sizes, [1], "1/4")])
    sent = design.randomize(np.zeros((400, 2), dtype=np.uint8), bulk_draw(np.random.default_rng(1), 400))
    assert (sent[:, 0] != sent[:, 1]).any()
