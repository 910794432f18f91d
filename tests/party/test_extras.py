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
    named = {extra for group in re.findall(r"'\.\[([\w,]+)\]'", README + SURVEYS) for extra in group.split(",")}
    assert {"figures", "learn"} <= named <= set(EXTRAS)


def test_the_python_of_the_surveys_readme_imports_nothing_beyond_the_extra_named_before_it() -> None:
    before, snippet = re.findall(r"(.*)```python\n(.*?)```", SURVEYS, re.DOTALL)[0]
    extra = re.findall(r"pip install '\.\[(\w+)\]'", before)[-1]
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
