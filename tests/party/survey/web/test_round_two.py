"""Round two (Surveys 3.4): which model is published, what the page is given, which bits are taken."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from party.models.any_file import model_from_text, read_model
from party.survey.web.pages import test_page as page_of
from party.survey.web.round_two import round_digest
from party.survey.web.round_two import test_json as described
from party.survey.web.store import BitCount, code_digest
from tests.support.collecting import ROUND_TWO, TESTABLE, UNRELATED, Served, add_links, served, write_survey_files
from tests.support.processes import Ended, cotally_here

RESPONSES = [bytes([k % 2, (k % 2) ^ (k % 5 == 0)]) for k in range(60)]
"""Of drinks and smokes, which agree in 48 of 60."""


class Mined:
    """A survey with 60 answers, its export, and a model mined from that."""

    def __init__(self, path: Path, survey: Served) -> None:
        self.path, self.survey = path, survey
        self.codes = add_links(survey.store, 61)
        for code, response in zip(self.codes, RESPONSES, strict=False):
            survey.store.submit(code_digest(code), response, 9)
        self.table, self.model = path.parent / "x.csv", path.parent / "tree.json"
        assert cotally_here("survey", "export", path, "-o", self.table).code == 0
        self.mine("tree", self.model)

    def mine(self, learner: str, target: Path) -> None:
        ended = cotally_here(
            "mine", learner, self.table, self.path.parent / "design.toml", "--test", "1/5", "--seed", "3", "-o", target
        )
        assert ended.code == 0, ended.err

    def publish(self, *words: str | Path) -> Ended:
        given = words or (self.model, self.table, "--test", "1/5", "--seed", "3")
        return cotally_here("survey", "publish", self.path, *given)

    def body(self, code: str, bit: str, /, **changes: object) -> bytes:
        published = self.survey.store.published()
        assert published is not None
        digest = round_digest(self.survey.settings.questionnaire, published)
        content = {"format": "cotally-bit/1", "round": digest, "code": code, "bit": bit, **changes}
        return json.dumps({name: value for name, value in content.items() if value is not None}).encode()

    def test(self, code: str, bit: str, /, **changes: object) -> int:
        return self.survey.call("POST", "/test", self.body(code, bit, **changes)).status


@pytest.fixture
def mined(tmp_path: Path) -> Iterator[Mined]:
    path = write_survey_files(tmp_path / "s", TESTABLE, ROUND_TWO)
    with served(path) as survey:
        yield Mined(path, survey)


@pytest.fixture
def published(mined: Mined) -> Mined:
    ended = mined.publish()
    assert ended.code == 0, ended.err
    assert "epsilon 1.099" in ended.out
    mined.survey.start_again()
    return mined


def test_each_respondent_counts_once_and_results_are_the_formula(published: Mined) -> None:
    assert [published.test(code, "1") for code in published.codes[:30]] == [200] * 30
    assert [published.test(code, "0") for code in published.codes[20:50]] == [200] * 30
    assert published.survey.store.bits() == BitCount(50, 30)
    found = json.loads(cotally_here("survey", "results", published.path, "--json").out)["round_two"]
    personal = (30 / 50 - 1 / 4) / (1 / 2)
    assert (found["bits"], found["truth"]) == (50, "3/4")
    assert found["personal"]["share"] == pytest.approx(personal)
    assert found["accuracy"]["records"] == 12
    seen = 2 / 3 * found["accuracy"]["share"] + 1 / 3 * personal
    assert 12 * seen == pytest.approx(round(12 * seen))
    told = cotally_here("survey", "results", published.path).out
    assert "50 respondents tested the published model; a bit discloses" in told
    assert f"right about the personal answers of {100 * personal:.1f}%" in told
    assert cotally_here("survey", "status", published.path).out.startswith("The survey is testing its model")


def test_no_share_is_shown_of_bits_that_are_all_alike(published: Mined) -> None:
    assert [published.test(code, "1") for code in published.codes[:2]] == [200] * 2
    told = cotally_here("survey", "results", published.path).out
    assert "All bits that came are alike: they give no interval" in told
    assert "right about the personal answers of" not in told


def test_before_anybody_tests_it_results_say_so(published: Mined) -> None:
    found = json.loads(cotally_here("survey", "results", published.path, "--json").out)["round_two"]
    assert found == {"bits": 0, "truth": "3/4"}


def test_an_answer_that_comes_late_is_refused_and_a_bit_before_the_time_is_not_known(mined: Mined) -> None:
    assert mined.survey.call("POST", "/test", b"{}").status == 404
    assert mined.publish().code == 0
    assert mined.survey.answer(mined.codes[60], "0000") == 410


BAD: dict[str, dict[str, Any]] = {
    "another bit": {"bit": "2"}, "two bits": {"bit": "10"}, "a number": {"bit": 1}, "no bit": {"bit": None},
    "more": {"answers": "0000"}, "another format": {"format": "cotally-answer/1"},
}  # fmt: skip


def test_what_is_no_bit_is_refused(published: Mined) -> None:
    for changes in BAD.values():
        assert published.test(published.codes[0], "1", **changes) == 400
        assert published.survey.store.bits() == BitCount(0, 0)


def test_bits_of_another_round_of_strangers_and_of_who_did_not_answer_are_refused(published: Mined) -> None:
    assert published.test(published.codes[0], "1", round="0" * 64) == 409
    assert published.test("A" * 24, "1") == 403
    assert published.test(published.codes[60], "1") == 403
    assert published.survey.store.bits() == BitCount(0, 0)
    published.survey.store.close_survey()
    assert published.test(published.codes[0], "1") == 410


@pytest.mark.parametrize("learner", ["tree", "bayes"])
def test_the_page_is_given_the_model_and_nothing_that_was_counted(mined: Mined, learner: str) -> None:
    target = mined.path.parent / f"{learner}.json"
    if learner == "bayes":
        mined.mine(learner, target)
    assert mined.publish(target, mined.table, "--test", "1/5", "--seed", "3").code == 0
    stored = mined.survey.store.published()
    assert stored is not None
    assert model_from_text(stored.text).columns == read_model(target).columns
    found = described(mined.survey.settings.questionnaire, stored)
    assert found["coin"] == ["3", "1"]
    assert "counts" not in json.dumps(found)


def test_a_model_is_published_once_and_its_page_is_the_same_for_everybody(published: Mined) -> None:
    reply = published.survey.call("GET", "/", kind=None)
    stored = published.survey.store.published()
    assert stored is not None
    assert reply.body == page_of(published.survey.settings, stored).body
    text = reply.body.decode()
    assert not re.search(r"\b(src|href|action|ping|formaction)=|@import|url\(|://|\bon\w+=", text)
    assert "with a chance of 3/4 what is sent is true" in text
    assert published.survey.call("GET", "/form", kind=None).status == 404
    again = published.publish()
    assert (again.code, again.err) == (2, "cotally: a model is published once, and before the survey is closed\n")


def _late(mined: Mined) -> list[str | Path]:
    mined.survey.store.submit(code_digest(mined.codes[60]), b"\0\0", 9)
    return [mined.model, mined.table, "--test", "1/5"]


def _foreign(mined: Mined) -> list[str | Path]:
    text = mined.model.read_text().replace('"drinks"', '"eats"')
    (mined.path.parent / "other.json").write_text(text)
    return [mined.path.parent / "other.json", mined.table, "--test", "1/5"]


REFUSED: dict[str, tuple[Callable[[Mined], list[str | Path]], str]] = {
    "answers that came since": (_late, "export them, and mine the model again"),
    "a model of other columns": (_foreign, "mine one from its answers"),
    "nothing held out": (lambda mined: [mined.model, mined.table, "--test", "0"], "--test must be above 0"),
    "no number": (lambda mined: [mined.model, mined.table, "--test", "x"], "--test must be an exact number"),
    "no model": (lambda mined: [mined.table, mined.table, "--test", "1/5"], "is not a cotally-model/3"),
}


def test_a_model_that_cannot_be_tested_is_one_line(mined: Mined) -> None:
    for words, problem in REFUSED.values():
        ended = mined.publish(*words(mined))
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        assert problem in ended.err
        assert mined.survey.store.published() is None


def test_without_the_setting_nothing_was_kept_to_test_by(tmp_path: Path) -> None:
    path = write_survey_files(tmp_path / "s", TESTABLE, ROUND_TWO[: ROUND_TWO.index("[round_two]")])
    ended = cotally_here("survey", "publish", path, "x.json", "x.csv", "--test", "1/5")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "has no [round_two]" in ended.err


POPULATION = '[population.sex]\nf = "1/2"\nm = "1/2"'
RESULTS_RESPONSES = [bytes([k % 2, k % 3, k % 5 == 0]) for k in range(40)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_survey_files(tmp_path / "s", UNRELATED)


@pytest.fixture
def survey(path: Path) -> Iterator[Served]:
    with served(path) as opened:
        for code, response in zip(add_links(opened.store, 40), RESULTS_RESPONSES, strict=True):
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


def test_known_personal_answers_and_their_effect_are_shown(path: Path, survey: Served) -> None:
    """At theta 1/2 half send the truth; of two values it differs from a known answer in half of these."""
    found = json.loads(told(path, "--json"))["certain_if_personal_answers_are_known"]
    assert found.keys() == {"habits", "money"}
    assert found["habits"] == pytest.approx(1 / 4)
    assert found["money"] == pytest.approx(1 / 3)
    assert "cases: group habits 25.0%; group money 33.3%" in told(path)
