"""No command writes over what it reads, nor over what is there unless it is told to: all outputs of all commands."""

import argparse
import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from party.cli import main as cli
from party.cli.outputs import settle_outputs
from protocols.errors import InputError
from tests.support.commands import parsers
from tests.support.processes import assert_one_line, cotally_here

CLI = Path(cli.__file__).parent
WRITERS = {"write_atomically", "write_new", "write_table", "write_result", "write_sent", "write_model", "KeptModel"}
READ = {
    "align party", "audit design", "audit --and", "cancel party", "check party", "check job", "demo --alice",
    "demo --bob", "disguise data", "disguise design", "disguise --personal", "doctor party", "estimate disguised",
    "estimate design", "estimate --and", "estimate --against", "keys party", "ledger party", "mine disguised",
    "mine design", "mine --and", "pair party", "plan party", "plan job", "predict model",
    "predict rows", "predict --model", "privacy design", "privacy --prior", "privacy --pilot", "privacy --model",
    "report party", "report design", "report --and", "report --model", "report --costs", "rules model", "serve party",
    "show model", "size design", "status party",
    "survey new --table", "survey publish model", "survey publish disguised", "train party",
    "train job", "trust party", "trust certificate",
    *(f"survey {action} settings" for action in ("links", "serve", "status", "close", "export", "results", "publish",
      "page", "texts")),
}  # fmt: skip
NEVER_REPLACED = {
    "init --dir": "a folder, whose files are kept",
    "demo --out": "a folder, of which a demo takes none that holds something else",
    "disguise --secret": "made on first use, and read afterwards",
    "survey links --output": "codes that count must not get lost",
    "survey new folder": "a folder, whose files are kept",
}
REPLACED_IF_TOLD = {
    "disguise --output", "ledger --output", "mine --output", "predict --output", "report --output",
    "rules --output", "serve --model", "serve --report", "survey export --output", "survey page --output",
    "survey results --html", "train --model", "train --report",
}  # fmt: skip


def paths(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.type is Path:
            yield action.option_strings[-1] if action.option_strings else action.dest


def test_every_path_is_read_or_written_as_the_rule_says() -> None:
    named = {f"{name} {path}": parser for name, parser in parsers() for path in paths(parser)}
    assert {*named} == READ | {*NEVER_REPLACED} | REPLACED_IF_TOLD
    assert all("--overwrite" in named[path]._option_string_actions for path in REPLACED_IF_TOLD)


def test_every_command_that_writes_a_file_asks_the_rule_first() -> None:
    asked = []
    for path in sorted(CLI.glob("*.py")):
        names = {alias.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
                 for alias in node.names}  # fmt: skip
        if names & WRITERS:
            asked.append((path.name, bool(names & {"settle_outputs", "settle_copy", "place_results"})))
    assert len(asked) >= 7
    assert [name for name, does in asked if not does] == []


def test_nothing_that_is_read_is_an_output_and_what_is_there_goes_only_if_told(tmp_path: Path) -> None:
    read, earlier, new = tmp_path / "read", tmp_path / "earlier", tmp_path / "new"
    read.touch()
    earlier.touch()
    settle_outputs([new, None], [read, None], overwrite=False)
    settle_outputs([earlier, new], [read], overwrite=True)
    for outputs, overwrite, problem in (
        ([read], True, "is read by this command"),
        ([new, read], False, "is read by this command"),
        ([earlier], False, r"is there already: name another by -o, or replace it \(--overwrite\)$"),
        ([earlier], None, "is there already: name another by -o$"),
        ([new, tmp_path / "." / "new"], True, "is named for two outputs"),
    ):
        with pytest.raises(InputError, match=problem):
            settle_outputs(outputs, [read], overwrite=overwrite)


CALLS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "disguise --output": lambda out: ("disguise", "data.csv", "design.toml", "--secret", "coins", "-o", out),
    "ledger --output": lambda out: ("ledger", "export", "bob", "-o", out),
    "mine --output": lambda out: ("mine", "tree", "d.csv", "design.toml", "-o", out),
    "predict --output": lambda out: ("predict", "m.json", "data.csv", "-o", out),
    "report --output": lambda out: ("report", "bob", "-o", out),
    "rules --output": lambda out: ("rules", "sets.json", "-o", out),
    "survey export --output": lambda out: ("survey", "export", "study/survey.toml", "-o", out),
    "survey page --output": lambda out: ("survey", "page", "study/survey.toml", "-o", str(Path(out).parent)),
    "survey results --html": lambda out: ("survey", "results", "study/survey.toml", "--html", out),
    "train --model": lambda out: ("train", "bob", "job.toml", "--model", out),
    "train --report": lambda out: ("train", "bob", "job.toml", "--report", out),
    "survey links --output": lambda out: ("survey", "links", "study/survey.toml", "--number", "1", "-o", out),
}
INPUTS = {
    "disguise --output": "data.csv", "ledger --output": "bob/party.toml", "mine --output": "d.csv",
    "predict --output": "m.json", "report --output": "bob/party.toml", "rules --output": "sets.json",
    "survey results --html": "study/survey.toml",
    "train --model": "job.toml", "train --report": "bob/party.toml", "survey links --output": "study/survey.toml",
}  # fmt: skip


def test_every_output_is_tried() -> None:  # but of `serve`, which writes beside what is there
    assert {*CALLS} == {name for name in REPLACED_IF_TOLD if not name.startswith("serve")} | {"survey links --output"}


@pytest.mark.parametrize("output", CALLS)
def test_what_is_there_stays_unless_told(here: Path, output: str) -> None:
    earlier = here / ("page.html" if "page" in output else "earlier.csv")
    earlier.write_text("earlier\n")
    assert_one_line(
        cotally_here(*CALLS[output](earlier.name)), 2, f"{earlier.name} is there already: name another by -"
    )
    assert earlier.read_text() == "earlier\n"


OF_ONE = [name for name in CALLS if not name.startswith(("train", "report", "ledger", "survey links", "survey export"))]
"""Of the others, `train`, `report` and both `export` replace what they are told to in tests of runs and of answers."""


@pytest.mark.parametrize("output", OF_ONE)
def test_what_is_there_goes_if_told(here: Path, output: str) -> None:
    earlier = here / ("page.html" if "page" in output else "earlier.csv")
    earlier.write_text("earlier\n")
    ended = cotally_here(*CALLS[output](earlier.name), "--overwrite")
    assert ended.code == 0, ended.err
    assert earlier.read_bytes() != b"earlier\n"


@pytest.mark.parametrize("output", INPUTS)
@pytest.mark.parametrize("told", [(), ("--overwrite",)])
def test_what_is_read_stays_even_if_told(here: Path, output: str, told: tuple[str, ...]) -> None:
    if told and output == "survey links --output":
        told = ()
    read = here / INPUTS[output]
    before = read.read_bytes()
    assert_one_line(cotally_here(*CALLS[output](INPUTS[output]), *told), 2, "is read by this command")
    assert read.read_bytes() == before
