"""The README and the pages are true: their commands exist, those of surveys are run, their links lead somewhere."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from party.cli.main import COMMANDS, command_parser
from tests.support.processes import cotally_here

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SURVEYS = (ROOT / "party" / "survey" / "README.md").read_text()
FORMATS = (ROOT / "party" / "FORMATS.md").read_text()
_NO_PAGES = {".venv", "demo-run", "mistakes.md"}  # the last is run as it stands, with words that are misspelt
PAGES = sorted(path for path in ROOT.rglob("*.md") if not _NO_PAGES & set(path.relative_to(ROOT).parts))
BLOCKS = [
    re.sub(r"^    ", "", block, flags=re.MULTILINE).strip()
    for block in re.findall(r"(?:^    .*\n(?:^\n(?=    ))?)+", README + SURVEYS, re.MULTILINE)
]


def commands() -> list[list[str]]:
    """Return the commands of the survey, in the order of its page."""
    (text,) = [text for text in BLOCKS if text.startswith("cotally disguise")]
    return [shlex.split(line, comments=True) for line in text.splitlines()]


def test_every_command_of_a_page_for_users_is_one_that_the_product_takes() -> None:
    texts = [README, *(page.read_text() for page in (ROOT / ".github" / "docs").glob("*.md"))]
    lines = [line for text in texts for line in re.findall(r"^(?:    |\$ )?(cotally \w.*)$", text, re.MULTILINE)]
    assert len(lines) > 40  # or this test looks past them
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        assert command_parser(words[0]).parse_args(words).command == words[0]


def test_the_survey_and_its_python_work_as_they_stand(tmp_path: Path) -> None:
    said = {}
    for words in commands():
        seen = ["--shift", "1/5"] if words[1] == "audit" else []  # by fewer disguises
        with chdir(tmp_path):
            ended = cotally_here(*words[1:], *seen)
        assert ended.code == 0, f"{words}: {ended.err}"
        said[" ".join(words[1:3])] = ended.out + ended.err
    assert {name.split()[0] for name in said} == {"disguise", "privacy", "audit", "size", "estimate", "mine", "report"}
    assert "OK: the sampler responds as the design declares." in said["audit survey/design.toml"]
    assert "a tree of depth 3" in said["size survey/design.toml"]
    assert "(?) chance may bring the split, or its lead over the runner-up" in said["mine tree"]
    bayes = json.loads((tmp_path / "bayes.json").read_text())
    assert bayes["format"] == "cotally-bayes/2"
    for key in (*bayes, *bayes["attributes"][0], bayes["format"]):
        assert f'"{key}"' in FORMATS or f"`{key}`" in FORMATS
    (snippet,) = re.findall(r"```python\n(.*?)```", SURVEYS, re.DOTALL)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"Accuracy\(share=([\d.]+), standard_error=([\d.]+), records=2000\)", done.stdout)
    assert found
    assert float(found[1]) + 6 * float(found[2]) > 0.75


@pytest.mark.parametrize("name", ["check", "plan", "ledger", "status", "doctor", "ignore", "most_predictions"])
def test_what_looks_after_a_node_is_named_on_the_first_page(name: str) -> None:
    assert re.search(rf"`(cotally |\[\w+\] )?{name}\b|^    cotally {name} ", README, re.MULTILINE)


def test_the_scripts_are_there_and_the_demo_starts() -> None:
    assert [text for text in BLOCKS if "scripts/demo" in text and "scripts/test" in text]
    assert "scripts/test" in (ROOT / ".ci" / "run").read_text()
    done = subprocess.run([ROOT / "scripts" / "demo", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: cotally demo")


def test_the_readme_is_one_page() -> None:
    assert len(README.splitlines()) <= 130


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_every_file_and_every_link_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    for name in re.findall(r"`cotally (\w+)", text):
        assert name in COMMANDS, name
    for path in re.findall(r"(?<![\w./-])(?:scripts|party|protocols|tests|proto)/[\w./-]+\w", text):
        assert (ROOT / path).exists() or "NAME" in path, path
    for link, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", text):
        target = page.parent / link if link else page
        assert target.exists(), link
        assert not heading or heading in headings(target), f"{link}#{heading}"


def headings(page: Path) -> set[str]:
    """Return the headings of a page as links name them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in found}


def test_the_picture_of_the_readme_is_in_the_repository() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).stat().st_size > 1000
