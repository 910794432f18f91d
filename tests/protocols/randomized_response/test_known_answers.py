"""Estimates of one yes-or-no column against published and hand-made figures."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.randomized_response.crosswise import ForcedDesign
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.random_answers import corrected_share, random_share
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import Expression, Term
from tests.support.questions import crosswise

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


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: f"{case['kind']} {case['yes']}")
def test_an_estimate_is_the_published_one(case: dict[str, Any]) -> None:
    answers = np.zeros((case["records"], 1), dtype=np.uint8)
    answers[: case["yes"]] = 1
    estimate = estimate_count(answers, YES, design_of(case))
    assert float(estimate.proportion) == pytest.approx(case["share"], abs=5e-5 if case["error"] else 5e-8)
    if case["error"] is not None:
        assert estimate.proportion_error == pytest.approx(case["error"], abs=5e-5)


def test_the_share_that_answers_at_random_and_what_is_left_are_the_published_ones() -> None:
    told = VECTORS["random_answers"]
    design = crosswise((2, 2), [0, 1], told["prevalence"])
    rows = [[each["question"], each["anchor"]] for each in told["counts"] for _ in range(each["records"])]
    answers, anchor = np.array(rows, dtype=np.uint8), [Term(1, 0)]
    assert float(1 - random_share(answers, design, anchor).share) == pytest.approx(told["attentive"], abs=5e-5)
    corrected = corrected_share(answers, YES, design, anchor)
    assert float(corrected.share) == pytest.approx(told["corrected"], abs=5e-5)
