"""A folder to run commands in, and secrets that are the same in every run: no test of a survey depends on chance."""

import hashlib
from itertools import count
from pathlib import Path

import pytest

from party.cli import main as cli
from party.keys import coin_secret
from tests.party.survey.files import RECORDS, rows, write_design, write_rows


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()
    monkeypatch.setattr(coin_secret, "new_key", lambda: hashlib.sha256(str(next(numbers)).encode()).digest())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the present one, with `design.toml`, `data.csv` and the disguised copy `d.csv`."""
    monkeypatch.chdir(tmp_path)
    write_design(tmp_path)
    write_rows(tmp_path, rows(RECORDS))
    assert cli.main(["disguise", "data.csv", "design.toml", "-o", "d.csv", "--secret", "coins"]) == 0
    return tmp_path
