"""What is built and what is installed: a wheel with all that the code opens, and pins with hashes for all it needs."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("party", "protocols")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PINS = (ROOT / "scripts" / "constraints.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of the files in a wheel built from a copy, for a build writes beside what it reads."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(built)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(built.glob("cotally-*.whl"))) as archive:
        return set(archive.namelist())


def test_a_wheel_holds_every_file_of_both_packages(wheel: set[str]) -> None:
    files = (path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    kept = {path.as_posix() for path in files if "__pycache__" not in path.parts}
    assert {"party/py.typed", "protocols/DESIGN.md", "party/datasets/adult.csv.xz"} <= kept
    facade = "party/api/"  # what programs import as `cotally`
    assert {name for name in wheel if name.startswith((*PACKAGES, "cotally/"))} == {
        name.removeprefix(facade) for name in kept
    }
    assert "cotally/py.typed" in wheel


def test_a_wheel_holds_the_licence_and_nothing_else(wheel: set[str]) -> None:
    others = {name.partition("/")[2] for name in wheel if not name.startswith((*PACKAGES, "cotally/"))}
    assert others == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE"}


def pinned() -> dict[str, tuple[str, str]]:
    """Return version and the rest of the entry for each name in the pins."""
    entries = re.findall(r"^([\w.-]+)==(\S+)((?:.*\\\n)+.*)", PINS, re.MULTILINE)
    return {canonicalize_name(name): (version, rest) for name, version, rest in entries}


def test_every_pin_has_hashes_and_none_names_a_place() -> None:
    assert len(pinned()) == len(re.findall("==", re.sub(r";.*", "", PINS)))
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", rest) for _, rest in pinned().values())
    assert "://" not in PINS


def test_all_that_is_asked_for_is_pinned_within_its_bounds() -> None:
    project = PYPROJECT["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    asked = [
        *PYPROJECT["build-system"]["requires"],
        *project["dependencies"],
        *(each for extra in extras.values() for each in extra),
    ]
    for requirement in map(Requirement, asked):
        version, _ = pinned()[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), requirement


def public_names(path: Path) -> list[str]:
    """Return the classes, functions and constants that a module defines and does not keep to itself."""
    names = []
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def test_no_public_name_means_two_things() -> None:
    files = [
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "wire/v1" not in path.as_posix()
    ]
    found = [(name, path) for path in files for name in public_names(path) if name != "FORMAT" and len(name) > 1]
    assert [name for name, times in Counter(name for name, _ in found).items() if times > 1] == []
