"""The README is true word by word: its commands are run, its settings are used, its formats are those of real files."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from party.cli.main import COMMANDS
from party.demo.processes import free_port
from tests.support.processes import cotally, cotally_here, start, write_table

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
RECORDS = 1200


def block(start: str) -> str:
    (found,) = [text for text in BLOCKS if text.startswith(start)]
    return found


def commands(survey: bool = False) -> list[list[str]]:
    """Return the commands of the walk-through of two organisations, or of the survey, in the order of the README."""
    texts = [text for text in BLOCKS if text.startswith("cotally disguise") is survey]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("cotally ")]
    return [shlex.split(line, comments=True) for line in lines]


def run(words: list[str], folder: Path, port: int) -> str:
    """Run one command as it stands, but for the host."""
    here = [re.sub(r"(alice|bob)\.example\.org", "127.0.0.1", word) for word in words[1:]]
    ended = cotally(*here, folder=folder)
    assert ended.code == 0, f"{words}: {ended.err}"
    return ended.out + ended.err


def write_settings(folder: Path, port: int) -> None:
    alice = block('name = "alice"').replace("0.0.0.0:7071", f"127.0.0.1:{port}")
    assert "7071" not in alice
    (folder / "alice" / "party.toml").write_text(alice + "\n")
    bob = alice.replace('name = "alice"', 'name = "bob"').replace('peer = "bob"', 'peer = "alice"')
    bob = bob.replace('class = "outcome"\n', "").replace("age = ", "fee = ").replace("listen = ", "address = ")
    (folder / "bob" / "party.toml").write_text(bob + "\n")


def write_data(folder: Path) -> None:
    ages, fees = [20 + 7 * i % 60 for i in range(RECORDS)], [5 + 11 * i % 40 for i in range(RECORDS)]
    cities = ["Oslo", "Rome", "Bonn"] * (RECORDS // 3)
    outcome = ["stays" if (age > 45) ^ (fee > 25) else "leaves" for age, fee in zip(ages, fees, strict=True)]
    write_table(
        folder / "alice" / "data.csv", ["age", "city", "outcome"], list(zip(ages, cities, outcome, strict=True))
    )
    write_table(folder / "bob" / "data.csv", ["fee", "plan"], [[fee, "ab"[i % 2]] for i, fee in enumerate(fees)])
    rows = [[*a, fee, "ab"[i % 2]] for i, (*a, fee) in enumerate(zip(ages, cities, outcome, fees, strict=True))]
    write_table(folder / "rows.csv", ["age", "city", "outcome", "fee", "plan"], rows)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """Walk through "Two organisations" and return the folder and what each command said."""
    folder, port = tmp_path_factory.mktemp("readme"), free_port()
    said: dict[str, str] = {}
    server: subprocess.Popen[str] | None = None
    try:
        for words in commands():
            name = words[1]
            if name == "trust":  # "each sends the other the cert.pem"
                for party in ("alice", "bob"):
                    shutil.copy(folder / party / "cert.pem", folder / f"{party}-cert.pem")
            if name == "serve":
                write_data(folder)
                write_settings(folder, port)
                server = start(*words[1:], cwd=folder)
                assert server.stderr is not None
                assert any("alice listens on" in line for line in server.stderr)
                continue
            said[name] = run(words, folder, port)
        yield folder, said
    finally:
        if server is not None:
            server.kill()
            server.communicate()


def test_the_walk_through_of_two_organisations_works_as_it_stands(walked: tuple[Path, dict[str, str]]) -> None:
    folder, said = walked
    assert set(said) == {"init", "trust", "plan", "train", "show", "report", "predict"}
    assert "Both parties hold the same tree" in said["train"]
    assert (folder / "alice" / "model.json").read_bytes() == (folder / "bob" / "model.json").read_bytes()
    assert len((folder / "classified.csv").read_text().splitlines()) == RECORDS + 1
    assert "seconds" not in said["plan"]
    assert "round trips" in said["plan"]


def test_the_model_has_the_documented_format(walked: tuple[Path, dict[str, str]]) -> None:
    model = json.loads((walked[0] / "bob" / "model.json").read_text())
    assert model["format"] == "cotally-model/3"
    assert set(model) == {"format", "class", "growth", "splits", "attributes", "tree"}
    keys = {key for attribute in model["attributes"] for key in attribute}
    assert keys == {"party", "name", "values", "missing", "marks", "ordered"}
    for key in (*model, *model["growth"], *model["attributes"][0], *model["tree"], *model["tree"]["children"][0]):
        assert f'"{key}"' in FORMATS


def test_the_survey_and_its_python_work_as_they_stand(tmp_path: Path) -> None:
    said = {}
    for words in commands(survey=True):
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
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / link).exists(), link


def test_the_picture_of_the_readme_is_in_the_repository() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).stat().st_size > 1000
