"""`cotally report` of answers and of baskets tells what `estimate`, `privacy`, `mine` and `audit` tell."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest

from party.cli.main import main
from party.cli.survey_report import survey_page
from party.show.document import Document, Grid, Pairs, ReportPart
from party.show.page.parts import as_html, as_markdown
from party.show.privacy_full import shown_names
from party.show.privacy_short import summary_lines
from party.survey import read_design, read_disguised
from party.survey.estimation import estimated_priors
from protocols.privacy.findings import measure_design
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Codes
from tests.party.survey.files import UNRELATED
from tests.support.reported import FAST, basket_page, hostile_survey, parsed, survey_of_two_kinds, write_survey

ASKED = "smoker = yes and drinks = often"


def parts(page: Document, section: str) -> Sequence[ReportPart]:
    (found,) = [each.parts for each in page.sections if each.name == section]
    return found


def sentences(page: Document, section: str) -> list[str]:
    return [part for part in parts(page, section) if isinstance(part, str) and part]


def grid(page: Document, section: str, number: int = 0) -> list[dict[str, str]]:
    found = [part for part in parts(page, section) if isinstance(part, Grid)][number]
    heads = [column.name for column in found.columns]
    return [dict(zip(heads, row, strict=True)) for row in found.rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The present folder: a survey by related questions, a tree mined from it, and one by unrelated questions."""
    made = tmp_path_factory.mktemp("survey")
    write_survey(made)
    write_survey(made, UNRELATED, "other")
    with chdir(made):
        assert main(["mine", "tree", "survey.csv", "survey.toml", "-o", "tree.json", "-q"]) == 0
        yield made


@pytest.fixture(scope="module")
def page(folder: Path) -> Document:
    with chdir(folder):
        told, as_declared = survey_page(
            parsed("survey.csv", "survey.toml", "--model", "tree.json", "--ask", ASKED, "--min-support", "1/10")
        )
    assert as_declared
    return told


def estimated(capsys: pytest.CaptureFixture[str], *words: str) -> Mapping[str, Mapping[str, object]]:
    """What `estimate --json` says of each expression."""
    capsys.readouterr()
    assert main(["estimate", *words, "--json"]) == 0
    return {each["expression"]: each for each in json.loads(capsys.readouterr().out)["estimates"]}


def assert_row(row: Mapping[str, str], told: Mapping[str, object]) -> None:
    interval = told["interval"]
    assert isinstance(interval, list)
    numbers = (told["share"], told["share_error"], *interval)
    assert [row[name] for name in ("Share", "Error", "95% from", "to")] == [f"{number:.4f}" for number in numbers]
    assert row["Of"] == f"{told['answers']:,}"


def test_every_value_has_the_share_and_interval_of_estimate(
    page: Document, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert folder
    rows = grid(page, "answers")
    assert [row["Answer"] for row in rows if "age" in row["Answer"]] == [
        'age = "<= 40"',
        'age = "(40, 60]"',
        'age = "> 60"',
    ]
    found = estimated(capsys, "survey.csv", "survey.toml", *(row["Answer"] for row in rows), ASKED)
    assert len(rows) == 2 + 2 + 3 + 3
    for row in rows:
        assert_row(row, found[row["Answer"]])
    (asked,) = grid(page, "answers", 1)
    assert_row(asked, found[ASKED])


def test_privacy_before_and_after_mining_is_in_the_words_of_privacy(
    page: Document, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questionnaire = read_design(folder / "survey.toml")
    names, priors = (
        shown_names(questionnaire),
        estimated_priors(read_disguised("survey.csv", questionnaire), questionnaire),
    )
    found = measure_design(questionnaire.design, names.columns, names.values, priors, names.groups)
    assert sentences(page, "privacy")[: len(summary_lines(found))] == summary_lines(found)
    capsys.readouterr()
    assert main(["privacy", "survey.toml", "--prior", "survey.csv", "--model", "tree.json"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    mined = sentences(page, "mining")
    after = mined[1 : mined.index("The rules that name a class:")]
    assert len(after) == 4
    for line in after:
        assert " ".join(line.split()) in printed
    assert main(["privacy", "survey.toml", "--prior", "survey.csv", "--model", "tree.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["after_mining"]
    assert f"{100 * told['single_entry_known']:.1f}% after it" in after[1]


def test_how_much_is_read_of_such_answers_is_in_the_words_of_privacy(
    page: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["privacy", "survey.toml", "--prior", "survey.csv"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    (line,) = [text for text in sentences(page, "privacy") if text.startswith("A receiver of answers like these")]
    assert printed.startswith(line)


def test_rules_that_name_the_class_leave_less_of_its_privacy(page: Document) -> None:
    """Who drinks often smokes, and nobody else: rules from drinks name the class nearly always."""
    mined = sentences(page, "mining")
    told = mined[mined.index("The rules that name a class:") + 1]
    chance = re.search(r"with a chance of (over )?([\d.]+)%", told)
    assert chance
    assert float(chance[2]) > 90


def test_the_page_says_what_the_audit_found_and_fails_with_it(
    page: Document, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentences(page, "audit")[0].startswith("OK: the sampler responds as the design declares.")

    def honest(_design: RelatedDesign, codes: Codes, _draw: Draw, _personal: Codes | None = None) -> Codes:
        return np.array(codes)

    monkeypatch.setattr(RelatedDesign, "randomize", honest)
    output = folder / "failed.md"
    assert main(["report", "survey.csv", "survey.toml", *FAST, "-o", str(output), "-q"]) == 1
    assert "NOT as declared: " in output.read_text()
    capsys.readouterr()


def test_where_personal_answers_are_known_it_says_how_many_truths_are_certain(folder: Path) -> None:
    page, _ = survey_page(parsed("other.csv", "other.toml"))
    rows = {row["group"]: row for row in grid(page, "known")}
    assert {row["epsilon if known"] for row in rows.values()} == {"infinite"}
    assert rows["habits"]["epsilon"] != "infinite"
    questionnaire = read_design(folder / "other.toml")
    yes, no = estimated_priors(read_disguised("other.csv", questionnaire), questionnaire)[-1] or (0, 0)
    certain = (1 - (yes / 4 + no * 3 / 4)) / 2
    assert rows["habits"]["truths then certain"] == f"{float(100 * certain):.1f}%"
    assert any("epsilon is infinite" in line for line in sentences(page, "known"))


def test_without_personal_answers_it_says_that_there_are_none_to_know(page: Document) -> None:
    (told,) = sentences(page, "known")
    assert told.startswith("Responses rest on coins alone, and on no personal answer of the respondent")
    assert {row["truths then certain"] for row in grid(page, "known")} == {"none"}


def test_several_files_are_combined_as_by_estimate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = survey_of_two_kinds(tmp_path)
    with chdir(tmp_path):
        found = estimated(capsys, "survey.csv", "survey.toml", "smoker = yes", "--and", "other.csv", "other.toml")
    (row,) = [row for row in grid(page, "answers") if row["Answer"] == "smoker = yes"]
    assert_row(row, found["smoker = yes"])
    weights = found["smoker = yes"]["weights"]
    assert isinstance(weights, list)
    assert row["Weights of files"] == ", ".join(f"{100 * weight:.1f}%" for weight in weights)
    assert len([line for line in sentences(page, "audit") if line.startswith("OK:")]) == 2
    (pairs,) = [part for part in parts(page, "checks") if isinstance(part, Pairs)]
    for name, digest in pairs.rows:
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert [name for name, _ in pairs.rows] == ["survey.csv", "survey.toml", "other.csv", "other.toml"]


def test_baskets_have_the_supports_rules_and_breaches_of_their_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = basket_page(tmp_path)
    with chdir(tmp_path):
        command = ["mine", "rules", "baskets.csv", "baskets.toml", "--min-support", "1/10", "--min-threshold", "1/2"]
        assert main([*command, "-o", "rules.csv", "-q"]) == 0
        capsys.readouterr()
        assert main(["privacy", "baskets.toml"]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        assert main(["estimate", "baskets.csv", "baskets.toml", "milk", "--json"]) == 0
        (milk,) = json.loads(capsys.readouterr().out)["supports"]
    mined = list(csv.DictReader((tmp_path / "rules.csv").open(encoding="utf-8")))
    assert len(mined) > 3
    told = {f"{float(row['confidence']):.3f}" for row in mined}
    assert {row["confidence"] for row in grid(page, "answers", 2)} == told
    (asked,) = grid(page, "answers")
    assert (asked["support"], asked["low"]) == (f"{milk['support']:.4f}", f"{milk['interval'][0]:.4f}")
    for row in grid(page, "privacy"):
        assert " ".join(row.values()) in printed
    assert sentences(page, "audit")[0].startswith("OK: ")


def test_hostile_names_stay_texts_in_both_forms(tmp_path: Path) -> None:
    page = hostile_survey(tmp_path)
    html = as_html(page)
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    prose = [line for line in as_markdown(page).splitlines() if not line.startswith("    ")]
    assert not [line for line in prose if re.search(r"(?<!\\)[<\[]", line)]


def test_a_report_audits_as_finely_as_takes_seconds_unless_it_is_asked_for_more(folder: Path, tmp_path: Path) -> None:
    assert folder
    output = tmp_path / "r.md"
    assert main(["report", "survey.csv", "survey.toml", "-o", str(output), "-q"]) == 0
    assert "one whose theta is off by 1/20 in at least 99.9%" in output.read_text()


def test_the_command_writes_the_page_and_replaces_none_unasked(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["report", "survey.csv", "survey.toml", *FAST, "-o", str(tmp_path / "r.html")]
    assert main([*command, "-q"]) == 0
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert main(command) == 2
    assert "--overwrite" in capsys.readouterr().err
    before = (folder / "survey.csv").read_bytes()
    assert main([*command[:-1], "survey.csv", "--overwrite"]) == 2
    assert (folder / "survey.csv").read_bytes() == before


def test_mine_says_of_whom_the_truth_is_certain_where_personal_answers_are_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for learner in (["bayes"], ["itemsets", "--min-support", "1/5"]):
        assert main(["mine", learner[0], "other.csv", "other.toml", *learner[1:]]) == 0
        assert "these shares of cases: group habits " in capsys.readouterr().out
        assert main(["mine", learner[0], "survey.csv", "survey.toml", *learner[1:]]) == 0
        assert "certain of" not in capsys.readouterr().out
    assert folder
