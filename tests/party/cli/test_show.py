"""`cotally show`: every kind of model in every form that it has, and one line for those that it has not."""

import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from party.cli.main import main
from party.data import read_frame
from party.models.any_file import KeptResult, model_json
from party.programs.loaded import load_model
from party.show.page import parts
from party.show.page.tree_svg import tree_svg
from protocols.learning.tree import Leaf, Split
from tests.party.models.test_bayes_file import small_bayes
from tests.party.models.test_itemset_file import FOUND
from tests.support.models import chain, small_model
from tests.support.processes import assert_one_line, cotally_here

MODELS: dict[str, KeptResult] = {"tree": small_model(), "bayes": small_bayes(), "itemsets": FOUND}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with a file for each kind of model."""
    monkeypatch.chdir(tmp_path)
    for name, model in MODELS.items():
        Path(f"{name}.json").write_text(model_json(model))
    return tmp_path


@pytest.mark.parametrize("telling", [True, False])
def test_a_column_that_alone_tells_the_class_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], telling: bool
) -> None:
    tree = small_model()
    leaves = tuple(Leaf(counts, counts[1] > 0) for counts in ((0, 3), (4, 0), (0, 0 if telling else 9)))
    root = Split((4, 3), 1, leaves if telling else (Leaf((1, 3), 1), *leaves[1:]))
    Path("told.json").write_text(model_json(replace(tree, root=root)))
    assert main(["show", "told.json"]) == 0
    said = "alice.city alone gives the class of every training record." in capsys.readouterr().out
    assert said == telling


def size_of(image: bytes) -> tuple[int, int]:
    """Width and height of a PNG whose parts are whole."""
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    rest, parts = image[8:], []
    while rest:
        length = struct.unpack(">I", rest[:4])[0]
        part, check = rest[4 : 8 + length], struct.unpack(">I", rest[8 + length : 12 + length])[0]
        assert zlib.crc32(part) == check
        parts.append(part)
        rest = rest[12 + length :]
    assert parts[-1] == b"IEND"
    width, height = struct.unpack(">II", parts[0][4:12])
    return width, height


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("folder")
def test_every_kind_is_drawn_and_its_image_shows_the_drawing_twice_as_large(
    name: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["show", f"{name}.json", "--svg"]) == 0
    drawn = ET.fromstring(capfdbinary.readouterr().out)
    assert main(["show", f"{name}.json", "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert (width, height) == (2 * int(drawn.attrib["width"]), 2 * int(drawn.attrib["height"]))


@pytest.mark.usefixtures("folder")
def test_levels_leave_out_deeper_splits_and_larger_sets_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> str:
        assert main(["show", *arguments]) == 0
        return capsys.readouterr().out

    assert told("tree.json", "--svg", "--levels", "1") == tree_svg(small_model(), 1)
    assert "city [5 3] …" in told("tree.json", "--levels", "1")
    dot, whole = told("tree.json", "--dot", "--levels", "1"), told("tree.json", "--dot")
    assert (dot.count("->"), whole.count("->")) == (3, 8)
    assert dot.count("…") == 2
    assert "alice.bread=1, bob.milk=yes" in told("itemsets.json")
    assert "alice.bread=1, bob.milk=yes" not in told("itemsets.json", "--levels", "1")
    assert told("itemsets.json", "--svg").count("<circle") == 3
    assert told("itemsets.json", "--svg", "--levels", "1").count("<circle") == 2


def test_an_image_of_too_many_dots_is_made_smaller_or_refused(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(chain(6)))
    most = 300_000
    monkeypatch.setattr(parts, "_MOST_PIXELS", most)
    assert main(["show", str(path), "--png"]) == 0
    width, height = size_of(capfdbinary.readouterr().out)
    assert most / 2 < width * height < 1.01 * most
    monkeypatch.setattr(parts, "_MOST_PIXELS", 10_000)
    assert main(["show", str(path), "--png"]) == 2
    assert b"leave levels out" in capfdbinary.readouterr().err


def test_without_the_library_an_image_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    path.write_text(model_json(small_model()))
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["show", str(path), "--png"]) == 2
    assert "'.[png]'" in capsys.readouterr().err


def rows_file(folder: Path, header: str = "alice.age,city,bob.age,outcome") -> Path:
    path = folder / "rows.csv"
    path.write_text(f'{header}\n17,"Oslo",no,good\n99,Oslo,yes,bad\n?,"a, b",no,\n')
    return path


def test_predict_writes_the_rows_with_one_more_column_and_tells_the_accuracy(model: Path) -> None:
    rows = rows_file(model.parent)
    ended = cotally_here("predict", model, rows)
    assert ended.code == 0
    expected = "alice.age,city,bob.age,outcome,prediction\n17,Oslo,no,good,good\n99,Oslo,yes,bad,good\n"
    assert ended.out == expected + '?,"a, b",no,,bad\n'
    assert (
        ended.err
        == "taken for missing cells: '?' in 'alice.age'\naccuracy 0.5000: 1 of 2 rows (rows trained on included)\n"
    )
    out = model.parent / "out.csv"
    to_file = cotally_here("predict", model, rows, "-o", out, "--column", "guess", "--missing", "99")
    assert to_file.code == 0
    assert not to_file.out
    assert f"Wrote {out}: 3 rows\n" in to_file.err
    assert out.read_text().splitlines()[0].endswith(",guess")
    assert out.read_text().splitlines()[2] == "99,Oslo,yes,bad,bad"
    before = out.read_bytes()
    unasked = cotally_here("predict", model, rows, "-o", out, "--column", "guess")
    assert unasked.code == 2
    assert unasked.err.endswith(f"{out} is there already: name another by -o, or replace it (--overwrite)\n")
    assert out.read_bytes() == before
    again = cotally_here("predict", model, rows, "-o", out, "--column", "guess", "--overwrite")
    assert f"Replaced {out}: 3 rows\n" in again.err


def test_rows_without_the_class_are_predicted_and_not_scored(model: Path) -> None:
    ended = cotally_here("predict", model, rows_file(model.parent, "alice.age,city,bob.age,note"))
    assert (ended.code, ended.err) == (0, "taken for missing cells: '?' in 'alice.age'\n")
    assert ended.out.splitlines()[1] == "17,Oslo,no,good,good"


def test_rows_come_from_the_standard_input_as_they_are_written_there(model: Path) -> None:
    rows = "alice.age;city;bob.age;size\n17;Oslo;no;2,5\nn/v;Z\xfcrich;no;\n".encode("cp1252")
    command = [sys.executable, "-m", "party.cli.main", "predict", str(model), "-"]
    ended = subprocess.run(command, input=rows, capture_output=True, check=True)
    assert ended.stdout.decode().splitlines()[1:] == ['17,Oslo,no,"2,5",good', "n/v,Zürich,no,,good"]
    assert b"standard input is not UTF-8: read as Windows-1252" in ended.stderr
    assert b"column 'alice.age': 1 of 2 cells hold no value that the model knows" in ended.stderr
    declared = [*command, "--separator", ";", "--encoding", "cp1252", "--missing", "n/v"]
    ended = subprocess.run(declared, input=rows, capture_output=True, check=True)
    assert ended.stderr.decode() == "taken for missing cells: 'n/v' in 'alice.age'\n"
    wrong = subprocess.run([*command, "--encoding", "utf-8"], input=rows, capture_output=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert b"standard input, line 3, column 'city': the cell holds bytes that are not UTF-8" in wrong.stderr


@pytest.mark.parametrize("name", ["out.tsv", "out.csv.gz", "out.parquet", "out.txt"])
def test_classes_are_written_in_the_form_that_the_name_says(model: Path, name: str) -> None:
    out = model.parent / name
    ended = cotally_here("predict", model, rows_file(model.parent), "-o", out, "--probabilities")
    assert ended.code == 0, ended.err
    frame = read_frame(out)
    assert frame.columns == ("alice.age", "city", "bob.age", "outcome", "prediction", "P(bad)", "P(good)")
    assert frame.column("prediction").cells == ["good", "good", "bad"]
    assert frame.column("P(good)").cells == ["1", "1", "0"]
    assert (out.read_bytes()[:4] == b"PAR1") == (name == "out.parquet")


def test_a_decimal_comma_is_declared_or_told(model: Path) -> None:
    rows = model.parent / "rows.csv"
    rows.write_text("alice.age;city;bob.age\n" + "39,5;Oslo;no\n1.000,5;Oslo;no\n" * 5)
    told = cotally_here("predict", model, rows)
    assert (told.code, told.out) == (2, "")
    assert "most rows would not be read as those that it was learned from" in told.err
    with pytest.warns(UserWarning, match=r'column .*: .*10 are numbers if "," begins a fraction'):
        load_model(model).predict(str(rows))
    assert '10 are numbers if "," begins a fraction: say so by --decimal ","' in told.err
    declared = cotally_here("predict", model, rows, "--decimal", ",")
    assert not declared.err
    assert declared.out.splitlines()[1:] == ['"39,5",Oslo,no,good', '"1.000,5",Oslo,no,bad'] * 5
    assert_one_line(cotally_here("predict", model, rows, "--decimal", "x"), 2, 'decimal must be "." or ","')


def test_what_is_in_columns_that_the_model_does_not_read_does_not_matter_and_is_written_as_it_was(model: Path) -> None:
    rows, out = model.parent / "rows.csv", model.parent / "out.csv"
    note, odd = b"x" * 200_000, b"caf\xe9"
    rows.write_bytes(
        b"alice.age,city,bob.age,note,odd\n17,Oslo,no," + note + b"," + odd + b"\n50,Z\xc3\xbcrich,no,,a\x00b\n"
    )
    ended = cotally_here("predict", model, rows, "-o", out)
    assert ended.code == 0, ended.err
    assert out.read_bytes().splitlines()[1] == b"17,Oslo,no," + note + b"," + odd + b",good"
