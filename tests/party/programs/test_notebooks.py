"""The notebooks of the examples run by Jupyter from the first cell to the last, and say what their text says."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

nbformat, nbclient = import_module("nbformat"), import_module("nbclient")  # Jupyter leaves both nearly untyped
ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "scripts" / "examples"
SAYS = {
    "two_parties.ipynb": ["accuracy on held-out records: 0.", "0 exact counts crossed", "What bob learned from us:"],
    "survey.ipynb": ["estimated from disguised answers: 0.", "income [low, high]", "in truth: 0."],
}


def read(name: str) -> Any:
    """Return a notebook, which is one and holds no results."""
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    return notebook


def told(notebook: Any) -> str:
    """Return what all cells have printed."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_every_notebook_has_its_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.ipynb")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_the_cells_of_a_notebook_run_in_their_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in read(name).cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    said = capsys.readouterr().out
    assert [words for words in SAYS[name] if words not in said] == []


@pytest.mark.full
@pytest.mark.parametrize("name", SAYS)
def test_a_notebook_runs_to_its_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "party" / "api")])
    monkeypatch.setenv("PYTHONPATH", paths)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = read(name)
    place = {"metadata": {"path": tmp_path}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    for words in SAYS[name]:
        assert words in told(notebook)
