"""`cotally show`: every kind of model in every form that it has, and one line for those that it has not."""

import csv
import hashlib
import json
import re
import struct
import sys
import zlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from party.cli.main import main
from party.cli.survey_report import survey_page
from party.data import read_frame
from party.models.any_file import KeptResult, model_json
from party.programs.party import load_model
from party.show.document import Document, Grid, Pairs, ReportPart
from party.show.page import parts
from party.show.page.drawings import tree_svg
from party.show.page.parts import as_html, as_markdown
from party.show.privacy_full import shown_names
from party.show.privacy_short import summary_lines
from party.survey import read_design, read_disguised
from party.survey.estimation import estimated_priors
from protocols.learning.tree import Leaf, Split
from protocols.privacy.findings import measure_design
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import RelatedDesign
from protocols.tables import Codes
from tests.party.models.test_bayes_file import FOUND, small_bayes
from tests.party.survey.files import UNRELATED
from tests.support.models import chain, small_model
from tests.support.processes import Ended, assert_one_line, cotally_here, finish, start
from tests.support.reported import FAST, basket_page, hostile_survey, parsed, survey_of_two_kinds, write_survey

MODELS: dict[str, KeptResult] = {"tree": small_model(), "bayes": small_bayes(), "itemsets": FOUND}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with a file for each kind of model."""
    monkeypatch.chdir(tmp_path)
    for name, model in MODELS.items():
        Path(f"{name}.json").write_text(model_json(model))
    return tmp_path


@pytest.mark.parametrize("telling", [True, False])
def test_a_column_that_alone_tells_the_class_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], telling: bool
) -> None:
    tree = small_model()
    leaves = tuple(Leaf(counts, counts[1] > 0) for counts in ((0, 3), (4, 0), (0, 0 if telling else 9)))
    root = Split((4, 3), 1, leaves if telling else (Leaf((1, 3), 1), *leaves[1:]))
    Path("told.json").write_text(model_json(replace(tree, root=root)))
    assert main(["show", "told.json"]) == 0
    said = "alice.city alone gives the class of every training record." in capsys.readouterr().out
    assert said == telling


def size_of(image: bytes) -> tuple[int, int]:
    """Width and height of a PNG whose parts are whole."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    rest, parts = image[8:], []
    while rest:
        length = struct.unpack(">I", rest[:4])[0]
        part, check = rest[4 : 8 + length], struct.unpack(">I", rest[8 + length : 12 + length])[0]
        assert zlib.crc32(part) == check
        parts.append(part)
        rest = rest[12 + length :]
    assert parts[-1] == b"IEND"
    width, height = struct.unpack(">II", parts[0][4:12])
    return width, height


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("folder")
def test_every_kind_is_drawn_and_its_image_shows_the_drawing_twice_as_large(
    name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["show", f"{name}.json", "--svg"]) == 0
    drawn = ET.fromstring(capfdbinary.readouterr().out)
    assert main(["show", f"{name}.json", "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert (width, height) == (2 * int(drawn.attrib["width"]), 2 * int(drawn.attrib["height"]))


@pytest.mark.usefixtures("folder")
def test_levels_leave_out_deeper_splits_and_larger_sets_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        assert main(["show", *arguments]) == 0
        return capsys.readouterr().out

    assert told("tree.json", "--svg", "--levels", "1") == tree_svg(small_model(), 1)
    assert "city [5 3] …" in told("tree.json", "--levels", "1")
    dot, whole = told("tree.json", "--dot", "--levels", "1"), told("tree.json", "--dot")
    assert (dot.count("->"), whole.count("->")) == (3, 8)
    assert dot.count("…") == 2
    assert "alice.bread=1, bob.milk=yes" in told("itemsets.json")
    assert "alice.bread=1, bob.milk=yes" not in told("itemsets.json", "--levels", "1")
    assert told("itemsets.json", "--svg").count("<circle") == 3
    assert told("itemsets.json", "--svg", "--levels", "1").count("<circle") == 2


def test_an_image_of_too_many_dots_is_made_smaller_or_refused(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(chain(6)))
    most = 300_000
    monkeypatch.setattr(parts, "_MOST_PIXELS", most)
    assert main(["show", str(path), "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert most / 2 < width * height < 1.01 * most
    monkeypatch.setattr(parts, "_MOST_PIXELS", 10_000)
    assert main(["show", str(path), "--png"]) == 2
    assert b"leave levels out" in capfdbinary.readouterr().err


def test_without_the_library_an_image_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(small_model()))
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["show", str(path), "--png"]) == 2
    assert "'.[png]'" in capsys.readouterr().err


def rows_file(folder: Path, header: str = "alice.age,city,bob.age,outcome") -> Path:
    path = folder / "rows.csv"
    path.write_text(f'{header}\n17,"Oslo",no,good\n99,Oslo,yes,bad\n?,"a, b",no,\n')
    return path


def test_predict_writes_the_rows_with_one_more_column_and_shows_the_accuracy(model: Path) -> None:
    rows = rows_file(model.parent)
    ended = cotally_here("predict", model, rows)
    assert ended.code == 0
    expected = "alice.age,city,bob.age,outcome,prediction\n17,Oslo,no,good,good\n99,Oslo,yes,bad,good\n"
    assert ended.out == expected + '?,"a, b",no,,bad\n'
    said = "Accuracy 0.500 ± 0.354 on 2 rows (rows trained on included), 1 of them right; always saying the commonest"
    assert ended.err.startswith(f"taken for missing cells: '?' in 'alice.age'\n{said} class: 0.500 ± 0.354\n")
    out = model.parent / "out.csv"
    to_file = cotally_here("predict", model, rows, "-o", out, "--column", "guess", "--missing", "99")
    assert to_file.code == 0
    assert not to_file.out
    assert f"Wrote {out}: 3 rows\n" in to_file.err
    assert out.read_text().splitlines()[0].endswith(",guess")
    assert out.read_text().splitlines()[2] == "99,Oslo,yes,bad,bad"
    before = out.read_bytes()
    unasked = cotally_here("predict", model, rows, "-o", out, "--column", "guess")
    assert unasked.code == 2
    assert unasked.err.endswith(f"{out} is there already: name another by -o, or replace it (--overwrite)\n")
    assert out.read_bytes() == before
    again = cotally_here("predict", model, rows, "-o", out, "--column", "guess", "--overwrite")
    assert f"Replaced {out}: 3 rows\n" in again.err


def test_rows_without_the_class_are_predicted_and_not_scored(model: Path) -> None:
    ended = cotally_here("predict", model, rows_file(model.parent, "alice.age,city,bob.age,note"))
    assert (ended.code, ended.err) == (0, "taken for missing cells: '?' in 'alice.age'\n")
    assert ended.out.splitlines()[1] == "17,Oslo,no,good,good"


def test_rows_come_from_the_standard_input_as_they_are_written_there(model: Path) -> None:
    rows = "alice.age;city;bob.age;size\n17;Oslo;no;2,5\nn/v;Z\xfcrich;no;\n".encode("cp1252")
    (model.parent / "rows").write_bytes(rows)

    def predicted(*more: str) -> Ended:
        with (model.parent / "rows").open() as given:
            return finish(start("predict", str(model), "-", *more, stdin=given))

    ended = predicted()
    assert ended.out.splitlines()[1:] == ['17,Oslo,no,"2,5",good', "n/v,Zürich,no,,good"]
    assert "standard input is not UTF-8: read as Windows-1252" in ended.err
    assert "column 'alice.age': 1 of 2 cells hold no value that the model knows" in ended.err
    ended = predicted("--separator", ";", "--encoding", "cp1252", "--missing", "n/v")
    assert ended.err == "taken for missing cells: 'n/v' in 'alice.age'\n"
    wrong = predicted("--encoding", "utf-8")
    assert (wrong.code, wrong.out) == (2, "")
    assert "standard input, line 3, column 'city': the cell holds bytes that are not UTF-8" in wrong.err


@pytest.mark.parametrize("name", ["out.tsv", "out.csv.gz", "out.parquet", "out.txt"])
def test_classes_are_written_in_the_form_that_the_name_says(model: Path, name: str) -> None:
    out = model.parent / name
    ended = cotally_here("predict", model, rows_file(model.parent), "-o", out, "--probabilities")
    assert ended.code == 0, ended.err
    frame = read_frame(out)
    assert frame.columns == ("alice.age", "city", "bob.age", "outcome", "prediction", "P(bad)", "P(good)")
    assert frame.column("prediction").cells == ["good", "good", "bad"]
    assert frame.column("P(good)").cells == ["1", "1", "0"]
    assert (out.read_bytes()[:4] == b"PAR1") == (name == "out.parquet")


def test_a_decimal_comma_is_declared_or_named(model: Path) -> None:
    rows = model.parent / "rows.csv"
    rows.write_text("alice.age;city;bob.age\n" + "39,5;Oslo;no\n1.000,5;Oslo;no\n" * 5)
    told = cotally_here("predict", model, rows)
    assert (told.code, told.out) == (2, "")
    assert "most rows would not be read as those that it was learned from" in told.err
    with pytest.warns(UserWarning, match=r'column .*: .*10 are numbers if "," is the decimal sign'):
        load_model(model).predict(str(rows))
    assert '10 are numbers if "," is the decimal sign: use --decimal ","' in told.err
    declared = cotally_here("predict", model, rows, "--decimal", ",")
    assert not declared.err
    assert declared.out.splitlines()[1:] == ['"39,5",Oslo,no,good', '"1.000,5",Oslo,no,bad'] * 5
    assert_one_line(cotally_here("predict", model, rows, "--decimal", "x"), 2, 'decimal must be "." or ","')


def test_what_is_in_columns_that_the_model_does_not_read_does_not_matter_and_is_written_as_it_was(model: Path) -> None:
    rows, out = model.parent / "rows.csv", model.parent / "out.csv"
    note, odd = b"x" * 200_000, b"caf\xe9"
    rows.write_bytes(
        b"alice.age,city,bob.age,note,odd\n17,Oslo,no," + note + b"," + odd + b"\n50,Z\xc3\xbcrich,no,,a\x00b\n"
    )
    ended = cotally_here("predict", model, rows, "-o", out)
    assert ended.code == 0, ended.err
    assert out.read_bytes().splitlines()[1] == b"17,Oslo,no," + note + b"," + odd + b",good"


ASKED = "smoker = yes and drinks = often"


def report_parts(page: Document, section: str) -> Sequence[ReportPart]:
    (found,) = [each.parts for each in page.sections if each.name == section]
    return found


def sentences(page: Document, section: str) -> list[str]:
    return [part for part in report_parts(page, section) if isinstance(part, str) and part]


def grid(page: Document, section: str, number: int = 0) -> list[dict[str, str]]:
    found = [part for part in report_parts(page, section) if isinstance(part, Grid)][number]
    heads = [column.name for column in found.columns]
    return [dict(zip(heads, row, strict=True)) for row in found.rows]


@pytest.fixture(scope="module")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The present folder: a survey by related questions, a tree mined from it, and one by unrelated questions."""
    made = tmp_path_factory.mktemp("survey")
    write_survey(made)
    write_survey(made, UNRELATED, "other")
    with chdir(made):
        assert main(["mine", "tree", "survey.csv", "survey.toml", "-o", "tree.json", "-q"]) == 0
        yield made


@pytest.fixture(scope="module")
def page(report_folder: Path) -> Document:
    with chdir(report_folder):
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
    page: Document, report_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_folder
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
    page: Document, report_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questionnaire = read_design(report_folder / "survey.toml")
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
    page: Document, report_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentences(page, "audit")[0].startswith("OK: the sampler responds as the design declares.")

    def honest(_design: RelatedDesign, codes: Codes, _draw: Draw, _personal: Codes | None = None) -> Codes:
        return np.array(codes)

    monkeypatch.setattr(RelatedDesign, "randomize", honest)
    output = report_folder / "failed.md"
    assert main(["report", "survey.csv", "survey.toml", *FAST, "-o", str(output), "-q"]) == 1
    assert "NOT as declared: " in output.read_text()
    capsys.readouterr()


def test_where_personal_answers_are_known_it_says_how_many_truths_are_certain(report_folder: Path) -> None:
    page, _ = survey_page(parsed("other.csv", "other.toml"))
    rows = {row["group"]: row for row in grid(page, "known")}
    assert {row["epsilon if known"] for row in rows.values()} == {"infinite"}
    assert rows["habits"]["epsilon"] != "infinite"
    questionnaire = read_design(report_folder / "other.toml")
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
    (pairs,) = [part for part in report_parts(page, "checks") if isinstance(part, Pairs)]
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
    lines = [line for line in as_markdown(page).splitlines() if not line.startswith("    ")]
    drawn = {line: re.fullmatch(r"!\[[\w ]+\]\(data:image/svg\+xml;base64,([\w+/=]+)\)", line) for line in lines}
    assert not [line for line, image in drawn.items() if not image and re.search(r"(?<!\\)[<\[]", line)]
    assert not any(b"<script" in b64decode(image[1]) for image in drawn.values() if image)


def test_a_report_audits_as_finely_as_takes_seconds_unless_it_is_asked_for_more(
    report_folder: Path, tmp_path: Path
) -> None:
    assert report_folder
    output = tmp_path / "r.md"
    assert main(["report", "survey.csv", "survey.toml", "-o", str(output), "-q"]) == 0
    assert "one whose theta is off by 1/20 in at least 99.9%" in output.read_text()


def test_mine_says_of_whom_the_truth_is_certain_where_personal_answers_are_known(
    report_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for learner in (["bayes"], ["itemsets", "--min-support", "1/5"]):
        assert main(["mine", learner[0], "other.csv", "other.toml", *learner[1:]]) == 0
        assert "these shares of cases: group habits " in capsys.readouterr().out
        assert main(["mine", learner[0], "survey.csv", "survey.toml", *learner[1:]]) == 0
        assert "certain of" not in capsys.readouterr().out
    assert report_folder
