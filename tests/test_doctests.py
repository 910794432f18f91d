"""The examples in docstrings say what is so."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("protocols", "party")
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text()
]


def test_there_are_examples() -> None:
    assert WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert found.attempted > 0
    assert not found.failed
