"""What the list of attacks says is shown by tests that are there."""

import re
from pathlib import Path

_TOP = Path(__file__).parent.parent.parent


def test_every_test_that_the_page_names_is_there_and_every_attack_is_named() -> None:
    named = set(re.findall(r"`(test_\w+)`", (_TOP / "tests" / "attacks" / "README.md").read_text(encoding="utf-8")))
    sources = [path.read_text(encoding="utf-8") for path in (_TOP / "tests").rglob("test_*.py")]
    there = {name for source in sources for name in re.findall(r"def (test_\w+)\(", source)}
    assert named
    assert named - there == set()
    columns = (_TOP / "tests" / "attacks" / "test_chosen_columns.py").read_text(encoding="utf-8")
    works = {name for name in re.findall(r"def (test_\w+)\(", columns) if "_tell" in name or "_read" in name}
    assert works - named == set()
