"""What `scripts/mutate` takes away: it finds the checks, and a check without which nothing fails is named."""

import ast
from pathlib import Path

import pytest

from tests.support import mutants
from tests.support.mutants import REDUNDANT, ROOT, checks_of, without
from tests.support.mutate import covering

MODULE = """
def even(number):
    if number < 0 or (least := 2) > number:
        raise ValueError
    if number % 2:
        return Objection("odd", "it is")
    check(number < 10)
    fits = number > 3 and small(number)
    fits = fits and number > 4
    if not (fits and number > 5) or number > 9:
        raise ValueError
    if number:
        return 1

def is_even(number) -> bool:
    if number < 0:
        return False
    return number % 2 == 0 and number < 10

def judge(number) -> Objection | None:
    if is_even(number):
        return None
    yield from settle(None)
    yield from settle(odd(number) or late(number))
    return Objection("odd", "it is")

ENTRIES = (_one_field("key", kind, p, lambda key: len(key) == 1, _FEW), _flat("page", kind, p, _is_digest, MOST))
fits = (("even", 1, 1 % 2 == 0),)
"""
CHECKS = {
    "number < 0 -> False": ("if number < 0 or", "if (number < 0, False)[1] or"),
    "(least := 2) > number -> False": ("(least := 2) > number:", "((least := 2) > number, False)[1]:"),
    "number % 2 -> False": ("if number % 2:", "if (number % 2, False)[1]:"),
    "check(number < 10)": ("check(number < 10)", "pass"),
    "number > 3 -> True": ("fits = number > 3 and", "fits = (number > 3, True)[1] and"),
    "small(number) -> True": ("and small(number)", "and (small(number), True)[1]"),
    "number > 4 -> True": ("fits and number > 4", "fits and (number > 4, True)[1]"),
    "fits -> True": ("not (fits and", "not ((fits, True)[1] and"),
    "number > 5 -> True": ("number > 5)", "(number > 5, True)[1])"),
    "number > 9 -> False": ("number > 9:", "(number > 9, False)[1]:"),
    "number < 0 -> False again": ("if number < 0:", "if (number < 0, False)[1]:"),
    "number % 2 == 0 -> True": ("return number % 2 == 0 and", "return (number % 2 == 0, True)[1] and"),
    "number < 10 -> True": ("and number < 10", "and (number < 10, True)[1]"),
    "odd(number) -> None": ("settle(odd(number) or", "settle((odd(number), None)[1] or"),
    "late(number) -> None": ("or late(number)", "or (late(number), None)[1]"),
    "Objection('odd', 'it is') -> None": (
        "late(number))\n    return Objection('odd', 'it is')",
        "late(number))\n    return (Objection('odd', 'it is'), None)[1]",
    ),
    "'key': lambda key: len(key) == 1": ("lambda key: len(key) == 1", "lambda _: True"),
    "'key': _FEW": ("_FEW", "MAX_FRAME"),
    "'page': _is_digest": ("_is_digest", "lambda _: True"),
    "('even', 1, 1 % 2 == 0) -> True": ("1, 1 % 2 == 0)", "1, (1 % 2 == 0, True)[1])"),
}


def test_the_tests_of_a_module_are_those_of_its_name_and_those_that_import_it() -> None:
    found = covering("party/transport/channel.py")
    assert found[0] == "tests/party/transport/test_channel.py"
    assert all("party.transport.channel" in (ROOT / each).read_text("utf-8") for each in found)


def test_every_check_that_is_called_redundant_is_there() -> None:
    assert set(REDUNDANT) <= {(module, check.text) for module, _ in REDUNDANT for check in checks_of(module)}


def test_each_check_is_found_and_taken_away_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "module.py").write_text(MODULE)
    checks = checks_of("module.py")
    assert [check.text for check in checks] == [text.removesuffix(" again") for text in CHECKS]
    whole = ast.unparse(ast.parse(MODULE))
    for check, (there, instead) in zip(checks, CHECKS.values(), strict=True):
        assert whole.count(there) == 1, there
        assert ast.unparse(ast.parse(without(check))) == whole.replace(there, instead)
