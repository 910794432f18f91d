"""What `--help` says, and that it is said at once: nothing that the work needs is imported for it."""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from party.cli import main as cli
from tests.support.commands import inner, parsers
from tests.support.processes import assert_one_line, cotally_here

HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "grpc", "google", "cryptography", "gmpy2", "phe", "jinja2", "shtab")
ENDINGS = """
import sys
from pathlib import Path
from contextlib import suppress
from party.cli.main import COMMANDS, main
for words in WORDS:
    with suppress(SystemExit):
        main(words)
    heavy = {*HEAVY, *(f"party.cli.{command.work}" for command in COMMANDS.values())} & {*sys.modules}
    print(f"after {words}: {sorted(heavy)}", file=sys.stderr)
"""


def imported_by(*calls: list[str]) -> list[str]:
    """Return what a new process tells of the heavy modules that it has after each of these calls."""
    program = f"WORDS, HEAVY = {calls!r}, {HEAVY!r}\n{ENDINGS}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [line for line in done.stderr.splitlines() if line.startswith("after ")]


def test_help_imports_nothing_heavy() -> None:
    calls = [[], ["--help"], ["--version"], *([name, "--help"] for name in cli.COMMANDS)]
    calls += [["survey", "results", "--help"], ["trian"], ["train", "--frehs", "x"], ["mine", "forest", "x", "y"]]
    assert imported_by(*calls) == [f"after {words}: []" for words in calls]
    (told,) = imported_by(["show", "absent.json"])
    assert "'numpy', 'party.cli.models'" in told


def test_every_command_has_help_that_names_all() -> None:
    for command in ((), *((name,) for name in cli.COMMANDS)):
        ended = cotally_here(*command, "--help")
        assert ended.code == 0
        assert ended.out.startswith("usage: cotally")
    told = cotally_here("--help").out
    assert all(re.search(rf"^    {name}\s", told, re.MULTILINE) for name in cli.COMMANDS)


def test_an_unknown_action_of_a_survey_is_one_line() -> None:
    assert_one_line(cotally_here("survey", "statsu", "x"), 2, "did you mean 'status'?")


def examples(parser: argparse.ArgumentParser) -> list[str]:
    """Return the examples in a help, without where their output goes."""
    lines = parser.format_help().split("\nExamples:\n")[1].splitlines()
    return [line.split(" > ")[0] for line in lines if line.startswith("  cotally ")]


def whole_parsers() -> dict[str, argparse.ArgumentParser]:
    survey = inner(cli.command_parser("survey"))[0]["survey"]
    return {**dict(parsers()), "survey": survey}


@pytest.mark.parametrize("name", whole_parsers())
def test_every_help_has_examples_that_its_command_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # `disguise --example` writes there
    monkeypatch.setenv("COLUMNS", "200")
    command, found = name.split(maxsplit=1)[0], examples(whole_parsers()[name])
    assert found
    for example in found:
        _, *words = shlex.split(example)
        asked = words[0] if words[0] in cli.COMMANDS else command
        assert name == "survey" or " ".join(words).startswith(name)
        if "--example" in words:
            assert cotally_here(*words).code == 0
        else:
            assert cli.command_parser(asked).parse_args(words).command == asked


def test_an_example_that_no_command_takes_is_seen() -> None:
    with pytest.raises(SystemExit):
        cli.command_parser("train").parse_args(["train", "bob", "job.toml", "--frehs"])
