"""What each exit code means is in one table, and every end of a command has its row."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.cli import main as cli
from party.cli import models
from party.errors import PausedError, PeerLostError, exit_code
from protocols.errors import CotallyError, DeviationError, DisagreementError, InputError, PeerError
from tests.support.processes import cotally_here

PAGE = (Path(__file__).parents[3] / "party" / "SYMPTOMS.md").read_text()
TABLE = {int(code) for code in re.findall(r"^\| (\d+) \| \S", PAGE, re.MULTILINE)}
ENDS: list[tuple[BaseException, int]] = [
    (InputError("x"), 2),
    (PeerError("x"), 3),
    (PeerLostError("x"), 3),
    (DeviationError(), 3),
    (PausedError("x"), 4),
    (DisagreementError("omega", "x"), 5),
    (ValueError("x"), 1),
    (KeyboardInterrupt(), 130),
    (BrokenPipeError(), 141),
]


def kinds(kind: type[CotallyError]) -> Iterator[type[CotallyError]]:
    for each in kind.__subclasses__():
        yield each
        yield from kinds(each)


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda end: type(end).__name__)
def test_every_end_has_its_code(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_drop", lambda _: None)  # of the real output, which a test has lent
    monkeypatch.setattr(models, "command_show", fail)
    assert cotally_here("show", "x").code == code
    assert code in TABLE


def test_who_is_to_act_tells_the_code() -> None:
    """Of errors that this party can mend 2, where both must talk 5, where the other acts 3, where both wait 4."""
    for kind in kinds(CotallyError):  # without their arguments: an error's kind alone tells its code
        error = kind.__new__(kind)
        expected = 2
        if issubclass(kind, PeerError):
            expected = 4 if kind is PausedError else 5 if kind is DisagreementError else 3
        if kind.__name__ not in {"DemoError", "PartyFailedError", "StoppedHereError"}:  # which end otherwise
            assert exit_code(error) == expected, kind


def test_every_end_has_its_code_in_one_table() -> None:
    assert {code for _, code in ENDS} | {0, 143} == TABLE
    assert "5 the parties differ" in (Path(__file__).parents[3] / "README.md").read_text()
