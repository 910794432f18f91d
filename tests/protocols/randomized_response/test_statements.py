"""Crosswise, triangular and forced questions: published formulas, and what cannot be asked.

That their estimates, variances, moments, transitions and likelihoods are exact, every outcome enumerated, is tested
with those of all designs (`tests/support/questions.py`).
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.privacy.loss import attribute_loss, known_answers_loss
from protocols.privacy.single_entry import given_away
from protocols.randomized_response.crosswise import CrosswiseDesign, ForcedDesign, TriangularDesign
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.mixed import MixedDesign
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.two_party import bulk_draw
from protocols.tables import Codes, Expression
from tests.support.questions import DIE, QUESTIONS, crosswise, mixed, triangular
from tests.support.surveys import unrelated

YES = Expression().child(0, 1)


def said(yes: int, no: int) -> Codes:
    return np.array([[1]] * yes + [[0]] * no, dtype=np.uint8)


@pytest.mark.parametrize("prevalence", ["1/6", "1/4", "4/5"])
@pytest.mark.parametrize(("yes", "no"), [(30, 70), (71, 29), (1, 1)])
def test_share_and_variance_are_those_of_yu_tian_and_tang(prevalence: str, yes: int, no: int) -> None:
    """`(lambda + p - 1)/(2p - 1)` and `1 - (1 - lambda)/(1 - p)`, with the variance of `lambda` over its square."""
    p, n = Fraction(prevalence), yes + no
    share = Fraction(yes, n)
    spread = share * (1 - share) / (n - 1)
    found = estimate_count(said(yes, no), YES, crosswise((2,), [0], prevalence))
    assert found.proportion == (share + p - 1) / (2 * p - 1)
    assert found.population_variance / n**2 == spread / (2 * p - 1) ** 2
    found = estimate_count(said(yes, no), YES, triangular((2,), [0], prevalence))
    assert found.proportion == 1 - (1 - share) / (1 - p)
    assert found.population_variance / n**2 == spread / (1 - p) ** 2


def test_a_die_that_forces_a_third_of_all_answers_is_undone() -> None:
    """Of 2/3 truths, 1/6 forced yes: `(lambda - 1/6)/(2/3)`."""
    design = ForcedDesign((2,), ((0,),), Fraction(2, 3), (DIE,))
    assert estimate_count(said(40, 60), YES, design).proportion == (Fraction(4, 10) - Fraction(1, 6)) / Fraction(2, 3)


def test_the_crosswise_question_has_warners_matrix_and_the_triangular_one_a_certain_yes() -> None:
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


def test_who_knows_the_harmless_statement_knows_the_answer() -> None:
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


def test_what_is_no_question_of_its_kind_is_refused() -> None:
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
