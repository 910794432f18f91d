import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from party.records.run_file import (
    BytesSent,
    DataFacts,
    Parameters,
    ReportError,
    Row,
    RunReport,
    TrainReport,
    TreeSize,
    read_train_report,
    write_run,
    write_train_report,
)
from party.show.document import laid_out
from party.show.runs import run_table, size_text
from protocols.terms import Counting, Method

ROW = Row(
    method="hybrid",
    omega=2,
    accuracy=0.75,
    smc_computations=1500,
    cost_ratio=0.42,
    seconds=12.34,
    bytes_sent=BytesSent(12_345, 5_600_000),
    round_trips=22,
    exact_counts_disclosed=1501,
    tree=TreeSize(513, 8),
    equals_plain_id3=False,
    counting=Counting.PAILLIER,
)
SMC = replace(ROW, method="smc", omega=None, cost_ratio=1.0)
OF_PLAIN = replace(ROW, method="plain", omega=None, cost_ratio=None, bytes_sent=None, round_trips=None, counting=None)
FAST = replace(ROW, counting=Counting.OBLIVIOUS_TRANSFER, seconds=1.5)
REPORT = RunReport(DataFacts("tic-tac-toe", 767, 191, 9, 2), Parameters("9/20", 3072, 1), (OF_PLAIN, ROW, SMC))
TRAINED = TrainReport(
    "5e", Method.HYBRID, 2, 0.75, 3.0, 4, 100, 1.5, 10, 20, 7, 101, {"tables": 98, "classes": 2, "accuracy": 1}
)


def test_run_json_is_as_the_readme_says(tmp_path: Path) -> None:
    write_run(tmp_path / "run.json", REPORT)
    content = json.loads((tmp_path / "run.json").read_text())
    assert content["format"] == "cotally-run/2"
    assert content["data"] == {
        "name": "tic-tac-toe", "rows_train": 767, "rows_test": 191, "attributes": 9, "classes": 2,
    }  # fmt: skip
    assert content["parameters"] == {
        "theta": "9/20", "key_bits": 3072, "seed": 1,
            "max_depth": None, "min_leaf": 1, "impurity": "information_gain", "noise": None,
                "reveal": "counts",
    }  # fmt: skip
    assert content["rows"][1] == {
        "method": "hybrid", "omega": 2, "accuracy": 0.75, "smc_computations": 1500, "cost_ratio": 0.42,
        "seconds": 12.34, "bytes_sent": {"alice": 12345, "bob": 5600000}, "round_trips": 22,
        "exact_counts_disclosed": 1501, "tree": {"nodes": 513, "depth": 8}, "equals_plain_id3": False,
        "counting": "paillier",
    }  # fmt: skip
    assert content["rows"][0]["bytes_sent"] is None
    assert list(content) == ["format", "data", "parameters", "rows"]


def test_the_table_has_a_line_a_row_with_its_costs_beside_its_ratio() -> None:
    lines = laid_out([run_table([ROW, OF_PLAIN, replace(ROW, omega=None, accuracy=None, equals_plain_id3=True)])], 200)
    assert lines[1].split()[:2] == ["method", "accuracy"]
    assert lines[3].split() == [
        "hybrid", "ω=2", "0.750", "1,500", "42.0%", "12.3", "5.6", "MB", "22", "1,501", "513", "8", "no",
    ]  # fmt: skip
    assert lines[4].split() == ["plain", "0.750", "1,500", "-", "12.3", "-", "-", "1,501", "513", "8", "no"]
    assert lines[5].split()[:3] == ["hybrid", "ω=all", "-"]
    assert lines[5].endswith("yes")
    assert len({len(line) for line in lines[:6]}) == 1


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (200, ""),
        (80, "round trips, counts revealed, depth"),
        (60, "SMC comp., round trips, counts revealed, nodes, depth"),
    ],
)
def test_the_table_leaves_out_what_has_no_room_and_says_so(width: int, left_out: str) -> None:
    large = replace(ROW, smc_computations=1_000_000, exact_counts_disclosed=1_000_001, seconds=1234.5, round_trips=100)
    lines = laid_out([run_table([large, SMC])], width)
    assert max(map(len, lines[:5])) <= width
    said = f"Left out, as the screen is too narrow: {left_out}; run.json has all."
    assert (
        " ".join(" ".join(lines).split()).endswith(said) if left_out else not any("Left out" in line for line in lines)
    )


def test_the_table_has_rows_of_each_way() -> None:
    assert REPORT.of("smc") is SMC
    assert REPORT.of("randomized") is None
    both = replace(REPORT, rows=(*REPORT.rows, FAST))
    assert [way.rows for way in both.ways()] == [(OF_PLAIN, ROW, SMC), (OF_PLAIN, FAST)]
    assert replace(REPORT, rows=(OF_PLAIN,)).ways() == []
    for size, text in (
        (0, "0 B"), (1500, "1.5 kB"), (999_600, "1000 kB"), (53_000_000, "53 MB"), (2 * 10**13, "20 TB"),
    ):  # fmt: skip
        assert size_text(size) == text


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_report_of_train_is_read(tmp_path: Path) -> None:
    write_train_report(tmp_path / "r.json", replace(TRAINED, phases={"COPIES": 1.5}))
    assert read_train_report(tmp_path / "r.json").phases == {"COPIES": 1.5}
    assert read_train_report(write(tmp_path / "r.json", asdict(TRAINED))) == TRAINED
    estimate = {**asdict(TRAINED), "method": "randomized", "omega": None, "accuracy": -1.25, "correct": -5.0}
    assert read_train_report(write(tmp_path / "r.json", estimate)).accuracy == -1.25
    untested = {**asdict(TRAINED), "accuracy": None, "correct": None, "records_test": 0}
    assert read_train_report(write(tmp_path / "r.json", untested)).correct is None


def test_what_is_no_report_of_train_is_refused(tmp_path: Path) -> None:
    phases = [["COPIES"], *({"COPIES": wrong} for wrong in ("1", True, -1.0, None, float("inf"))), 1]
    changes: list[dict[str, Any]] = [
        {"method": "plain"}, {"omega": 0}, {"omega": "all"}, {"accuracy": "0.5"}, {"correct": True}, {"seconds": None},
        {"bytes_sent": -1}, {"bytes_received": 1.5}, {"round_trips": None}, {"smc_computations": True}, {"run": None},
        {"exact_counts_disclosed": "3"}, {"counts_of": {"tables": "98"}}, {"records_test": None}, {"seen": 3},
        {"seen": {"one_group": -1}}, {"extra": 1}, *({"phases": each} for each in phases),
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(ReportError):
            read_train_report(write(tmp_path / "r.json", {**asdict(TRAINED), **change}))


def test_a_report_that_is_no_json_is_refused(tmp_path: Path) -> None:
    for content in ("", "[" * 100_000, "NaN", "[]", json.dumps([*asdict(TRAINED)])):
        (tmp_path / "r.json").write_text(content)
        with pytest.raises(ReportError, match=r"r\.json"):
            read_train_report(tmp_path / "r.json")
