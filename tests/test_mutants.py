"""What `scripts/mutate` takes away: it finds the checks, and a check without which nothing fails is told."""

import ast
from pathlib import Path

import pytest

from tests.support import mutate
from tests.support.mutate import NEAREST, ROOT, checks_of, nearest_to, without

MODULE = """
def even(number):
    if number < 0:
        raise ValueError
    if number % 2:
        return Objection("odd", "it is")
    check(number < 10)
    if number:
        return 1
"""


def test_every_module_that_is_named_has_checks_and_tests() -> None:
    for module in NEAREST:
        assert checks_of(module)
        assert all((ROOT / test).is_file() for test in nearest_to(module))


def test_each_check_is_found_and_taken_away_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(MODULE)
    checks = checks_of("module.py")
    assert [check.text for check in checks] == ["number < 0", "number % 2", "check(number < 10)"]
    whole = ast.unparse(ast.parse(MODULE))
    left = [without(check) for check in checks]
    assert left[0] == whole.replace("if number < 0", "if False")
    assert left[1] == whole.replace("if number % 2", "if False")
    assert left[2] == whole.replace("check(number < 10)", "pass")
