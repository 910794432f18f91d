"""Estimates of one yes-or-no column against published and hand-made figures."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables.expression import Expression, Term

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "survey_estimates.json").read_text("utf-8"))
YES = Expression((Term(0, 1),))


def design_of(case: dict[str, Any]) -> Design:
    theta = Fraction(case["theta"])
    if case["kind"] == "related":
        return RelatedDesign((2,), ((0,),), theta)
    personal = Fraction(case["personal"])
    return UnrelatedDesign((2,), ((0,),), theta, ((1 - personal, personal),))


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: f"{case['kind']} {case['yes']}")
def test_an_estimate_is_the_published_one(case: dict[str, Any]) -> None:
    answers = np.zeros((case["records"], 1), dtype=np.uint8)
    answers[: case["yes"]] = 1
    estimate = estimate_count(answers, YES, design_of(case))
    assert float(estimate.proportion) == pytest.approx(case["share"], abs=5e-5 if case["error"] else 5e-8)
    if case["error"] is not None:
        assert estimate.proportion_error == pytest.approx(case["error"], abs=5e-5)
