"""Options are the command line's: no other room names one, so that a Python caller is told of parameters."""

import ast
import re
from pathlib import Path

import pytest

PARTY = Path(__file__).parents[2] / "party"
ROOMS = sorted(path.name for path in PARTY.iterdir() if path.is_dir() and path.name not in ("cli", "show", "wire"))
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
ARGUMENTS = {"--progress", "--model", "--report"}  # what the demo gives the parties' processes


def named(source: str) -> list[str]:
    """Return the options in the texts of a module, but for its docstrings."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
    return [option for text in texts if isinstance(text.value, str) for option in OPTION.findall(text.value)]


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_but_the_command_lines_names_options(room: str) -> None:
    allowed = ARGUMENTS if room == "demo" else set[str]()
    assert {option for path in (PARTY / room).rglob("*.py") for option in named(path.read_text())} <= allowed


def test_options_are_found() -> None:
    assert named('"""Says --doc."""\nraise E(f"{a} --rows must be {b} (--key-bits)")') == ["--rows", "--key-bits"]
