"""What `cotally survey results` tells: the estimates of `cotally estimate`, for every value at once."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.survey.web.store import code_digest
from tests.support.collecting import UNRELATED, Served, add_links, served, write_survey_files
from tests.support.processes import cotally_here

POPULATION = '[population.sex]\nf = "1/2"\nm = "1/2"'
RESPONSES = [bytes([k % 2, k % 3, k % 5 == 0]) for k in range(40)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_survey_files(tmp_path / "s", UNRELATED)


@pytest.fixture
def survey(path: Path) -> Iterator[Served]:
    with served(path) as opened:
        for code, response in zip(add_links(opened.store, 40), RESPONSES, strict=True):
            opened.store.submit(code_digest(code), response, 1)
        yield opened


def told(*words: str | Path) -> str:
    ended = cotally_here("survey", "results", *words)
    assert ended.code == 0, ended.err
    return ended.out


def test_they_are_those_of_estimate(path: Path, survey: Served) -> None:
    tables = json.loads(told(path, "--json", "--cross", "smokes", "sex"))["tables"]
    assert [table["columns"] for table in tables] == [["smokes"], ["income"], ["sex"], ["smokes", "sex"]]
    table = path.parent / "x.csv"
    assert cotally_here("survey", "export", path, "-o", table).code == 0
    asked = ["smokes = no", "smokes = yes and sex = m"]
    ended = cotally_here("estimate", table, path.parent / "design.toml", *asked, "--json")
    cells = [tables[0]["cells"][1], tables[3]["cells"][1]]
    for estimate, cell in zip(json.loads(ended.out)["estimates"], cells, strict=True):
        assert (estimate["share"], estimate["interval"]) == (cell["share"], cell["interval"])
    assert tables[2]["cells"][0]["share"] == 0.8


def test_the_page_of_results_is_a_table_per_column_and_loads_nothing(path: Path, survey: Served) -> None:
    target = path.parent / "results.html"
    assert told(path, "--html", target) == f"Wrote {target}: any browser opens it\n"
    assert told(path, "--html", target, "--overwrite", "--json").startswith("{")
    text = target.read_text()
    assert text.count("<table") == 3
    assert not re.search(r"src=|href=|<script|://", text)


def test_nobody_or_one_is_too_few(path: Path) -> None:
    with served(path) as survey:
        assert "0 of 0 gave an answer, too few" in told(path)
        survey.store.submit(code_digest(add_links(survey.store, 1)[0]), b"\0\0\0", 1)
        assert "1 of 1 gave an answer, too few" in told(path)


@pytest.mark.parametrize(
    "words",
    [["--cross", "smokes", "sax"], ["--confidence", "2"], ["--html", "design.toml"]],
    ids=["column", "confidence", "file"],
)
def test_what_is_wrong_is_one_line(path: Path, survey: Served, words: list[str]) -> None:
    own = [str(path.parent / word) if word == "design.toml" else word for word in words]
    ended = cotally_here("survey", "results", path, *own)
    assert (ended.code, ended.err.count("\n")) == (2, 1)


CONTROLLED = (
    UNRELATED
    + """
[control]
smokes = "no"
"""
)
MOSTLY_NO = [bytes([k % 3 > 0, k % 3, k % 5 == 0]) for k in range(40)]


def test_what_is_corrected_for_random_answers_is_that_of_estimate(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path / "c", CONTROLLED)
    with served(path) as opened:
        assert "Too few answered the control" in told(path)
        for code, response in zip(add_links(opened.store, 40), MOSTLY_NO, strict=True):
            opened.store.submit(code_digest(code), response, 1)
    found = json.loads(told(path, "--json", "--cross", "income", "sex"))
    table = path.parent / "x.csv"
    assert cotally_here("survey", "export", path, "-o", table).code == 0
    asked = ["income = low", "income = high and sex = f"]
    ended = cotally_here("estimate", table, path.parent / "design.toml", *asked, "--json")
    told_by = json.loads(ended.out)
    assert found["at_random"] == told_by["at_random"]
    cells = [found["tables"][1]["cells"][0], found["tables"][3]["cells"][4]]
    assert [cell["corrected"] for cell in cells] == [each["corrected"] for each in told_by["estimates"]]
    assert all("corrected" not in cell for cell in found["tables"][0]["cells"])
    share = f"{100 * cells[0]['corrected']['share']:.1f}%"
    assert share in told(path)
    assert told(path, "--html", path.parent / "x.html").startswith("Wrote ")
    text = (path.parent / "x.html").read_text()
    assert f">{share}</td>" in text
    assert "answer at random" in text


def test_weights_count_and_what_they_exclude_is_said(path: Path, survey: Served, tmp_path: Path) -> None:
    path.write_text(f"{path.read_text()}\n{POPULATION}\n")
    tables = json.loads(told(path, "--json"))["tables"]
    assert [cell["share"] for cell in tables[2]["cells"]] == [0.5, 0.5]
    assert "weighted by the population's shares" in told(path)
    path = write_survey_files(tmp_path / "c", CONTROLLED, more=POPULATION)
    with served(path) as opened:
        for code, response in zip(add_links(opened.store, 40), MOSTLY_NO, strict=True):
            opened.store.submit(code_digest(code), response, 1)
        assert "corrected" not in json.dumps(json.loads(told(path, "--json"))["tables"])
        assert "Nothing is corrected." in told(path)


def test_known_personal_answers_and_their_effect_are_told(path: Path, survey: Served) -> None:
    """At theta 1/2 half send the truth; of two values it differs from a known answer in half of these."""
    found = json.loads(told(path, "--json"))["certain_if_personal_answers_are_known"]
    assert found.keys() == {"habits", "money"}
    assert found["habits"] == pytest.approx(1 / 4)
    assert found["money"] == pytest.approx(1 / 3)
    assert "cases: group habits 25.0%; group money 33.3%" in told(path)
