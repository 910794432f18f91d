from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.show.estimates import finding_lines
from party.survey import Questionnaire, disguise_table, read_codes, read_design
from party.survey.estimation import (
    EstimateOptions,
    estimate_expression,
    estimated_priors,
    expression_text,
    parse_expression,
)
from protocols.errors import InputError
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.likelihood import most_likely
from protocols.tables import ROOT, Codes, Expression, Term
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, write_design, write_rows

RECORDS = 400


def disguised(folder: Path, text: str) -> tuple[Questionnaire, Codes]:
    questionnaire = read_design(write_design(folder, text))
    disguise_table(write_rows(folder, rows(RECORDS)), questionnaire, folder / "coins").write(folder / "d.csv")
    return questionnaire, read_codes(folder / "d.csv", questionnaire)


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_a_finding_is_what_the_estimators_say(tmp_path: Path, text: str) -> None:
    design, codes = disguised(tmp_path, text)
    expression = parse_expression("smoker = yes and drinks = often", design)
    found = estimate_expression(codes, expression, design, EstimateOptions(0.9, likelihood=True))
    estimate = estimate_count(codes, expression, design.design)
    assert found.estimate == estimate
    assert found.interval == estimate.interval(0.9)
    assert found.likely is not None
    assert np.array_equal(found.likely.shares, most_likely(codes, [3, 2], design.design).shares)
    assert dict(found.cells(found.likely))["yes", "often"] == found.likely.shares[0, 1]
    content = found.to_json()
    assert content["expression"] == "smoker = yes and drinks = often"
    assert content["count"] == float(estimate.count)


def test_what_was_not_asked_for_is_not_told(tmp_path: Path) -> None:
    design, codes = disguised(tmp_path, RELATED)
    found = estimate_expression(codes, parse_expression("smoker = yes", design), design, EstimateOptions())
    assert set(found.to_json()) == {"expression", "answers", "count", "count_error", "share", "share_error", "interval"}
    text = "\n".join(finding_lines(found, EstimateOptions()))
    assert "95% interval" in text
    assert "likely" not in text


def test_estimates_are_told_as_they_are_below_0_too(tmp_path: Path) -> None:
    questionnaire = read_design(write_design(tmp_path))
    codes = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 2, 1]], dtype=np.uint8)
    found = estimate_expression(
        codes, parse_expression("smoker = yes", questionnaire), questionnaire, EstimateOptions()
    )
    assert found.estimate.count < 0
    low, high = found.interval
    assert low < 0
    assert found.to_json()["count"] == float(found.estimate.count)
    assert f"interval {low:.4f} to {high:.4f}" in "\n".join(finding_lines(found, EstimateOptions()))


@pytest.mark.parametrize("text", [RELATED, UNRELATED])
def test_priors_are_exact_distributions_projected_from_the_estimates(tmp_path: Path, text: str) -> None:
    design, codes = disguised(tmp_path, text)
    few = codes[:3]
    for chosen in (codes, few):
        priors = estimated_priors(chosen, design)
        for column, prior in enumerate(priors):
            assert prior is not None
            counts = [
                estimate_count(chosen, ROOT.child(column, value), design.design).count for value in range(len(prior))
            ]
            assert sum(prior) == 1
            assert sum(counts) == len(chosen)
            positive = sum((count for count in counts if count > 0), Fraction(0))
            assert prior == tuple(max(count, Fraction(0)) / positive for count in counts)
    assert any(0 in prior for prior in estimated_priors(few, design) if prior is not None)


@pytest.fixture(scope="module")
def questionnaire(tmp_path_factory: pytest.TempPathFactory) -> Questionnaire:
    text = swap(RELATED, '["f", "m"]', r"""["f", "m", "and", "it's", 'a "b"', "it's \"b\"", "\"", "''"]""")
    return read_design(write_design(tmp_path_factory.mktemp("design"), text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("smoker = yes", [(3, 0)]),
        ("smoker=no", [(3, 1)]),
        ("  smoker =  'yes'  ", [(3, 0)]),
        ('smoker = yes and age = "> 60"', [(3, 0), (1, 2)]),
        ("drinks = 'now and then' and smoker = no and sex = f", [(2, 2), (3, 1), (0, 0)]),
        ('"smoker"="yes"', [(3, 0)]),
        ("sex = and and smoker = no", [(0, 2), (3, 1)]),
        ("sex = and", [(0, 2)]),
        ('sex = "it\'s"', [(0, 3)]),
        ("sex = 'a \"b\"'", [(0, 4)]),
        ('sex = "a ""b"""', [(0, 4)]),
        ("sex = 'it''s'", [(0, 3)]),
        ('sex = "it\'s ""b"""', [(0, 5)]),
        ("sex = 'it''s \"b\"' and smoker = yes", [(0, 5), (3, 0)]),
        ('sex = """"', [(0, 6)]),
        ("sex = \"''\"", [(0, 7)]),
        ("sex = ''''''", [(0, 7)]),
    ],
)
def test_a_text_stands_for_its_terms(questionnaire: Questionnaire, text: str, terms: list[tuple[int, int]]) -> None:
    found = parse_expression(text, questionnaire)
    assert found == Expression(tuple(Term(column, value) for column, value in terms))
    assert parse_expression(expression_text(found, questionnaire), questionnaire) == found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no expression: write it as in: smoker = yes"),
        ("smoker", "is no expression"),
        ("smoker = ", "is no expression"),
        ("smoker = yes or sex = f", r'age = "> 40"; only "and" is known$'),
        ("= yes", "is no expression"),
        ("smoker = yes and", "is no expression"),
        ("smoker = yes and ", "is no expression"),
        ("and smoker = yes", "is no expression"),
        ("smoker = yes age = x", "is no expression"),
        ("smoker == yes", "is no expression"),
        ('smoker = "yes', "is no expression"),
        ('smoker = "yes""', "is no expression"),
        ('smoker = "yes"" and sex = "f"', "is no expression"),
        ("age = > 60", "is no expression"),
        ('smoker = "yes"and sex = f', "is no expression"),
        ("smokes = yes", "the design has no column 'smokes'; did you mean 'smoker'"),
        ("height = tall", "the design has no column 'height'; known: sex, age, drinks, smoker"),
        ("drinks = ofen", "column 'drinks' has no value 'ofen'; did you mean 'often'"),
        ("smoker = maybe", "column 'smoker' has no value 'maybe'; known: yes, no"),
        ("smoker = yes and smoker = no", "names a column twice"),
    ],
)
def test_what_is_no_expression_is_told_with_a_way_out(questionnaire: Questionnaire, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_expression(text, questionnaire)


@given(st.text(alphabet="ab= '\"dnsmoker", max_size=30))
def test_any_text_is_an_expression_or_a_clear_error(questionnaire: Questionnaire, text: str) -> None:
    with suppress(InputError):
        assert parse_expression(text, questionnaire).terms
