import json
import re
from contextlib import suppress
from fractions import Fraction
from math import ceil
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.cli import main as cli
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
from tests.party.survey.commands import told
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


DESIGN = swap(RELATED, 'missing = "refuse"\n', "")


def rows_with_gaps() -> list[str]:
    """Return 100 records; 34 of them say whether they smoke."""
    drinks = ["never", "often", "now and then"]
    smokes = ["yes", "NA", ""]
    return [f"p{i},{20 + 7 * i % 60},{'fm'[i % 2]},{drinks[i % 3]},{smokes[i % 3]}" for i in range(100)]


@pytest.fixture
def gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A folder with a design, data and the disguised copy; what `disguise` said."""
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path, DESIGN)
    write_rows(tmp_path, rows_with_gaps())
    capsys.readouterr()
    assert cli.main(["disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins"]) == 0
    return capsys.readouterr().out


def test_the_copy_shows_who_gave_no_answer_and_it_is_said(gaps: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "smoker: 34 of 100 gave an answer\n" in gaps
    assert "The copy shows in the clear who gave no answer" in gaps
    cells = [line.rsplit(",", 1)[1] for line in Path("d.csv").read_text().splitlines()[1:]]
    assert [cell == "" for cell in cells] == [i % 3 != 0 for i in range(100)]
    assert "A missing answer is seen as missing" in told(capsys, "privacy", "design.toml")


@pytest.mark.usefixtures("gaps")
def test_an_estimate_is_of_those_who_answered(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("estimate", "d.csv", "design.toml", "smoker = yes", "drinks = never")
    text = told(capsys, *asked)
    assert "smoker = yes\n  34 of 100 gave an answer; the figures are of these\n" in text
    assert text.count("gave an answer") == 1
    content = json.loads(told(capsys, *asked, "--json"))
    first, second = content["estimates"]
    assert (first["answers"], second["answers"], content["records"]) == (34, 100, 100)
    assert first["count"] == pytest.approx(34 * first["share"])


@pytest.mark.usefixtures("gaps")
def test_a_likelihood_is_of_those_who_answered_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    """Gaps in columns that nobody asks about are no fault of the table."""
    text = told(capsys, "estimate", "d.csv", "design.toml", "drinks = never", "smoker = yes", "--likelihood")
    assert "most likely distribution of drinks" in text
    assert "most likely distribution of smoker" in text


@pytest.mark.usefixtures("gaps")
def test_a_model_says_how_many_gave_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    for learner in ("tree", "bayes"):
        assert "smoker: 34 of 100 gave an answer" in told(capsys, "mine", learner, "d.csv", "design.toml")


@pytest.mark.usefixtures("gaps")
def test_an_accuracy_says_how_many_held_out_records_lack_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "mine", "bayes", "d.csv", "design.toml", "--test", "1/2")
    (answered, lacking) = map(
        int, re.findall(r"(\d+) held-out records are too few.*; (\d+) more lack an answer", text)[0]
    )
    assert answered + lacking == 50
    assert lacking > 20


SIZE_DESIGN = """
theta = "4/5"
class = "smoker"
plain = ["sex"]
[columns.sex]
values = ["f", "m"]
[columns.smoker]
values = ["no", "yes"]
[groups]
only = ["smoker"]
"""


@pytest.fixture
def design(tmp_path: Path) -> str:
    path = tmp_path / "design.toml"
    path.write_text(SIZE_DESIGN)
    return str(path)


def warner(share: Fraction, width: Fraction) -> int:
    """Warner 1965: the variance of one answer is P(1 - P) + theta(1 - theta)/(2 theta - 1)^2."""
    variance = share * (1 - share) + Fraction(4, 25) / Fraction(9, 25)
    return ceil(NormalDist().inv_cdf(0.975) ** 2 * float(variance / width**2))


@pytest.mark.parametrize(
    ("options", "share"),
    [((), Fraction(1, 2)), (("--share", "1/2"), Fraction(1, 2)), (("--share", "0.1"), Fraction(1, 10))],
)
def test_one_question_needs_what_warner_says(
    design: str, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], share: Fraction
) -> None:
    assert cli.main(["size", design, "--expression", "smoker = yes", "--half-width", "1/50", *options]) == 0
    needed = f"{warner(share, Fraction(1, 50))} respondents are enough for +- 0.02 at 95%"
    assert capsys.readouterr().out == f"{needed} for the share of smoker = yes\n"


def test_models_need_every_cell_at_once(design: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["size", design, "--half-width", "0.02", "--depth", "1"]) == 0
    bayes, tree = capsys.readouterr().out.splitlines()
    assert bayes.endswith("for naive Bayes, all 6 shares that it looks at")
    assert tree.endswith("for a tree of depth 1, all 6 shares that it looks at")
    assert int(bayes.split()[0]) > warner(Fraction(1, 2), Fraction(1, 50))


def test_without_a_class_the_share_of_any_answer_is_planned_for(
    design: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(design).write_text(SIZE_DESIGN.replace('class = "smoker"\n', ""))
    assert cli.main(["size", design, "--half-width", "0.02"]) == 0
    first, next_step = capsys.readouterr().out.splitlines()
    needed = warner(Fraction(1, 2), Fraction(1, 50))
    assert first == f"{needed} respondents are enough for +- 0.02 at 95% for the share of any answer"
    assert next_step.startswith("For several answers together give --expression")
    assert cli.main(["size", design, "--half-width", "0.02", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["enough"]
    assert (told["for"], told["respondents"]) == ("any answer", needed)
