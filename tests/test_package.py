"""What is built and installed: an archive of everything, a wheel of what the code opens, pins with hashes, an image."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from fnmatch import fnmatch
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from party.settings.template import party_files

ROOT = Path(__file__).parents[1]
PACKAGES = ("party", "protocols")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NODE = (ROOT / "scripts" / "deploy" / "constraints.txt").read_text("utf-8")  # what a node runs on
PINS = NODE + (ROOT / "scripts" / "constraints.txt").read_text("utf-8")
CONTAINERFILE = (ROOT / "scripts" / "deploy" / "Containerfile").read_text("utf-8")
SKIPPED = [".git"] + [
    line.strip("/").rpartition("/")[2] for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()
]


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind: str, folder: Path, built: Path) -> Path:
    """Build an archive or a wheel of what stands in a folder, as `pip` lets it be built."""
    run("-c", f"from setuptools import build_meta; build_meta.build_{kind}({str(built)!r})", folder=folder)
    return next(path for path in built.iterdir() if path.is_file())


def files(folder: Path) -> set[str]:
    """Return the names of what is kept below a folder."""
    found = set()
    for top, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not any(fnmatch(each, skipped) for skipped in SKIPPED)]
        kept = (each for each in names if not any(fnmatch(each, skipped) for skipped in SKIPPED))
        found |= {(Path(top) / each).relative_to(folder).as_posix() for each in kept}
    return found


def test_an_archive_holds_every_file_and_makes_a_wheel_of_both_packages_and_the_licence(tmp_path: Path) -> None:
    """The archive is built from a copy, for a build writes beside what it reads, and unpacked elsewhere."""
    source, built, wheels = (tmp_path / name for name in ("source", "built", "wheels"))
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*SKIPPED))
    built.mkdir()
    with tarfile.open(build("sdist", source, built)) as archive:
        archive.extractall(built, filter="data")
    (unpacked,) = (path for path in built.iterdir() if path.is_dir())
    every = files(ROOT)
    assert {".ci/run", "proto/party/wire/v1/node.proto", "scripts/lock", "tests/corpus/page.txt"} <= every
    assert every - files(unpacked) == set()
    wheels.mkdir()
    with zipfile.ZipFile(build("wheel", unpacked, wheels)) as archived:
        wheel = set(archived.namelist())
    kept = {name for name in every if name.startswith(tuple(f"{package}/" for package in PACKAGES))}
    assert {"party/py.typed", "protocols/DESIGN.md", "party/datasets/adult.csv.xz"} <= kept
    facade = "party/api/"  # what programs import as `cotally`
    own = {name for name in wheel if name.startswith((*PACKAGES, "cotally/"))}
    assert own == {name.removeprefix(facade) for name in kept} >= {"cotally/py.typed"}
    others = {name.partition("/")[2] for name in wheel - own}
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


def needed(*names: str) -> set[str]:
    """Return these projects and all that they need here."""
    asked = [Requirement(each) for name in names for each in requires(name) or []]
    below = {each.name for each in asked if each.marker is None or each.marker.evaluate({"extra": ""})}
    return {canonicalize_name(name) for name in names} | (needed(*below) if below else set())


def pins_of(text: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def test_a_node_has_pins_of_its_own_for_all_that_it_runs_on_and_for_nothing_of_development() -> None:
    builds = [Requirement(each).name for each in PYPROJECT["build-system"]["requires"]]
    extra = [Requirement(each).name for each in PYPROJECT["project"]["optional-dependencies"]["metrics"]]
    assert pins_of(NODE) == needed("cotally", *extra, *builds) - {"cotally"}


def test_all_commands_load_where_nothing_is_installed_but_a_nodes_pins() -> None:
    modules = [f"party.cli.{path.stem}" for path in (ROOT / "party" / "cli").glob("[!_]*.py")]
    own = {"cotally", *pins_of(NODE)}
    others = [name for name, by in packages_distributions().items() if own.isdisjoint(map(canonicalize_name, by))]
    assert {"sklearn", "starlette", "pytest"} <= {*others}
    code = (
        "import sys, importlib; sys.modules.update(dict.fromkeys({others})); [*map(importlib.import_module, {modules})]"
    )
    run("-c", code.format(others=others, modules=modules), folder=ROOT)


def test_the_image_holds_a_nodes_pins_alone_and_runs_as_nobody() -> None:
    copied = {
        name for line in re.findall(r"^COPY (?!--from)(.+)$", CONTAINERFILE, re.MULTILINE) for name in line.split()[:-1]
    }
    assert copied == {"pyproject.toml", "README.md", "LICENSE", "scripts/deploy/constraints.txt", *PACKAGES}
    installs = re.findall(r" install (.*?)(?: &&|$)", CONTAINERFILE, re.MULTILINE)
    assert [each.split()[-1] for each in installs] == ["constraints.txt", "."]
    assert all("--no-deps" in each for each in installs)
    assert "--require-hashes" in installs[0]
    last = CONTAINERFILE.rpartition("\nFROM ")[2]
    assert "pip" not in last
    assert re.findall(r"^USER (.*)", last, re.MULTILINE) == ["65534:65534"]


def test_the_image_is_healthy_while_somebody_listens_on_the_port_that_a_new_party_has() -> None:
    usual = party_files("alice", 2048)["party.toml"]
    (port,) = re.findall(r"^EXPOSE (\d+)$", CONTAINERFILE, re.MULTILINE)
    assert f'listen = "0.0.0.0:{port}"' in usual
    (health,) = re.findall(r"^HEALTHCHECK CMD (.*)$", CONTAINERFILE, re.MULTILINE)
    with socket.create_server(("127.0.0.1", 0)) as node:
        python, *code = json.loads(health.replace(port, str(node.getsockname()[1])))
        assert python == "python"
        run(*code, folder=ROOT)
    with pytest.raises(AssertionError, match="ConnectionRefusedError"):
        run(*code, folder=ROOT)


def test_python_m_runs_it() -> None:
    version = f"cotally {PYPROJECT['project']['version']}\n"
    assert run("-m", "cotally", "--version", folder=ROOT / "party" / "api") == version


def test_no_public_name_means_two_things() -> None:
    """A module's classes, functions and constants begin its lines."""
    files = [
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "wire/v1" not in path.as_posix()
    ]
    defined = re.compile(r"^(?:(?:class|def) ([a-zA-Z]\w+)|([A-Z]\w+)(?:: [^=\n]+)? = )", re.MULTILINE)
    names = [name for path in files for found in defined.findall(path.read_text("utf-8")) for name in found if name]
    assert len(names) > 1000
    assert {name for name, times in Counter(names).items() if times > 1} == {"FORMAT"}
