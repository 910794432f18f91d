"""Weighted shares are unbiased over the coins, exactly, and equal the usual estimate where weights are equal."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.weighted import poststratified, weighted_share
from protocols.tables.expression import Expression
from tests.support.surveys import SIZES, designs, every_survey, unrelated

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


@pytest.mark.parametrize("name", ["related, two groups", "unrelated, three groups"])
def test_equal_weights_give_the_usual_estimate(name: str) -> None:
    design = designs()[name]
    codes = np.random.default_rng(1).integers(0, SIZES, (50, 4)).astype(np.uint8)
    found, usual = (
        weighted_share(codes, EXPRESSION, design, [Fraction(3)] * 50),
        estimate_count(codes, EXPRESSION, design),
    )
    assert found.share == usual.proportion
    assert found.standard_error == pytest.approx(usual.proportion_error * sqrt(49 / 50))


def test_poststratified_records_have_the_shares_of_the_population() -> None:
    codes = np.array([[0], [0], [0], [1]], dtype=np.uint8)
    weights = poststratified(codes, 0, [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
    assert weights == [Fraction(1, 6)] * 3 + [Fraction(1, 2)]


def test_what_cannot_be_weighted_is_refused() -> None:
    codes = np.array([[0], [0]], dtype=np.uint8)
    with pytest.raises(InputError, match="nobody stands for"):
        poststratified(codes, 0, [Fraction(1, 2), Fraction(1, 2)])
    with pytest.raises(InputError, match="an answer of everybody"):
        poststratified(np.array([[0], [255]], dtype=np.uint8), 0, [Fraction(1), Fraction(0)])
    design = RelatedDesign((2,), ((0,),), Fraction(3, 4))
    for weights in ([Fraction(1)], [Fraction(0), Fraction(0)], [Fraction(-1), Fraction(2)]):
        with pytest.raises(InputError, match="weights must be"):
            weighted_share(codes, Expression().child(0, 1), design, weights)
