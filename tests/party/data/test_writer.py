import gzip
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import check_table_name, csv_text, frame_of, read_frame, write_table
from party.data.texts import plain_text
from party.data.writer import Cell
from party.errors import DataError
from tests.support.examples import at_most

TEXT = st.text(st.sampled_from("ab\r\n\",' \ufeffé"), max_size=5)


@settings(max_examples=at_most(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_table_is_read_as_it_was_written_but_for_blanks_around_cells(tmp_path: Path, data: st.DataObject) -> None:
    names = data.draw(st.lists(TEXT.map(plain_text).filter(bool), min_size=1, max_size=3, unique=True))
    cells = TEXT.map(lambda text: text or None)
    rows = data.draw(st.lists(st.lists(cells, min_size=len(names), max_size=len(names)), min_size=1, max_size=4))
    (tmp_path / "table.csv").write_bytes(csv_text(names, rows).encode())
    frame = read_frame(tmp_path / "table.csv")
    assert frame.columns == tuple(names)
    found = [[(cell or "").strip() for cell in row] for row in zip(*frame.cells, strict=True)]
    assert found == [[(cell or "").strip() for cell in row] for row in rows]


@pytest.mark.parametrize(
    "name", ["t.csv", "t.TSV", "t.txt", "t.csv.gz", "t.tsv.gz", "t.txt.GZ", "t.parquet", "t.PARQUET"]
)
def test_a_table_has_the_form_that_its_name_says_and_is_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    columns: list[list[Cell]] = [["x,y", None, "a\tb", "Zürich"], [0.25, None, 3.0, 1.0]]
    check_table_name(path)
    write_table(path, ["text", "share"], columns, "{:.2f}".format)
    content = path.read_bytes()
    assert (content[:2] == b"\x1f\x8b") == name.lower().endswith(".gz")
    assert (content[:4] == b"PAR1") == (name.lower().endswith("parquet"))
    text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    assert b"text\tshare\n" in text or ".tsv" not in name.lower()
    assert b"0.25\n" in text or "parquet" in name.lower()
    frame = read_frame(path)
    assert [list(frame.column(column).cells) for column in frame.columns] == [
        ["x,y", None, "a b", "Zürich"],
        ["0.25", None, "3", "1"],
    ]
    write_table(path, ["text", "share"], columns, "{:.2f}".format)
    assert path.read_bytes() == content


def test_lines_end_in_lf_and_names_ask_for_a_form(tmp_path: Path) -> None:
    assert csv_text(["a", "b"], [["1", None], ["x,y", "\r"]]) == 'a,b\n1,\n"x,y","\r"\n'
    assert csv_text(["\ufeffa"], []) == "\ufeff\ufeffa\n"
    for name in ("t.xlsx", "t.xls", "t", "t.json", "t.gz", "t.parquet.gz", "t.csv.zip", "t.feather"):
        problem = r"a table's file name must end in \.csv, \.tsv, \.txt, in \.gz after one of these, or in \.parquet$"
        with pytest.raises(DataError, match=problem):
            check_table_name(tmp_path / name)
        with pytest.raises(DataError, match=problem):
            write_table(tmp_path / name, ["a"], [["x"]])
        assert not list(tmp_path.iterdir())


def test_without_pyarrow_parquet_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="writing Parquet needs pyarrow: pip install"):
        check_table_name(tmp_path / "t.parquet")


def test_bytes_that_are_no_text_are_written_as_they_were_read_where_the_form_can_hold_them(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"id,odd\n1,B\xe4\n2,\xc3\xbc\n")
    frame = read_frame(tmp_path / "rows.csv")
    write_table(tmp_path / "out.csv", frame.columns, frame.cells)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "rows.csv").read_bytes()
    with pytest.raises(DataError, match="it would hold bytes that are no text"):
        write_table(tmp_path / "out.parquet", frame.columns, frame.cells)


def test_columns_from_memory_follow_the_rules_of_files() -> None:
    for names, cell, problem in (
        (["a", ""], "x", "memory: the name of column 2 is empty"),
        (["a", "a"], "x", "memory: the name of column 2 is also that of column 1"),
        (["a", "b\0"], "x", "memory: the name of column 2 holds a NUL byte"),
        (["a", "\x1b[2Jb"], "x", "memory: the name of column 2 holds a control character"),
        (["a", "b"], "x\ud800", "memory, line 1, column 'b': the cell holds bytes that are not UTF-8"),
        ([], "x", "memory: there are no records"),
    ):
        with pytest.raises(DataError, match=problem):
            frame_of(Path("memory"), names, [["x"], [cell]][: len(names)]).column("b")
    with pytest.raises(DataError, match="memory: there are no records"):
        frame_of(Path("memory"), ["a", "b"], [[], []])
