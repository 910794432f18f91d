"""Run a survey's commands in this process, and see what they say and leave alone."""

from pathlib import Path

import pytest

from party.cli import main as cli

RECORDS = 300
_PROGRESS = ("drawing coins", "counting candidates")


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that ends in one line of error, and return the line."""
    capsys.readouterr()
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("cotally: ")
    assert err.count("\n") == 1
    return err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that has nothing to complain of, and return what it says; on a busy machine it shows progress."""
    capsys.readouterr()
    assert cli.main(arguments) == 0
    out, err = capsys.readouterr()
    assert not [line for line in err.splitlines() if not line.startswith(_PROGRESS)], err
    assert "nan" not in out
    return out
