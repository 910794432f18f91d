"""Where a command's output goes: a reader that leaves, a full device, a closed one, a path that cannot be."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from party.cli import main as cli
from party.cli import models
from party.data import read_frame
from party.models.any_file import write_model
from tests.support.forked import COTALLY
from tests.support.models import chain, small_model
from tests.support.processes import finish, start


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    write_model(tmp_path / "model.json", chain(1500))
    with subprocess.Popen(
        [sys.executable, "-m", "party.cli.main", "show", tmp_path / "model.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


FULL = Path("/dev/full")
FULL_LINE = "cotally: standard output cannot be written: No space left on device\n"


def written_to_full(folder: Path, *words: str) -> tuple[int, str]:
    """Run a command in a folder whose output goes to a device that is full; return its code and errors."""
    with FULL.open("w") as full:
        ended = finish(start(*words, stdout=full, cwd=folder))
    return ended.code, ended.err


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
@pytest.mark.parametrize("big", [False, True])
def test_an_output_that_is_full_is_one_line_that_names_it(tmp_path: Path, big: bool) -> None:
    write_model(tmp_path / "m.json", chain(500) if big else small_model())
    names = [f"column {n}" for n in range(500)] if big else ["alice.age", "city", "bob.age"]
    (tmp_path / "rows.csv").write_text(",".join(names) + "\n" + "," * (len(names) - 1) + "\n")
    for words in (("show", "m.json"), ("show", "--json", "m.json"), ("predict", "m.json", "rows.csv")):
        assert written_to_full(tmp_path, *words) == (2, FULL_LINE)
    with FULL.open("w") as full:
        unbuffered = [*COTALLY[:1], "-u", *COTALLY[1:], "show", "m.json"]
        ended = subprocess.run(unbuffered, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False)
        assert (ended.returncode, ended.stderr) == (2, FULL_LINE)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
def test_a_help_that_cannot_be_written_is_one_line_too(tmp_path: Path) -> None:
    assert written_to_full(tmp_path, "show", "--help") == (2, FULL_LINE)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is full")
def test_an_error_keeps_its_code_where_no_output_can_be_written(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        for words, code in ((["show", "absent"], 2), (["frobnicate"], 2)):
            assert start(*words, stdout=full, stderr=full, cwd=tmp_path).wait() == code


@pytest.mark.parametrize("cell", ["a\rb", "\r\n", '"'])
def test_predict_writes_what_can_be_read_again(model: Path, cell: str) -> None:
    table = pa.table({"alice.age": ["17"], "city": [cell], "bob.age": ["no"]})
    pq.write_table(table, model.with_name("rows.parquet"))
    assert (
        cli.main(["predict", str(model), str(model.with_name("rows.parquet")), "-o", str(model.with_name("o.csv"))])
        == 0
    )
    assert read_frame(model.with_name("o.csv")).cells[1] == [cell]


def test_an_output_that_is_closed_is_done_without(model: Path) -> None:
    command = f"{sys.executable} -m party.cli.main show {model} >&-"
    ended = subprocess.run(command, shell=True, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "words",
    [
        ("init", "dora", "--dir", "X"), ("trust", "X", "X"), ("plan", "X", "X"), ("serve", "X"),
        ("train", "X", "X"), ("show", "X"), ("predict", "X", "X"), ("demo", "--out", "X"), ("privacy", "X"),
        ("size", "X", "--half-width", "0.1"),
        ("audit", "X"), ("disguise", "X", "X", "-o", "X", "--secret", "X"),
        ("estimate", "X", "X", "a = b"), ("mine", "tree", "X", "X"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["x" * 300, "circle"])
def test_a_path_that_cannot_be_is_one_line_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], name: str
) -> None:
    (tmp_path / "circle").symlink_to("circle")
    assert cli.main([str(tmp_path / name) if word == "X" else word for word in words]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("cotally: ")  # a demo tells what it does before
    assert name in err.splitlines()[-1]
    assert "internal" not in err


def test_an_error_of_the_system_names_its_path_and_another_is_an_internal_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(models, "command_show", lambda _: Path("x" * 300).stat())
    assert cli.main(["show", "x"]) == 2
    assert capsys.readouterr().err == f"cotally: {'x' * 300} cannot be used: File name too long\n"
    monkeypatch.setattr(models, "command_show", lambda _: os.fstat(10_000))
    assert cli.main(["show", "x"]) == 1
    assert "internal error: OSError" in capsys.readouterr().err
