"""Random answers: their share is unbiased over all outcomes, and what is corrected is the share of the rest."""

from fractions import Fraction
from itertools import product
from math import lcm, prod

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.random_answers import corrected_share, random_factor, random_share
from protocols.tables import Expression, Term
from tests.support.enumeration import responses
from tests.support.questions import crosswise, mixed, triangular

CONTROL = (Term(1, 0),)
YES = Expression().child(0, 1)
HALF = Fraction(1, 2)


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


def test_it_is_the_correction_of_atsusaka_and_stevenson() -> None:
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


def test_the_error_of_a_corrected_share_is_that_of_repeated_surveys() -> None:
    """Of 400 surveys the errors' mean square is within a quarter: six standard errors of such a spread."""
    design, generator = crosswise((2, 2), [0, 1], "1/6"), np.random.default_rng(7)
    one = said_by_one(design, Fraction(1, 5), Fraction(1, 3))
    cells = np.array(list(one), dtype=np.uint8)
    shares, variances = [], []
    for _ in range(400):
        codes = cells[generator.choice(4, 1000, p=[float(chance) for chance in one.values()])]
        found = corrected_share(codes, YES, design, CONTROL)
        shares.append(float(found.share))
        variances.append(float(found.variance))
    assert np.var(shares) == pytest.approx(np.mean(variances), rel=0.43)
    assert np.mean(shares) == pytest.approx(1 / 3, abs=6 * np.sqrt(np.mean(variances) / 400))


def test_plain_columns_are_no_question_that_could_be_answered_at_random() -> None:
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
