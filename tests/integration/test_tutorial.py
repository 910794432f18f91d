"""The tutorial and the how-tos are true: their files are written, their commands run, and print what is quoted of them.

Numbers, fingerprints, moments and the lower levels of a tree differ from run to run: they are compared by their shape,
but for those of `check`, which draws nothing.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from party.demo.processes import free_port
from tests.support.processes import cotally, start

PAGES = Path(__file__).parents[2] / ".github" / "docs"
TUTORIAL, HOW_TO = ((PAGES / name).read_text("utf-8") for name in ("tutorial.md", "how-to.md"))
BEFORE, RUN = re.split("^(?=```console\n[$] cotally serve)", TUTORIAL, flags=re.MULTILINE)
SIGNED, TOGETHER = "Let two people sign each job", "Classify new people together"
EXPORTED = "Use the model in a database or another program"
OLDER = "Upgrade a folder of an older release"
KEPT = PAGES.parents[1] / "tests" / "party" / "records" / "kept" / "0.2.0.tar.xz"
DIFFER = "cotally: the parties differ on "
JOB = r"\b[0-9a-f]{16}\b"
Fence = tuple[str, str, str]


def fences(text: str) -> list[Fence]:
    """Return the kind, the title and the text of each fence of a text."""
    return re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)


def shape(text: str, *, draws: bool = True) -> str:
    """Return a text of a screen without what differs from run to run, and without the ends of its lines."""
    lines = (line for line in text.splitlines() if not re.match("[├└│ ]*[├└]", line))
    flat = " ".join(" ".join(lines).split())
    if not draws:
        return flat
    flat = re.sub(r"\b[0-9A-F]{4}( [0-9A-F]{4})+\b", "FINGERPRINT", flat)
    flat = re.sub(r"([\d-]+T[\d:]+Z) to [\d-]+T[\d:]+Z", r"\1", flat)  # of a run within a second one time is shown
    return re.sub(rf"digest [0-9a-f]+|{JOB}|\d[\d,.:TZe-]*( s| min)?", "0", flat)


def check_said(quoted: str, said: str, command: str) -> None:
    """Check that a screen has what is quoted of it, in this order; a line of three points stands for anything."""
    signed = [line.strip() for line in quoted.splitlines() if line.startswith("  terms: ")]
    assert all(line in " ".join(said.split()) for line in signed), f"{command}: the terms are {said}"
    pieces = re.split(r"^\.\.\.$", quoted, flags=re.MULTILINE)
    draws = not command.startswith("cotally check ")
    pattern = r"\s*.*".join(re.escape(shape(piece, draws=draws)) for piece in pieces)
    shown = shape(said, draws=draws)
    assert re.fullmatch(pattern, shown), f"{command}: what is quoted is not what is said: {shown}"


@contextmanager
def serving(words: list[str], quoted: str, folder: Path) -> Iterator[None]:
    """Serve until the end, once the last line that is quoted is said."""
    process = start(*words, cwd=folder)
    try:
        assert process.stderr is not None
        waits = shape(quoted.splitlines()[-1])
        assert any(shape(line) == waits for line in process.stderr)
        yield
    finally:
        process.kill()
        process.communicate()


def walk(given: list[Fence], folder: Path) -> list[str]:
    """Write the files of a page and run its commands; return the names of these."""
    port, ran, job = str(free_port()), [], ""
    with ExitStack() as served:
        for kind, title, text in given:
            if title:
                added = {"both": ("bank", "phone"), "bank": ("bank",)}.get(title.rpartition(" of ")[2], ())
                for name in [f"{party}/party.toml" for party in added] or [title]:
                    with (folder / name).open("a" if added else "w") as file:
                        file.write(text)
            for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:] if kind == "console" else ():
                command, _, quoted = step.partition("\n")
                words = shlex.split(re.sub(JOB, job, command))
                if words[0] != "cotally":
                    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
                    subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PATH": path}, check=True)
                    continue
                ran.append(words[1])
                if words[1] == "serve":
                    for party in ("bank", "phone"):
                        settings = folder / party / "party.toml"
                        settings.write_text(settings.read_text().replace("7171", port))
                    served.enter_context(serving(words[1:], quoted, folder))
                    continue
                ended = cotally(*words[1:], folder=folder, seconds=120)
                for _ in range(60):  # a job is on record only once what it would reveal is worked out
                    if words[1] != "status" or ended.out.startswith("Job "):
                        break
                    ended = cotally(*words[1:], folder=folder, seconds=120)
                assert ended.code == (5 if DIFFER in quoted else 0), f"{command}: {ended.err}"
                check_said(quoted, ended.err + ended.out, command)
                job = next(iter(re.findall(f"^Job ({JOB})", ended.out, re.MULTILINE)), job)
    return ran


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tutorial's folders, as they are before the bank listens: to copy."""
    folder = tmp_path_factory.mktemp("tutorial")
    walk(fences(BEFORE), folder)
    return folder


def test_the_tutorial_works_as_it_stands(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy"))
    assert walk(fences(RUN), folder) == ["serve", "train", "show", "predict", "report", "report", "ledger"]
    assert walk(fences(section(TOGETHER)), folder) == ["serve", "predict"]
    assert walk(fences(section(EXPORTED)), folder) == ["export", "export"]
    scored, elsewhere = ((folder / name).read_text().splitlines() for name in ("scored.csv", "elsewhere.csv"))
    assert [line.split(",")[8] for line in scored] == [line.split(",")[8] for line in elsewhere]
    assert len((folder / "scored.csv").read_text().splitlines()) == 501
    assert (folder / "bank" / "model.json").read_bytes() == (folder / "phone" / "model.json").read_bytes()
    check_format(json.loads((folder / "phone" / "model.json").read_text()))


def check_format(model: dict[str, Any]) -> None:
    assert model["format"] == "cotally-model/3"
    assert set(model) == {"format", "class", "growth", "splits", "attributes", "tree"}
    keys = {key for attribute in model["attributes"] for key in attribute}
    assert keys == {"party", "name", "values", "missing", "marks", "ordered"}
    formats = (PAGES.parents[1] / "party" / "FORMATS.md").read_text()
    for key in (*model, *model["growth"], *model["attributes"][0], *model["tree"], *model["tree"]["children"][0]):
        assert f'"{key}"' in formats


def section(head: str) -> str:
    (found,) = [text for text in HOW_TO.split("\n## ") if text.startswith(f"{head}\n")]
    return found


def test_two_people_sign_a_job_as_the_how_to_says(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy"))
    assert walk(fences(section(SIGNED)), folder) == ["serve", "propose", "status", "approve", "approve"]


def test_a_folder_of_an_older_release_is_brought_on_as_the_how_to_says(tmp_path: Path) -> None:
    subprocess.run(["tar", "xf", KEPT], cwd=tmp_path, check=True)
    assert walk(fences(section(OLDER)), tmp_path) == ["upgrade", "upgrade"]


def test_the_other_how_tos_work_as_they_stand(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "copy"))
    others = [text for text in HOW_TO.split("\n## ") if not text.startswith((SIGNED, TOGETHER, EXPORTED, OLDER))]
    assert walk(fences("\n".join(others)), folder) == [
        "plan",
        "rehearse",
        "serve",
        "crosstab",
        "check",
        "train",
        "train",
    ]


@pytest.mark.parametrize(
    ("quoted", "said", "held"),
    [
        ("a 12 b\n...\nz", "a 7 b c\nd\nz", True),
        ("a 12\n  b", "a 1 b", True),
        ("z\n...\na 12 b", "a 7 b\nz", False),
        ("a is kept", "a is lost", False),
        ("a is kept", "a is kept\nand more", False),
    ],
)
def test_what_is_quoted_is_held_against_what_is_said(quoted: str, said: str, held: bool) -> None:
    if held:
        check_said(quoted, said, "c")
    else:
        with pytest.raises(AssertionError, match="not what is said"):
            check_said(quoted, said, "c")
