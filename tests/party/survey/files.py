"""A small survey as files: designs of both kinds, true answers that hang together, and what goes wrong in them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from party.cli import main as cli

RELATED = """\
kind = "related"
theta = "4/5"
class = "smoker"
id = "id"
plain = ["sex"]
[columns.smoker]
values = ["yes", "no"]
[columns.sex]
values = ["f", "m"]
[columns.age]
bins = [40, "60"]
[columns.drinks]
values = ["never", "often", "now and then"]
missing = "refuse"
[groups]
habits = ["smoker"]
life = ["age", "drinks"]
"""
UNRELATED = (
    RELATED.replace('"related"', '"unrelated"').replace('"4/5"', '"1/2"')
    + """\
[personal.smoker]
yes = "1/4"
no = "3/4"
[personal.age]
"<= 40" = "1/2"
"(40, 60]" = "1/4"
"> 60" = "1/4"
[personal.drinks]
never = "1/3"
often = "1/3"
"now and then" = "1/3"
"""
)
HEADER = "id,age,sex,drinks,smoker"


def rows(records: int) -> list[str]:
    """Return true answers: who drinks often smokes, and nobody else; the rest is spread evenly."""
    drinks = ["never", "often", "now and then"]
    return [
        f"p{i},{20 + 7 * i % 60},{'fm'[i // 3 % 2]},{drinks[i % 3]},{'yes' if i % 3 == 1 else 'no'}"
        for i in range(records)
    ]


def swap(text: str, old: str, new: str) -> str:
    """Replace what must be there."""
    assert old in text, old
    return text.replace(old, new, 1)


def write_design(folder: Path, text: str = RELATED, name: str = "design.toml") -> Path:
    """Write a design."""
    path = folder / name
    path.write_text(text)
    return path


def write_rows(folder: Path, lines: Sequence[str], name: str = "data.csv", header: str = HEADER) -> Path:
    """Write a table."""
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


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
