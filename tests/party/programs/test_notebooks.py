"""The notebooks of the examples run from the first cell to the last, and say what their text says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "scripts" / "examples"
SAYS = {
    "two_parties.ipynb": ["accuracy on held-out records: 0.", "exact counts", "What bob learned from us:"],
    "survey.ipynb": ["estimated from disguised answers: 0.", "income [low, high]", "in truth: 0."],
}


def code_of(notebook: Path) -> str:
    """Return the code of all cells, in their order."""
    content = json.loads(notebook.read_text("utf-8"))
    assert content["nbformat"] == 4
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    return "\n".join("".join(cell["source"]) for cell in cells)


def test_every_notebook_has_its_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.ipynb")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_a_notebook_runs_to_its_end(name: str, tmp_path: Path) -> None:
    program = tmp_path / "cells.py"
    program.write_text(code_of(EXAMPLES / name), "utf-8")
    path = os.pathsep.join([str(ROOT), str(ROOT / "party" / "api")])
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout
