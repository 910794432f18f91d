"""The maps of the house are true: each room is there once, in the order of imports, and each equation leads home."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

_TOP = Path(__file__).parent.parent


def _rows(page: str, columns: int) -> list[list[str]]:
    lines = (_TOP / page).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [row for row in cells if len(row) == columns and "---" not in row[0]]


def _layers(package: str) -> list[set[str]]:
    """Return the layers that the import rules declare, the lowest first."""
    contracts = tomllib.loads((_TOP / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (own,) = [c for c in contracts if c["type"] == "layers" and c.get("containers") == [package]]
    return [{name.strip() for name in re.split(r"[|:]", layer)} for layer in reversed(own["layers"])]


@pytest.mark.parametrize("package", ["protocols", "party"])
def test_a_map_has_every_room_once_in_the_order_of_imports(package: str) -> None:
    told = [re.fullmatch(r"`(\w+)`", row[0]) for row in _rows(f"{package}/README.md", 2)]
    rooms = [match[1] for match in told if match]
    paths = (_TOP / package).iterdir()
    modules = {p.stem for p in paths if (p.suffix == ".py" and p.stem != "__init__") or (p / "__init__.py").exists()}
    assert sorted(rooms) == sorted(modules)
    layers = _layers(package)
    level = {name: number for number, layer in enumerate(layers) for name in layer}
    assert [level[room] for room in rooms] == sorted(level[room] for room in rooms)


@cache
def _defined(path: Path) -> set[str]:
    """Return the names that a module defines, methods with the name of their class."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            names |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


PLACES = [row for row in _rows("protocols/README.md", 3) if row[0] != "paper"]


def test_each_equation_and_algorithm_leads_to_its_place() -> None:
    assert len(PLACES) > 50
    for row in PLACES:
        match = re.fullmatch(r"`([\w/.]+)` `([\w.]+)`", row[2])
        assert match, row
        assert match[2] in _defined(_TOP / match[1]), row


def test_every_paper_is_on_the_map_of_equations() -> None:
    papers = set(re.findall(r"^### (.+)$", (_TOP / "protocols" / "PAPERS.md").read_text(), re.MULTILINE))
    assert {paper for paper in papers if not any(row[0].startswith(paper) for row in PLACES)} == set()
