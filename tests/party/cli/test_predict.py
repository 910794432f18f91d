"""Scores, ranks, thresholds and quality that `cotally predict` gives are those of scikit-learn on the same rows."""

import base64
import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from party.data import read_frame
from party.data.writer import write_table
from party.models.any_file import model_json
from protocols.learning.model import Model
from protocols.secret_tree.tenths import with_tenths
from protocols.tables import Codes
from protocols.terms import Growth, Leaves
from tests.protocols.secret_tree.test_growth import Game
from tests.protocols.secret_tree.test_tenths import bare, counted
from tests.support.models import bayes_of
from tests.support.plain import schema_of
from tests.support.processes import assert_one_line, cotally_here

SIZES = (3, 4, 2, 3)
KINDS = ("labels", "counts", "tenths", "bayes")


@cache
def records(classes: int) -> Codes:
    """Return records whose last class is the rarest, or all but as rare."""
    rng = np.random.default_rng(classes)
    columns = [rng.integers(0, size, 700) for size in SIZES]
    hint = columns[0] + (columns[1] > 1) + rng.normal(0, 0.7, 700)
    label = np.digitize(hint, [1.9, 2.7][: classes - 1])
    return np.stack([*columns, label], axis=1).astype(np.uint8)


def model_of(kind: str, classes: int) -> Model:
    if kind == "bayes":
        return bayes_of(SIZES, classes, 5)
    growth = Growth(max_depth=3, min_leaf=20, leaves=Leaves.TENTHS if kind == "tenths" else Leaves.LABEL)
    tree = counted(Game(schema_of(SIZES, classes, 2), records(classes), growth))
    return bare(with_tenths(tree)) if kind == "tenths" else bare(tree) if kind == "labels" else tree


def test_a_class_that_a_spreadsheet_takes_for_a_formula_is_noted_and_a_number_is_not(tmp_path: Path) -> None:
    model = model_of("labels", 2)
    for values, noted in ((("-1", "=cmd|' /C calc'!A0"), 1), (("-1", "0"), 0)):
        label = replace(model.schema.class_attribute, values=values)
        named = replace(model, schema=replace(model.schema, class_attribute=label))
        (tmp_path / "m.json").write_text(model_json(named))
        cells = [[each.values[0]] for each in model.schema.attributes]
        write_table(tmp_path / "rows.csv", [each.name for each in model.schema.attributes], cells)
        ended = cotally_here("predict", tmp_path / "m.json", tmp_path / "rows.csv")
        assert ended.code == 0, ended.err
        assert ended.err.count("is a formula to a spreadsheet") == noted


@pytest.fixture
def files(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    """The files of a model and of rows that have its class."""
    model = model_of(*request.param)
    attributes = (*model.schema.attributes, model.schema.class_attribute)
    cells = [
        [each.values[code] for code in column]
        for each, column in zip(attributes, records(request.param[1]).T, strict=True)
    ]
    (tmp_path / "m.json").write_text(model_json(model))
    write_table(tmp_path / "rows.csv", [each.name for each in attributes], cells)
    return tmp_path / "m.json", tmp_path / "rows.csv"


ASKED = [(("tenths", 2), ()), (("tenths", 2), ("--threshold", "6/10")), (("counts", 2), ("--threshold", "0.35")),
         (("counts", 3), ("--ranked", "c1")), (("tenths", 3), ("--ranked", "c2", "--threshold", "0.4")),
         (("bayes", 2), ("--threshold", "0.25")), (("bayes", 3), ("--ranked", "0"))]  # fmt: skip


@pytest.mark.parametrize(("files", "asked"), ASKED, indirect=["files"])
def test_what_is_said_of_rows_is_what_scikit_learn_says(files: tuple[Path, Path], asked: tuple[str, ...]) -> None:
    from scipy.stats import rankdata
    from sklearn import metrics

    out = files[1].with_name("out.csv")
    ended = cotally_here("predict", *files, "-o", out, "--scores", "--probabilities", *asked, "--json")
    assert ended.code == 0, ended.err
    told, table = json.loads(ended.out), read_frame(out)
    name = told["ranking"]["class"]
    assert f"a row's score is the share of {name} where it ends" in ended.err

    def column(name: str) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return np.array(table.column(name).cells, dtype=np.str_)

    own, said, score = column("class"), column("prediction"), column("score").astype(float)
    is_it, is_said = own == name, said == name
    assert np.array_equal(score, column(f"P({name})").astype(float))
    assert np.array_equal(column("rank").astype(float), rankdata(-score, method="min"))
    if "--threshold" in asked:
        assert np.array_equal(is_said, score >= float(Fraction(asked[-1])))
    quality, ranking = told["quality"], told["ranking"]
    classes = list(quality["confusion"])
    assert quality["accuracy"]["share"] == pytest.approx(metrics.accuracy_score(own, said))
    assert quality["commonest"]["share"] == pytest.approx(max(np.mean(own == each) for each in classes))
    assert np.array_equal(list(quality["confusion"].values()), metrics.confusion_matrix(own, said, labels=classes).T)
    alarms, found, _ = metrics.roc_curve(is_it, score)
    expected = {
        "auc": metrics.roc_auc_score(is_it, score),
        "ks": (found - alarms).max(),
        "recall": metrics.recall_score(is_it, is_said),
        "precision": metrics.precision_score(is_it, is_said),
    }
    assert {name: ranking[name]["share"] for name in expected} == pytest.approx(expected)
    for each in ranking["thresholds"]:
        selected = score >= each["least"] - 1e-6
        assert each["selected"] == pytest.approx(selected.mean())
        assert each["found"] == pytest.approx(selected[is_it].mean())
        assert each["right"] == pytest.approx(is_it[selected].mean())
    assert ranking["thresholds"][-1]["selected"] == 1
    distinct = len({*score})
    assert len(ranking["thresholds"]) == distinct if distinct <= 12 else 5 <= len(ranking["thresholds"]) <= 10


@pytest.mark.parametrize("files", [("tenths", 2)], indirect=True)
def test_a_screen_shows_the_same_numbers(files: tuple[Path, Path]) -> None:
    told = json.loads(cotally_here("predict", *files, "-o", files[1].with_name("out.csv"), "--json").out)
    html, markdown = (files[1].with_name(f"page.{end}") for end in ("html", "md"))
    for page in (html, markdown):
        assert cotally_here("predict", *files, "-o", page.with_name("o.csv"), "--overwrite", "--report", page).code == 0
    assert "<svg" in html.read_text()
    (image,) = re.findall(
        r"^!\[ROC, lift and calibration\]\(data:image/svg\+xml;base64,(\S+)\)$", markdown.read_text(), re.MULTILINE
    )
    assert ET.fromstring(base64.b64decode(image)).tag == "{http://www.w3.org/2000/svg}svg"
    assert f"{told['ranking']['auc']['share']:.3f}" in markdown.read_text()
    said = cotally_here("predict", *files).err
    for of, name in (("quality", "accuracy"), ("ranking", "auc"), ("ranking", "ks"), ("ranking", "recall")):
        figure = told[of][name]
        assert f"{figure['share']:.3f} ± {figure['standard_error']:.3f}" in said
    shown = [line.split() for line in said.splitlines()]
    for label, row in told["quality"]["confusion"].items():
        assert [label, *(f"{number:.0f}" for number in row)] in shown
    for each in told["ranking"]["thresholds"]:
        shares = [f"{each[part]:.1%}" for part in ("selected", "found", "right")]
        assert [f"{each['least']:.3f}", *shares, f"{each['found'] / each['selected']:.2f}"] in shown


REFUSED = [
    (("labels", 2), ("--scores",), "rows cannot be ranked: the model has classes alone"),
    (("counts", 3), ("--scores",), "--ranked must be one of c0, c1, c2"),
    (("counts", 2), ("--ranked", "c7"), "--ranked must be one of c0, c1"),
    (("counts", 2), ("--threshold", "1.5"), "--threshold must be from 0 to 1"),
    (("counts", 2), ("--threshold", "half"), "--threshold must be an exact number"),
    (("counts", 2), ("--scores", "--column", "rank"), "the file has a column of this name already"),
    (("labels", 2), ("--probabilities",), "nobody knows the shares of its leaves"),
    (("counts", 2), ("--report", "page.txt"), "--report page.txt must end in one of .html"),
    (("counts", 2), ("--answered", "--scores"), "are for a model without a peer: with one take --probabilities"),
]


@pytest.mark.parametrize(("files", "asked", "why"), REFUSED, indirect=["files"])
def test_what_cannot_be_ranked_is_refused_in_one_line(
    files: tuple[Path, Path], asked: tuple[str, ...], why: str
) -> None:
    assert_one_line(cotally_here("predict", *files, "-o", files[1].with_name("out.csv"), *asked), 2, why)
    assert not files[1].with_name("out.csv").exists()


@pytest.mark.parametrize("files", [("labels", 2)], indirect=True)
def test_a_model_of_classes_alone_has_its_quality_without_thresholds(files: tuple[Path, Path]) -> None:
    said = cotally_here("predict", *files).err
    assert "AUC" in said
    assert "Score of at least" not in said
