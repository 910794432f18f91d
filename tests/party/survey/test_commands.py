"""The commands of a survey: every wrong input is one line that names it, and nothing is written."""

import json
import os
import re
from pathlib import Path

import pytest

from party import survey
from party.data import read_frame
from party.show.mining import example_lines
from tests.party.survey.commands import RECORDS, refused, snapshot, told
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, write_design, write_rows

DISGUISE = ("disguise", "data.csv", "design.toml", "-o", "again.csv", "--secret", "coins")


def test_the_same_disguise_again_is_the_same_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = (folder / "d.csv").read_bytes()
    again = told(capsys, *DISGUISE)
    assert "Made coins" not in again
    assert "second copy" not in again
    assert (folder / "again.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "d.csv", "--secret", "coins", "--overwrite")
    assert (folder / "d.csv").read_bytes() == first
    told(capsys, *DISGUISE[:3], "-o", "again.parquet", "--secret", "coins")
    assert list(read_frame(folder / "again.parquet").cells[3]) == list(read_frame(folder / "d.csv").cells[3])


MINE, PREDICT = ("mine", "tree", "d.csv", "design.toml"), ("predict", "m.json", "data.csv")


@pytest.mark.parametrize("name", ["x" * 300, "circle"])
@pytest.mark.parametrize("option", ["-o", "--secret", "--personal"])
def test_a_path_that_cannot_be_is_one_line_that_names_it(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:
    (folder / "circle.csv").symlink_to("circle.csv")
    given = {"-o": "out.csv", "--secret": "new"} | {option: f"{name}.csv"}
    words = [word for pair in given.items() for word in pair]
    line = refused(capsys, "disguise", "data.csv", "design.toml", *words)
    assert f"{name}.csv" in line
    assert ("circle" in line) == (name == "circle")
    assert not (folder / "new").exists()


@pytest.mark.parametrize("command", [("mine", "tree", "d.csv", "design.toml"), ("predict", "m.json", "data.csv")])
def test_an_output_whose_name_is_too_long_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    told(capsys, "mine", "tree", "d.csv", "design.toml", "-o", "m.json")
    before = snapshot(folder)
    line = refused(capsys, *command, "-o", "x" * 300)
    assert re.search("xxx cannot be (written|used): File name too long", line)
    assert snapshot(folder) == before


def test_an_output_whose_name_cannot_be_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "xxx" in refused(capsys, "disguise", "--example", str(folder / ("x" * 300)))
    guide = Path(survey.__file__).with_name("README.md").read_text().splitlines()
    told = example_lines(Path("survey/data.csv"), Path("survey/design.toml"))[-1]
    assert f"  {told}" in guide


def test_a_file_name_that_is_no_text_is_refused_before_a_secret_is_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = os.fsdecode(b"r\xe9sum\xe9.csv")
    (folder / "data.csv").rename(folder / name)
    again = ("disguise", name, "design.toml", "-o", "new.csv", "--secret", "new")
    line = refused(capsys, *again)
    assert "the name of the data set holds bytes that are not UTF-8: give it another name" in line
    for dataset, flaw in (("", "is empty"), ("a\0", "holds a NUL byte"), ("a\udcff", "holds bytes")):
        assert f"the name of the data set {flaw}" in refused(capsys, *again, "--dataset", dataset)
    assert not (folder / "new").exists()
    told(capsys, *again, "--dataset", "summary")
    told(capsys, *again, "--overwrite")


def test_a_likelihood_of_more_columns_than_can_be_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"c{n}" for n in range(64)]
    columns = "".join(f'[columns.{name}]\nvalues = ["a"]\n' for name in names)
    text = swap(RELATED, "[columns.smoker]", f"{columns}[columns.smoker]")
    write_design(folder, swap(text, '["sex"]', json.dumps(["sex", *names])))
    header, *lines = (folder / "d.csv").read_text().splitlines()
    write_rows(folder, [line + 64 * ",a" for line in lines], "wide.csv", ",".join([header, *names]))
    asked = " and ".join(f"{name} = a" for name in names)
    command = ("estimate", "wide.csv", "design.toml")
    assert "a likelihood is of at most 63 columns, not 64" in refused(capsys, *command, asked, "--likelihood")
    assert "share 1.0000" in told(capsys, *command, asked)
    assert "1.0000  a, a" in told(capsys, *command, asked.removesuffix(" and c63 = a"), "--likelihood")


def test_disguise_says_what_it_left_out_and_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rows(folder, [f"{row},Ann" for row in rows(4)], "more.csv", "id,age,sex,drinks,smoker,name")
    out = told(capsys, "disguise", "more.csv", "design.toml", "-o", "m.csv", "--secret", "more.secret")
    assert "Left out, since the design does not name them: name." in out
    assert "Made more.secret: keep it secret" in out
    assert "A second copy of these data under another secret would weaken this one" in out
    assert "Ann" not in (folder / "m.csv").read_text()


def test_the_unrelated_question_goes_all_the_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_design(folder, UNRELATED)
    write_rows(folder, [f"p{i},30,,often,yes" for i in range(RECORDS)], "personal.csv")
    supplied = ("--secret", "own", "--personal", "personal.csv")
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "own.csv", *supplied)
    told(capsys, "disguise", "data.csv", "design.toml", "-o", "u.csv", "--secret", "drawn")
    assert "unrelated question, theta 1/2" in told(capsys, "estimate", "u.csv", "design.toml", "smoker = yes")
    assert "Accuracy" in told(capsys, "mine", "tree", "u.csv", "design.toml", "--test", "1/5")
    assert "Accuracy" in told(capsys, "mine", "bayes", "u.csv", "design.toml", "--test", "1/5")
    assert "Epsilon of a whole record" in told(capsys, "privacy", "design.toml", "--prior", "u.csv")
    write_rows(folder, rows(RECORDS - 1), "personal.csv")
    arguments = ("disguise", "data.csv", "design.toml", "-o", "x.csv", "--secret", "new", "--personal", "personal.csv")
    assert "299 ids here, 300 among the true records" in refused(capsys, *arguments)
    assert not (folder / "new").exists()
