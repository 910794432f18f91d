"""Answers that are not given, from a table to estimates and models: left out by default, and the number told."""

import json
import re
from pathlib import Path

import pytest

from party.cli import main as cli
from tests.party.survey.commands import told
from tests.party.survey.files import RELATED, swap, write_design, write_rows

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
