"""Every figure of the papers: its small form runs, its full results are there and belong to its parameters."""

import csv
import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.experiments.test_claims import run_script
from tests.support.examples import few

FOLDER = Path(__file__).parents[2] / "scripts" / "experiments"
NAMES = (
    "du_zhan_2003_figure_2",
    *(f"multi_group_figure_{number}" for number in (3, 4, 5, 6)),
    *(f"hybrid_2007_figure_{number}" for number in ("2b", "3a", "3b", "4a", "4b")),
    "hybrid_2007_table_1",
    "hybrid_2007_tic_tac_toe_a",
    "hybrid_2007_tic_tac_toe_b",
    *(f"surveys_figure_{number}" for number in (2, 3, 4, 5, 6, 7)),
    *(f"surveys_figure_{number}_by_codes" for number in (2, 7)),
    "review_discovery",
    "review_errors",
    "noise_accuracy",
    "question_binning",
    "question_cost_ratio",
    "question_rules_budget",
    "question_shared_coins",
    "question_theta_zero",
    "question_window_auto",
    "question_window_one",
)
STATISTICS = ("mean", "variance", "deviation", "repetitions", "seed", "version", "parameters")


@pytest.fixture(scope="module", autouse=True)
def scripts_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all figures: those of one sweep share its runs."""
    return tmp_path_factory.mktemp("experiments")


@pytest.fixture(scope="module")
def harness(scripts_on_the_path: None) -> ModuleType:
    return importlib.import_module("_command")


def figure_of(name: str) -> Any:
    return importlib.import_module(name).FIGURE


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_script_is_listed_here() -> None:
    assert {path.stem for path in FOLDER.glob("[a-z]*.py")} == set(NAMES)


@pytest.mark.parametrize("name", few(NAMES, 4))
def test_the_small_form_runs(name: str, folder: Path, harness: ModuleType) -> None:
    figure = figure_of(name).small()
    lines = harness.make(figure, folder, 1)
    rows = read(folder / "results" / f"{name}.csv")
    assert len(rows) == len(lines) > 0
    assert {row["parameters"] for row in rows} == {sweep.parameters for sweep in figure.sweeps}


@pytest.mark.parametrize("name", NAMES)
def test_the_full_results_belong_to_the_parameters(name: str) -> None:
    sweeps = {sweep.parameters: sweep for sweep in figure_of(name).sweeps}
    rows = read(FOLDER / "results" / f"{name}.csv")
    for row in rows:
        assert tuple(row)[-len(STATISTICS) :] == STATISTICS
        sweep = sweeps[row["parameters"]]
        assert row["seed"] == str(sweep.seed)
        assert row["repetitions"] == str(sweep.repetitions)
        assert row["version"]
        float(row["mean"])
        assert (row["variance"] == "") == (sweep.repetitions == 1)
        axes = list(sweep.cells[0])
        assert [row[axis] for axis in axes] in [[str(cell[axis]) for axis in axes] for cell in sweep.cells]
    assert next(iter(sweeps)) in {row["parameters"] for row in rows}


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_plot(name: str) -> None:
    text = (FOLDER / "plots" / f"{name}.svg").read_text()
    assert text.startswith("<?xml")
    assert "<dc:date>" not in text


@pytest.mark.parametrize("name", NAMES)
def test_the_page_names_every_figure(name: str) -> None:
    assert f"{name}.csv" in (FOLDER / "README.md").read_text()


def test_an_interrupted_run_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, harness: ModuleType) -> None:
    figure = figure_of("multi_group_figure_5").small()
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    harness.make(figure, whole, 1)
    lines = (whole / "raw" / "multi_group_votes.jsonl").read_text().splitlines(keepends=True)
    (broken / "raw").mkdir(parents=True)
    (broken / "raw" / "multi_group_votes.jsonl").write_text("".join([*lines[:4], lines[4][: len(lines[4]) // 2]]))
    harness.make(figure, broken, 1)
    for kind, ending in (("results", "csv"), ("plots", "svg")):
        left, right = (root / kind / f"multi_group_figure_5.{ending}" for root in (whole, broken))
        assert left.exists() == right.exists()
        assert not left.exists() or left.read_bytes() == right.read_bytes()
    assert len((broken / "raw" / "multi_group_votes.jsonl").read_text().splitlines()) == len(lines)


def test_the_order_in_which_repetitions_end_does_not_matter(tmp_path: Path, harness: ModuleType) -> None:
    figure = figure_of("surveys_figure_3").small()
    harness.make(figure, tmp_path / "left", 1)
    raw = (tmp_path / "left" / "raw" / "surveys_breast-cancer.jsonl").read_text().splitlines()
    (tmp_path / "right" / "raw").mkdir(parents=True)
    shuffled = [raw[0], *reversed(raw[1:])]
    (tmp_path / "right" / "raw" / "surveys_breast-cancer.jsonl").write_text("\n".join(shuffled) + "\n")
    harness.make(figure, tmp_path / "right", 1)
    left, right = (tmp_path / side / "results" / "surveys_figure_3.csv" for side in ("left", "right"))
    assert left.read_bytes() == right.read_bytes()


def test_two_processes_find_what_one_finds(tmp_path: Path, harness: ModuleType) -> None:
    done = run_script("experiments/surveys_figure_3.py", "--quick", "--workers", "2", "--out", str(tmp_path / "two"))
    assert done.returncode == 0, done.stderr
    assert "s left" in done.stderr
    harness.make(figure_of("surveys_figure_3").small(), tmp_path / "one", 1)
    one, two = (tmp_path / number / "results" / "surveys_figure_3.csv" for number in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_more_repetitions_keep_those_that_are_there(tmp_path: Path, harness: ModuleType) -> None:
    figure = figure_of("surveys_figure_3").small()
    harness.make(figure, tmp_path, 1)
    raw = tmp_path / "raw" / "surveys_breast-cancer.jsonl"
    before = raw.read_text()
    harness.make(replace(figure, sweep=replace(figure.sweep, repetitions=3)), tmp_path, 1)
    assert raw.read_text().startswith(before)
    assert {row["repetitions"] for row in read(tmp_path / "results" / "surveys_figure_3.csv")} == {"3"}


@pytest.mark.parametrize("name", ["adult", "mushroom", "breast-cancer", "votes", "tic-tac-toe"])
def test_the_papers_data_have_two_values_a_column(name: str) -> None:
    data = importlib.import_module("_data")
    table = data.binary_table(name, data.QUICK_RECORDS[name])
    assert {attribute.size for attribute in table.attributes} <= {1, 2}


def test_runs_of_other_parameters_are_not_mixed_in(tmp_path: Path, harness: ModuleType) -> None:
    figure = figure_of("surveys_figure_6").small()
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "surveys_figure_6.jsonl").write_text('{"sweep": "surveys_figure_6", "setting": "other"}\n')
    with pytest.raises(SystemExit, match="other parameters"):
        harness.make(figure, tmp_path, 1)


def full(name: str, **labels: str) -> list[dict[str, str]]:
    rows = read(FOLDER / "results" / f"{name}.csv")
    return [row for row in rows if all(row[key] == value for key, value in labels.items())]


@pytest.mark.parametrize(
    ("name", "theta"),
    [
        ("du_zhan_2003_figure_2", "1.0"),
        ("multi_group_figure_3", "1.0"),
        ("surveys_figure_2", "1.0"),
        ("surveys_figure_2_by_codes", "1.0"),
    ],
)
def test_the_whole_truth_gives_the_original_accuracy_without_variance(name: str, theta: str) -> None:
    (original,) = {row["mean"] for row in full(name, method="original", theta=theta)}
    for row in full(name, method="randomized", theta=theta):
        assert (row["mean"], row["variance"]) == (original, "0")


def test_adult_by_the_order_of_its_documentation_reaches_what_surveys_prints() -> None:
    """The middle of the range of codes, numbers at the median of the records: 0.82 undisguised, printed 0.82."""
    found = full("question_binning", numbers="middle of the codes", learner="naive Bayes", question="none")
    assert float(found[0]["mean"]) == pytest.approx(0.82, abs=0.005)


def test_nothing_but_lies_on_two_values_does_as_well_as_the_whole_truth() -> None:
    for row in full("question_theta_zero", values="two", quantity="test records classified alike"):
        least = 0.997 if row["data"] == "tic-tac-toe" and row["groups"] != "1" else 1  # ties that rounding breaks
        assert float(str(row["mean"])) >= least


def test_the_unrelated_question_beats_the_related_one_near_one_half() -> None:
    related, unrelated = (
        float(full("surveys_figure_7", question=question, theta="0.51", method="randomized")[0]["mean"])
        for question in ("related", "unrelated")
    )
    assert unrelated > related + 0.05


def test_single_entry_privacy_is_that_of_the_formula() -> None:
    values = {(row["W_a"], row["theta"]): float(row["mean"]) for row in full("surveys_figure_6")}
    assert values["0.5", "0"] == pytest.approx(1 / 2)
    assert values["0.5", "0.3"] == pytest.approx(91 / 200)
    assert values["0.1", "0.5"] == pytest.approx(9 / 56, rel=1e-5)
    assert values["0.1", "1"] == 0
