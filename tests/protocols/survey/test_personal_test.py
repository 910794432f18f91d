"""The bit by which respondents test a model on personal answers: exact over all outcomes."""

from fractions import Fraction
from itertools import product
from math import inf, log, prod, sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.survey.mining import Accuracy
from protocols.survey.personal_test import BitDesign, accuracy_by_bits, personal_accuracy, personal_share
from protocols.survey.responses import Responses, survey_schema

YES_NO = ("yes", "no")
SCHEMA = survey_schema(("smokes", "coughs"), (YES_NO, YES_NO))
HALF = Fraction(1, 2)
DESIGN = UnrelatedDesign((2, 2), ((0, 1),), Fraction(2, 3), ((HALF, HALF), (HALF, HALF)))
COPYING = Tree(SCHEMA, Split((2.0, 2.0), 0, (Leaf((2.0, 0.0), 0), Leaf((0.0, 2.0), 1))))


def right(record: tuple[int, int]) -> int:
    return int(record[0] == record[1])


@pytest.mark.parametrize("truth", ["1", "3/4", "501/1000"])
@pytest.mark.parametrize("found", [(0, 0), (1, 0), (1, 1, 1), (0, 1, 0, 1)])
def test_over_all_coins_the_personal_share_is_the_truth(truth: str, found: tuple[int, ...]) -> None:
    design, mean = BitDesign(Fraction(truth)), Fraction(0)
    for coins in product(range(len(design.coin)), repeat=len(found)):
        chance = prod((design.coin[coin] for coin in coins), start=Fraction(1))
        said = sum(bit if coin == 0 else 1 - bit for bit, coin in zip(found, coins, strict=True))
        mean += chance * personal_share(said, len(found), design)
    assert mean == Fraction(sum(found), len(found))


@pytest.mark.parametrize("truth", ["1", "3/4"])
def test_over_all_samples_and_coins_the_squared_error_is_the_variance(truth: str) -> None:
    """Four respondents of a population of whom 3/10 have records that the model is right about."""
    design, share = BitDesign(Fraction(truth)), Fraction(3, 10)
    says = share * design.truth + (1 - share) * (1 - design.truth)
    spread = told = Fraction(0)
    for said in range(5):
        chance = Fraction([1, 4, 6, 4, 1][said]) * says**said * (1 - says) ** (4 - said)
        spread += chance * (personal_share(said, 4, design) - share) ** 2
        told += chance * Fraction(personal_accuracy(said, 4, design).standard_error ** 2)
    assert float(told) == pytest.approx(float(spread), rel=1e-9)


def test_a_published_model_s_accuracy_is_the_papers_formula() -> None:
    """Of 6 responses 4 are right: `(4/6 - 1/3 * 1/2)/(2/3) = 3/4`."""
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1], [1, 0]], dtype=np.uint8)
    personal = Accuracy(0.5, 0.06, 100)
    found = accuracy_by_bits(COPYING, Responses(SCHEMA, codes, DESIGN), personal)
    assert found.share == pytest.approx(0.75)
    own = sqrt(4 / 6 * 2 / 6 / 5)
    assert found.standard_error == pytest.approx(sqrt(own**2 + 0.02**2) / (2 / 3))


TRUE = {(0, 0): Fraction(1, 2), (0, 1): Fraction(1, 4), (1, 1): Fraction(1, 4)}
"""Private records: the model is right about 3/4."""
PERSONAL = {(0, 0): Fraction(1, 2), (1, 0): Fraction(1, 2)}
"""Personal records, whose columns are *not* independent of each other, as no declared product says."""


def test_over_all_outcomes_of_two_people_the_accuracy_is_the_private_one_and_its_error_no_less_than_it_is() -> None:
    """Everybody answers and returns a bit: what both share only makes the estimate better than it says."""
    people = [
        (chance * other * coin * bit, response, right(personal) if true_bit else 1 - right(personal))
        for private, chance in TRUE.items()
        for personal, other in PERSONAL.items()
        for response, coin in ((private, DESIGN.theta), (personal, 1 - DESIGN.theta))
        for true_bit, bit in ((True, Fraction(3, 4)), (False, Fraction(1, 4)))
    ]
    design, mean, square, told = BitDesign(Fraction(3, 4)), 0.0, 0.0, 0.0
    for pair in product(people, repeat=2):
        chance = float(pair[0][0] * pair[1][0])
        codes = np.array([response for _, response, _ in pair], dtype=np.uint8)
        personal = personal_accuracy(sum(bit for *_, bit in pair), 2, design)
        found = accuracy_by_bits(COPYING, Responses(SCHEMA, codes, DESIGN), personal)
        mean, square = mean + chance * found.share, square + chance * found.share**2
        told += chance * found.standard_error**2
    assert mean == pytest.approx(0.75)
    shared = 2 * (1 / 3) * (1 / 3) * float(HALF * HALF) / 2 / (2 / 3) ** 2
    assert told - (square - mean**2) == pytest.approx(shared)


def test_a_bit_of_one_respondent_has_no_error() -> None:
    assert personal_accuracy(1, 1, BitDesign(Fraction(1))) == Accuracy(1.0, inf, 1)
    with pytest.raises(InputError, match="nobody"):
        personal_accuracy(0, 0, BitDesign(Fraction(1)))
    one = Responses(SCHEMA, np.zeros((1, 2), dtype=np.uint8), DESIGN)
    assert accuracy_by_bits(COPYING, one, Accuracy(0.5, 0.1, 9)).standard_error == inf
    for truth in ("1/2", "1/4", "0", "3/2", "500000001/1000000001"):
        with pytest.raises(InputError, match="above 1/2"):
            BitDesign(Fraction(truth))
    assert BitDesign(Fraction(3, 4)).loss == pytest.approx(log(3))
    assert BitDesign(Fraction(1)).loss == inf


@pytest.mark.parametrize(
    "design",
    [
        RelatedDesign((2, 2), ((0, 1),), Fraction(2, 3)),
        UnrelatedDesign((2, 2), ((0,), (1,)), Fraction(2, 3), ((HALF, HALF), (HALF, HALF))),
        UnrelatedDesign((2, 2), ((1,),), Fraction(2, 3), ((), (HALF, HALF))),
    ],
    ids=["related", "two coins", "a plain column"],
)
def test_what_is_not_one_group_of_unrelated_questions_is_refused(design: RelatedDesign | UnrelatedDesign) -> None:
    survey = Responses(SCHEMA, np.zeros((3, 2), dtype=np.uint8), design)
    with pytest.raises(InputError, match="one group of unrelated questions"):
        accuracy_by_bits(COPYING, survey, Accuracy(0.5, 0.1, 9))
