"""What the READMEs tell to install is enough for what they tell to run."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SURVEYS = (ROOT / "party" / "survey" / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements}


def test_every_extra_that_a_readme_names_exists() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / ".github" / "docs").glob("*.md"))
    named = {extra for group in re.findall(r"'\.\[([\w,]+)\]'", README + SURVEYS + pages) for extra in group.split(",")}
    assert {"figures", "learn"} <= named <= set(EXTRAS)


def test_the_python_of_the_surveys_readme_imports_nothing_beyond_the_extra_named_before_it() -> None:
    before, snippet = re.findall(r"(.*)```python\n(.*?)```", SURVEYS, re.DOTALL)[0]
    extra = re.findall(r"pip\s+install '\.\[(\w+)\]'", before)[-1]
    modules = {
        module.partition(".")[0]
        for node in ast.walk(ast.parse(snippet))
        for module in ([node.module or ""] if isinstance(node, ast.ImportFrom) else _imported(node))
    }
    foreign = modules - set(sys.stdlib_module_names) - {"party", "protocols"}
    assert foreign == {"pandas"}
    assert foreign <= names(PROJECT["dependencies"]) | names(EXTRAS[extra])
    assert "scikit-learn" in names(EXTRAS[extra])  # by party.learn.classifiers


def _imported(node: ast.AST) -> list[str]:
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


PARTY = Path(__file__).parents[2] / "party"
ROOMS = sorted(path.name for path in PARTY.iterdir() if path.is_dir() and path.name not in ("cli", "show", "wire"))
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OPTIONS = {
    "demo": {"--progress", "--model", "--report"},  # what it gives the parties' processes
    "models": {"--help"},  # an exported file of Python is a command
    "transport": {"--host"},  # of the command that makes a certificate for the host that was called
}


def named(source: str) -> list[str]:
    """Return the options in the texts of a module, but for its docstrings."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
    return [option for text in texts if isinstance(text.value, str) for option in OPTION.findall(text.value)]


def test_no_room_but_the_command_lines_names_options() -> None:
    for room in ROOMS:
        assert {option for path in (PARTY / room).rglob("*.py") for option in named(path.read_text())} <= OPTIONS.get(
            room, set()
        )


def test_options_are_found() -> None:
    assert named('"""Says --doc."""\nraise E(f"{a} --rows must be {b} (--key-bits)")') == ["--rows", "--key-bits"]


SEEN = [
    text
    for line in (PARTY / "SYMPTOMS.md").read_text().splitlines()
    if line.startswith("| `")
    for text in re.findall("`([^`]+)`", line.split(" | ")[0])
]


def test_each_symptom_is_said_somewhere() -> None:
    sources = "".join(path.read_text() for path in (*PARTY.rglob("*.py"), *(PARTY.parent / "protocols").rglob("*.py")))
    assert len(SEEN) >= 15
    for text in SEEN:
        for piece in re.split(r"\b(?:PEER|ADDRESS|HOSTS|HOST|FIELD|DIR)\b|\.\.\.|\d+ s", text):
            assert piece.strip(" :,") in sources, piece
