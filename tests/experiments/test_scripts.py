"""Every benchmark runs in its small form, so that none rots (experiments: `test_figures`)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.examples import few

ROOT = Path(__file__).parents[2]


def run_script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)


BENCHMARKS = [
    ("primitives", "operation", 15),
    ("transfers", "bytes", 21),
    ("growth", "memory_mib", 1),
    ("whole_trees", "phases", 1),
    ("estimates", "node_passes", 12),
    ("other_systems", "system", 4),
    ("baskets", "seconds_mining", 1),
    ("prediction", "processor_seconds", 2),
    ("alignment", "megabytes", 3),
    ("published", "reveals", 2),
    ("cluster", "same_model", 4),
    ("reading", "of_pandas", 5),
]


@pytest.mark.parametrize(("name", "column", "rows"), few(BENCHMARKS, 4))
def test_a_benchmark_runs_small_and_writes_its_results(tmp_path: Path, name: str, column: str, rows: int) -> None:
    done = run_script(f"benchmarks/{name}.py", "--quick", "--out", str(tmp_path / "result.json"))
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert set(result["machine"]) == {"processor", "cores", "python", "system"}
    assert len(result["rows"]) == rows
    assert all(column in row for row in result["rows"])


@pytest.mark.full
def test_forecasts_are_held_against_what_happened(tmp_path: Path) -> None:
    done = run_script("benchmarks/forecasts.py", "--quick", "--out", str(tmp_path / "result.json"))
    rows = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert [(row["line"], row["reveal"]) for row in rows] == [(False, "counts"), (True, "counts"), (True, "tree")]
    asserted = ("seconds", "bytes", "memory", "round_trips")
    missed = {name for name in asserted for row in rows if not 0.5 <= row[f"{name}_ratio"] <= 2}
    assert done.returncode == bool(missed), done.stdout
    assert not {"bytes", "round_trips"} & missed  # seconds depend on who else uses the machine
