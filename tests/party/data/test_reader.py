import codecs
import csv
import gzip
import io
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import (
    Column,
    ColumnTreatment,
    Form,
    Frame,
    check_table_name,
    csv_file,
    csv_text,
    frame_of,
    read_frame,
    read_share,
    write_table,
)
from party.data.csv_file import CHUNK, read_csv, read_plain
from party.data.form import MAX_LINE, CsvLayout
from party.data.frame import MAX_CELL_LENGTH
from party.data.notices import About
from party.data.writer import Cell
from party.errors import DataError
from party.show.notices import notice_text
from protocols.errors import InputError
from protocols.identifiers import seen
from tests.support.examples import at_most

CANARY = "canary-7731"
C = CANARY.encode()
GOOD = b"id,city,age\n" + C + b",Bern,31\n"


def written(folder: Path, content: bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def used(path: Path) -> list[Column]:
    frame = read_frame(path)
    return [frame.column(name) for name in frame.columns]


def refused(path: Path) -> DataError:
    with pytest.raises(DataError) as caught:
        used(path)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.path == path
    assert str(path) in str(caught.value)
    return caught.value


FAULTS = {
    "only a byte order mark": (codecs.BOM_UTF8, None, None, "empty"),
    "a blank header before a quote": (b'\n"' + C + b'"\n', 1, None, "blank"),
    "a header without an end of line": (b"id,city", None, None, "no records"),
    "an empty name and no record": (b"id,,age\n", 1, None, "name of column 2 is empty"),
    "a name that is not UTF-8": (b"id," + C + b"\xff\n1,\xc3\xbc\n", 1, None, "name of column 2 holds bytes"),
    "a name with a NUL byte": (b"id," + C + b"\0\n1,2\n", 1, None, "name of column 2 holds a NUL"),
    "an overlong name": (b"id," + C * MAX_CELL_LENGTH + b"\n1,2\n", 1, None, "name of column 2 has more than"),
    "a blank line": (GOOD + b"\n" + C + b",Basel,4\n", 3, "id", "0 fields"),
    "a byte that is not UTF-8": (GOOD + C + b",B\xe4le,\xc3\xbc\n", 3, "city", "not UTF-8"),
    "the least such byte": (GOOD + C + b",B\x80le,\xc3\xbc\n", 3, "city", "not UTF-8"),
    "an encoded surrogate": (GOOD + C + b",B\xed\xb2\x80,4\n", 3, "city", "not UTF-8"),
    "an overlong cell": (GOOD + b"1," + C + b"x" * MAX_CELL_LENGTH + b",4\n", 3, "city", str(MAX_CELL_LENGTH)),
    "a cell too long for the csv module": (GOOD + b"1," + C * 20_000 + b",4\n", 3, "city", str(MAX_CELL_LENGTH)),
    "an overlong line": (GOOD + C + b"," * MAX_LINE, 3, None, str(MAX_LINE)),
    "a fault after a cell of two lines": (b'id,city\n"a\nb",1\n2\n', 4, "city", "1 fields"),
    "a quote left open on the second of two lines": (b'id,city\n"a\nb",1\n"' + C, 4, None, "quote"),
    "UTF-16 without a mark": ("id,city\n1,2\n".encode("utf-16-le"), None, None, "UTF-16 without a byte order mark"),
    "UTF-16 of the other order": ("id,city\n1,2\n".encode("utf-16-be"), None, None, "UTF-16 without a byte order mark"),
    "a byte that no encoding has": (GOOD + C + b",B\x81le,4\n", 3, "city", "not UTF-8"),
    "JSON of records": (b'\xef\xbb\xbf[\n  {"a": "' + C + b'"}\n]', None, None, "is JSON, not a table"),
    "JSON of lists": (b'[ ["' + C + b'"]]', None, None, "is JSON, not a table"),
}


def test_a_faulty_file_is_refused_with_its_place_and_without_its_content(tmp_path: Path) -> None:
    for content, line, column, words in FAULTS.values():
        error = refused(written(tmp_path, content))
        assert (error.line, error.column) == (line, column)
        assert words in str(error)
        assert line is None or f"line {line}" in str(error)
        assert column is None or f"column {column!r}" in str(error)


class Meeting(io.BytesIO):
    """A file whose reader does something else before it starts again."""

    def __init__(self, content: bytes, meanwhile: Callable[[], None]) -> None:
        super().__init__(content)
        self.meanwhile = meanwhile

    def seek(self, *place: int) -> int:
        self.meanwhile()
        return super().seek(*place)


def test_a_long_text_is_read_though_another_thread_has_begun_before_and_ends_meanwhile(tmp_path: Path) -> None:
    csv.field_size_limit(1 << 17)
    begun, go = Event(), Event()
    form = Form(encoding="utf-8")  # which nobody guesses, so that the file is read when it is first gone back in

    def wait() -> None:
        begun.set()
        go.wait(10)

    def end() -> None:
        go.set()
        thread.join()

    thread = Thread(target=read_csv, args=(tmp_path / "first.csv", Meeting(GOOD, wait), form))
    thread.start()
    assert begun.wait(10)
    second = Meeting(b'a\n"' + b"x" * (1 << 18) + b'"\n', end)
    assert len(read_csv(tmp_path / "second.csv", second, form)) == 1


def test_quotes_are_read_and_an_open_one_or_a_name_that_is_not_there_refused(tmp_path: Path) -> None:
    for mark in (b"", codecs.BOM_UTF8):
        for end in (b"\n", b"\r\n"):
            content = mark + b"id,city\n1,Z\xc3\xbcrich\n2,\n".replace(b"\n", end)
            for text in (content, content[: -len(end)]):
                frame = read_frame(written(tmp_path, text))
                assert frame.columns == ("id", "city")
                assert list(map(list, frame.cells)) == [["1", "2"], ["Zürich", None]]
                assert list(frame.lines) == [2, 3]
    frame = read_frame(written(tmp_path, b'"id","a ""b"""\n1,"x,y"\n2,"p\r\nq ""r"""\n3,\n'))
    assert frame.columns == ("id", 'a "b"')
    assert list(frame.cells[1]) == ["x,y", 'p\r\nq "r"', None]
    assert list(frame.lines) == [2, 3, 5]
    assert read_frame(written(tmp_path, b"a\n" + b"x" * MAX_CELL_LENGTH)).cells[0] == ["x" * MAX_CELL_LENGTH]
    line = b"," * (MAX_LINE - 1) + b"\n"
    assert f"{MAX_LINE} fields, the header 1" in str(refused(written(tmp_path, b"a\n" + line)))
    n = 2 * CHUNK + 1
    frame = read_frame(written(tmp_path, b"id,b\n" + b"".join(b"%d,x\n" % i for i in range(n))))
    assert len(frame) == n
    assert list(frame.cells[0]) == [str(i) for i in range(n)]
    assert len({id(cell) for cell in frame.cells[1]}) == 1
    error = refused(written(tmp_path, GOOD + b'1,"' + C + b",4\n" * 20_000))
    assert error.line == 3
    assert ".csv, .tsv, .txt or .parquet" in str(refused(written(tmp_path, GOOD, "table.xls")))
    assert read_frame(written(tmp_path, GOOD, "table.CSV")).columns == ("id", "city", "age")
    assert "does not exist" in str(refused(tmp_path / "none.csv"))
    assert "does not exist" in str(refused(tmp_path / "none.parquet"))
    (tmp_path / "folder.csv").mkdir()
    assert "directory" in str(refused(tmp_path / "folder.csv"))
    frame = read_frame(written(tmp_path, GOOD))
    with pytest.raises(DataError, match="column 'town': the file has no such column"):
        frame.column("town")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.text(
    st.sampled_from("ab\r\n\",' \ufeffé"), max_size=5
)


def named(text: str) -> str:
    return " ".join(seen(text).split())


@settings(max_examples=at_most(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_table_is_read_as_it_was_written_but_for_blanks_around_cells(tmp_path: Path, data: st.DataObject) -> None:
    names = data.draw(st.lists(TEXT.map(named).filter(bool), min_size=1, max_size=4, unique=True))
    rows = data.draw(st.lists(st.lists(TEXT, min_size=len(names), max_size=len(names)), min_size=1, max_size=6))
    buffer = io.StringIO()
    dialect = data.draw(st.sampled_from(["unix", "excel", "ours"]))  # all in quotes, LF; where needed, CRLF, or LF
    if dialect == "ours":
        buffer.write(csv_text(names, rows))
    else:
        csv.writer(buffer, dialect).writerows([names, *rows])
    path = written(tmp_path, codecs.BOM_UTF8 + buffer.getvalue().encode())
    frame = read_frame(path, Form(separator=","))
    assert frame.columns == tuple(names)
    found = [[(cell or "").strip() for cell in row] for row in zip(*frame.cells, strict=True)]
    assert found == [[cell.strip() for cell in row] for row in rows]


def parquet(folder: Path, columns: dict[str, pa.Array], name: str = "table.parquet") -> Path:
    pq.write_table(pa.Table.from_arrays(list(columns.values()), names=list(columns)), folder / name)
    return folder / name


def test_parquet_reads_as_the_csv_with_the_same_table(tmp_path: Path) -> None:
    columns = {
        "text": pa.array(["x", None, "?", ""]),
        "large": pa.array(["x", None, "?", ""], pa.large_string()),
        "category": pa.array(["a", "b", "a", None]).dictionary_encode(),
        "whole": pa.array([1, -2, None, 2**62]),
        "level": pa.array([1.5, 2.0, 1.5, None]).dictionary_encode(),
        "real": pa.array([1.5, 2.0, None, -0.25]),
        "flag": pa.array([True, False, None, True]),
        "day": pa.array([date(2020, 2, 29), None, None, date(1999, 1, 1)]),
        "money": pa.array([None, None, None, Decimal("5.00")]),
    }
    frame = read_frame(parquet(tmp_path, columns))
    content = (
        "text,large,category,whole,level,real,flag,day,money\n"
        "x,x,a,1,1.5,1.5,true,2020-02-29,\n"
        ",,b,-2,2,2,false,,\n"
        "?,?,a,,1.5,,,,\n"
        ",,,4611686018427387904,,-0.25,true,1999-01-01,5.00\n"
    )
    same = read_frame(written(tmp_path, content.encode()))
    assert frame.columns == same.columns
    for name in frame.columns:
        assert list(frame.column(name).cells) == list(same.column(name).cells)
    assert list(frame.lines) == [1, 2, 3, 4]


LONG, BAD = b"x" * (MAX_CELL_LENGTH + 1), b"B\xe4"


def test_what_cannot_be_used_is_no_hindrance_elsewhere(tmp_path: Path) -> None:
    for odd in (LONG, b'"' + LONG * 200 + b'"', BAD, b"a\0b", b"\xed\xb2\x80"):
        path = written(tmp_path, b"id,odd,city\n1," + odd + b",Bern\n2,y,Z\xc3\xbcrich\n")
        frame = read_frame(path)
        assert frame.column("city").cells == ["Bern", "Zürich"]
        assert refused(path).column == "odd"
        named = {"*": ColumnTreatment(smallest_value=1)}
        assert [column.name for column in read_share(path, "alice", "id", None, named, ["odd"]).attributes] == ["city"]
    odd = pa.Array.from_buffers(pa.string(), 1, pa.array([C + b"\xff"]).buffers())
    path = parquet(
        tmp_path, {"id": pa.array(["1"]), "odd": odd, "many": pa.array([[1, 2]]), "city": pa.array(["Bern"])}
    )
    frame = read_frame(path)
    assert frame.column("city").cells == ["Bern"]
    assert list(map(list, frame.cells[1:])) == [[CANARY + "\udcff"], ["[1, 2]"], ["Bern"]]


def test_reprs_show_sizes_and_names_are_read_as_they_are_seen(tmp_path: Path) -> None:
    frame = read_frame(written(tmp_path, GOOD))
    assert repr(frame) == "<Frame 1 x 3>"
    assert repr(frame.column("id")) == "<Column of 1 cells>"
    frame = read_frame(written(tmp_path, 'id\u200b,"Body\n mass",a\n1,2,3\n'.encode()))
    assert frame.columns == ("id", "Body mass", "a")
    assert list(map(notice_text, frame.notices)) == [
        f"{tmp_path / 'table.csv'}: 2 names of columns hold invisible characters, which are left out"
    ]
    assert "column 1 holds a control character" in str(refused(written(tmp_path, b"a\x1b[2J,b\n1,2\n")))


def test_parquet_is_known_by_its_content_and_passes_the_same_checks_as_csv(tmp_path: Path) -> None:
    content = parquet(tmp_path, {"id": pa.array(["1"]), "city": pa.array(["Bern"])}).read_bytes()
    assert list(map(list, read_frame(written(tmp_path, content, "table.csv")).cells)) == [["1"], ["Bern"]]
    for cell in ([CANARY], {"a": CANARY}):
        error = refused(parquet(tmp_path, {"id": pa.array(["1"]), "odd": pa.array([cell])}))
        assert error.column == "odd"
        assert "lists or structures" in str(error)
    path = parquet(tmp_path, {"id": pa.array(["1"]), "odd": pa.array(["x"])})
    path.write_bytes(path.read_bytes().replace(b"odd", b"\xb0\xb0\xb0"))
    assert "not Parquet, or is damaged" in str(refused(path))
    assert "not Parquet" in str(refused(written(tmp_path, C * 10, "table.parquet")))
    whole = parquet(tmp_path, {"id": pa.array([CANARY] * 9)}).read_bytes()
    assert "not Parquet" in str(refused(written(tmp_path, whole[:-20], "table.parquet")))
    whole = parquet(tmp_path, {"id": pa.array([f"{CANARY}{n}" for n in range(1000)])}).read_bytes()
    assert "damaged" in str(refused(written(tmp_path, whole[:60] + b"\xff" * 40 + whole[100:], "table.parquet")))
    for kind in (pa.string(), pa.binary()):
        odd = pa.Array.from_buffers(kind, 1, pa.array([C + b"\xff"]).buffers())
        error = refused(parquet(tmp_path, {"id": pa.array(["1"]), "odd": odd}))
        assert (error.line, error.column) == (1, "odd")
        assert "holds bytes that are not UTF-8" in str(error)
    table = pa.Table.from_arrays([pa.array([CANARY]), pa.array(["2"])], names=["a", "a"])
    pq.write_table(table, tmp_path / "table.parquet")
    assert "column 2 is also that of column 1" in str(refused(tmp_path / "table.parquet"))
    assert "no records" in str(refused(parquet(tmp_path, {"a": pa.array([], pa.string())})))
    error = refused(parquet(tmp_path, {"a": pa.array(["1", CANARY + "\0"])}))
    assert (error.line, error.column) == (2, "a")
    pq.write_table(pa.table({}), tmp_path / "table.parquet")
    assert "blank" in str(refused(tmp_path / "table.parquet"))


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path, {"a": pa.array(["1"])})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install '.[parquet]'" in str(refused(path))
    assert len(read_frame(written(tmp_path, GOOD))) == 1


def test_a_table_has_the_form_that_its_name_says_and_is_read_back(tmp_path: Path) -> None:
    for name in ["t.csv", "t.TSV", "t.txt", "t.csv.gz", "t.tsv.gz", "t.txt.GZ", "t.parquet", "t.PARQUET"]:
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


def test_without_pyarrow_parquet_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match="writing Parquet needs pyarrow: pip install"):
        check_table_name(tmp_path / "t.parquet")


def test_lines_end_in_lf_and_bytes_that_are_no_text_are_written_as_they_were_read(tmp_path: Path) -> None:
    assert csv_text(["a", "b"], [["1", None], ["x,y", "\r"]]) == 'a,b\n1,\n"x,y","\r"\n'
    assert csv_text(["\ufeffa"], []) == "\ufeff\ufeffa\n"
    for name in ("t.xlsx", "t.xls", "t", "t.json", "t.gz", "t.parquet.gz", "t.csv.zip", "t.feather"):
        problem = r"a table's file name must end in \.csv, \.tsv, \.txt, in \.gz after one of these, or in \.parquet$"
        with pytest.raises(DataError, match=problem):
            check_table_name(tmp_path / name)
        with pytest.raises(DataError, match=problem):
            write_table(tmp_path / name, ["a"], [["x"]])
        assert not list(tmp_path.iterdir())
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


def test_a_plain_csv_is_read_and_binned_without_pandas_whose_import_takes_longer(tmp_path: Path) -> None:
    rows = [b"%d,%s,%s\n" % (i, [b"x", b"y"][i % 2], [b"", b"2", b"2.5"][i % 3]) for i in range(99)]
    path = written(tmp_path, b"id,city,age\n" + b"".join(rows))
    program = (
        "import sys; from pathlib import Path; from party.data import ColumnTreatment, read_share\n"
        "treated = {'age': ColumnTreatment(bins='quantiles:2')}\n"
        "share = read_share(Path(sys.argv[1]), 'alice', 'id', treatments=treated)\n"
        "print(share.attributes[0].values, *sorted({'pandas', 'pyarrow'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.stdout == "('x', 'y') pyarrow\n", done.stderr


ROWS = [["1", "Zürich", "2,5"], ["2", "Genève", None]]


def files_written(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def rows(frame: Frame) -> list[list[str | None]]:
    return list(map(list, zip(*(frame.column(name).cells for name in frame.columns), strict=True)))


def test_the_encoding_is_found_out_or_declared(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32", "cp1252"):
        path = files_written(tmp_path, "id;city;rate\r\n1;Zürich;2,5\r\n2;Genève;\r\n".encode(encoding))
        frame = read_frame(path)
        assert rows(frame) == ROWS
        guessed = f"{path} is not UTF-8: read as Windows-1252 (Latin-1); if that is wrong, declare its encoding"
        central = ", such as cp1250: some letters are other letters in Central Europe, and names would be sent wrongly"
        assert tuple(map(notice_text, frame.notices)) == ((guessed + central,) if encoding == "cp1252" else ())
    for text, doubtful in (("Zürich", False), ("Genève", True), ("Łódź", True)):
        path = files_written(tmp_path, f"id,city\n1,{text}\n".encode("cp1250" if text == "Łódź" else "cp1252"))
        (notice,) = read_frame(path).notices
        assert notice == (About.CENTRAL_ENCODING if doubtful else About.ENCODING)(path=path)
    for encoding in ("utf-16-le", "utf-16-be", "mac-roman", "latin-1"):
        path = files_written(tmp_path, "id;city;rate\n1;Zürich;2,5\n2;Genève;\n".encode(encoding))
        frame = read_frame(path, Form(encoding=encoding))
        assert (rows(frame), frame.notices) == (ROWS, ())
    path = files_written(tmp_path, "id,city\n1,Zürich\n".encode("cp1252"))
    with pytest.raises(DataError, match="line 2, column 'city': the cell holds bytes that are not UTF-8"):
        read_frame(path, Form(encoding="utf-8")).column("city")
    with pytest.raises(DataError, match="the file is not text in UTF-16"):
        read_frame(path, Form(encoding="utf-16"))


def test_what_cannot_be_declared_is_refused() -> None:
    for declared, problem in [
        ({"separator": ";;"}, "separator must be one character"),
        ({"separator": '"'}, "separator must be one character"),
        ({"encoding": "utf-9"}, "encoding must be one that Python knows"),
        ({"encoding": "hex"}, "encoding must be one that Python knows"),
    ]:
        with pytest.raises(InputError, match=problem):
            Form(**declared)  # type: ignore[arg-type]


def test_packed_files_and_the_standard_input_are_read_for_a_dash_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("table.tsv", "table.TXT", "table.csv.gz", "packed.csv"):
        content = "id\tcity\trate\n1\tZürich\t2,5\n2\tGenève\t\n".encode()
        frame = read_frame(
            files_written(tmp_path, gzip.compress(content) if "gz" in name or "packed" in name else content, name)
        )
        assert rows(frame) == ROWS
    content = gzip.compress(b"id,city\n" + b"".join(b"%d,Bern\n" % i for i in range(5000)))
    with pytest.raises(DataError, match="cannot be read: the file is damaged"):
        read_frame(files_written(tmp_path, content[:-100], "table.csv.gz"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("id;city;rate\n1;Zürich;2,5\n2;Genève;\n".encode())))
    frame = read_frame("-")
    assert rows(frame) == ROWS
    with pytest.raises(DataError, match="standard input, column 'town': the file has no such column"):
        frame.need("town")


def test_blanks_and_lines_of_nothing_are_none(tmp_path: Path) -> None:
    frame = read_frame(files_written(tmp_path, 'id, job , "pay, gross"\n1, clerk , "x, y"\n2, ?, "z"\n'))
    assert frame.columns == ("id", "job", "pay, gross")
    assert rows(frame) == [["1", "clerk", "x, y"], ["2", None, "z"]]
    for end in ("\n", "\n\r\n", "   \n", "\n  \n\n"):
        assert rows(read_frame(files_written(tmp_path, "id,city\n1,Bern\n" + end))) == [["1", "Bern"]]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"])
def test_an_index_without_a_name_is_no_column_and_is_named(name: str, tmp_path: Path) -> None:
    path = files_written(tmp_path, f"{name},id,city\n0,a,Bern\n1,b,Basel\n")
    frame = read_frame(path)
    assert frame.columns == ("id", "city")
    called = f"column {name!r}" if name else "column 1, which has no name,"
    assert tuple(map(notice_text, frame.notices)) == (
        f"{path}: {called} is taken for an index of the program that wrote the file, and left out",
    )


def test_the_separator_is_found_out(tmp_path: Path) -> None:
    for mark in (";", "\t", "|"):
        for first in ("", "sep={}\n", '"sep={}"\r\n'):
            text = first.format(mark) + "id;city;rate\n1;Zürich;2,5\n2;Genève;\n".replace(";", mark)
            frame = read_frame(files_written(tmp_path, text))
            assert frame.columns == ("id", "city", "rate")
            assert rows(frame) == ROWS
            assert list(frame.lines) == ([3, 4] if first else [2, 3])
            assert frame.notices == ()
    frame = read_frame(files_written(tmp_path, 'id,a|b;c,"x;y;z;w"\n1,p|q,r;s\n2,|,;\n'))
    assert frame.columns == ("id", "a|b;c", "x;y;z;w")
    assert read_frame(files_written(tmp_path, "a;b\nx\ny\n")).columns == ("a;b",)
    assert read_frame(files_written(tmp_path, "a;b\nx;y\n"), Form(separator=",")).columns == ("a;b",)
    frame = read_frame(files_written(tmp_path, "id,city,\n1,Bern,\n"))
    assert (frame.columns, frame.notices) == (("id", "city"), ())
    with pytest.raises(DataError, match="line 1: the name of column 3 is empty"):
        read_frame(files_written(tmp_path, "id,city,\n1,Bern,x\n"))


def test_every_index_that_pandas_names_in_parquet_is_no_column(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["a", "b"], "city": ["Bern", "Basel"], "ward": [1, 2]})
    table.to_parquet(tmp_path / "plain.parquet")
    table[table.ward > 0].set_index(["ward", "id"]).to_parquet(tmp_path / "named.parquet")
    table.set_axis(["ann", "ben"]).to_parquet(tmp_path / "hidden.parquet")
    assert read_frame(tmp_path / "plain.parquet").columns == ("id", "city", "ward")
    hidden = read_frame(tmp_path / "hidden.parquet")
    assert hidden.columns == ("id", "city", "ward")
    assert "'__index_level_0__' is taken for an index" in notice_text(hidden.notices[0])
    named = read_frame(tmp_path / "named.parquet")
    assert (named.columns, len(named.notices)) == (("city",), 2)
    with pytest.raises(DataError, match=r"column 'id': it is an index .* \(pandas: reset_index\)"):
        named.column("id")


def test_a_column_name_that_is_not_there_is_suggested_and_no_record_in_place_of_names_is_shown(tmp_path: Path) -> None:
    frame = read_frame(files_written(tmp_path, "id,Member,canary\n1,x,y\n"))
    with pytest.raises(DataError, match=r"column 'member': the file has no such column; did you mean 'Member'\?"):
        frame.need("member")
    for record in ("7,x,canary\n8,y,z\n", "p7,x,canary\np8,x,z\n"):
        with pytest.raises(DataError, match="its first line seems to be a record: write the names") as caught:
            read_frame(files_written(tmp_path, record)).need("town")
        assert "canary" not in str(caught.value)
    with pytest.raises(DataError, match="only one: are columns separated by another character"):
        read_frame(files_written(tmp_path, "id/town\n1/x\n")).need("ward")


CELLS = st.one_of(
    st.sampled_from(["", "NA", "?", "x", "Zürich", " a", "\ufeff", "1", "1.0", "007", "-", "1.50", "2024-01-31"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\r\n\0,'), max_size=6),
)
LAYOUT = CsvLayout(",")


def files_seen(frame: Frame) -> tuple[Any, ...]:
    columns = [frame.column(name) for name in frame.columns]
    return frame.columns, [(list(c.cells), c.taken, c.spelt) for c in columns], list(frame.lines), frame.notices


def outcome(path: Path) -> tuple[Any, ...] | str:
    try:
        return files_seen(read_frame(path, Form(separator=",")))
    except DataError as error:
        return str(error)


@settings(max_examples=at_most(200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_both_readers_say_the_same_of_any_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    width = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    content = "".join(",".join(row) + end for row in [[f"c{i}" for i in range(width)], *rows])
    cut = data.draw(st.sampled_from([content, content[: -len(end)], content + end, content + "x" + end, end + content]))
    path = tmp_path / "table.csv"
    path.write_bytes(cut.encode())
    fast = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(csv_file, "read_plain", lambda *_: None)
        assert outcome(path) == fast


def test_a_plain_file_is_read_the_fast_way_and_its_rows_are_numbered_by_lines() -> None:
    files_written = read_plain(Path("t.csv"), "sep=,\r\na,é\r\n1,\r\n2,ü\r\n".encode(), CsvLayout(",", skipped=1))
    assert files_written is not None
    assert [*files_written.names] == ["a", "é"]
    assert list(map(list, files_written.cells)) == [["1", "2"], [None, "ü"]]
    assert list(files_written.lines) == [3, 4]
    assert files_written.header == 2


def test_what_is_not_plain_is_left_to_the_other_reader() -> None:
    for content in [
        b'a,b\n"1",2\n', b"a,b\n1,2\n\n3,4\n", b"a\n1\n\n2\n", b"a\r\n1\r\n\r\n2\r\n", b"a\n\n1\n", b"a\r\n\r\n1\r\n",
        b"a,b\r1,2\r", b"a,b\n1,2\r3,4\n", b"a,b\n1,2,3\n", b"a,b\n1,\xff\n", b"a,\xff\n1,2\n", b"a,b\n1,\0\n",
        b"a,b\n1," + b"x" * MAX_LINE + b"\n", b"a,b\n\xef\xbb\xbf,2\n", b"a,b\n", b"",
    ]:  # fmt: skip
        assert read_plain(Path("t.csv"), content, LAYOUT) is None


def test_many_rows_come_in_the_order_of_the_file() -> None:
    rows = [[f"p{i}", str(i * 7919 % 10_007), "xyz"[i % 3]] for i in range(80_000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["id", "n", "c"], *rows])
    files_written = read_plain(Path("t.csv"), text.getvalue().encode(), LAYOUT)
    assert files_written is not None
    assert [list(cells) for cells in files_written.cells] == [list(column) for column in zip(*rows, strict=True)]


def test_a_data_error_names_what_is_known_of_the_place() -> None:
    error = DataError("is odd", path="t.csv", line=3, column="age")
    assert str(error) == "t.csv, line 3, column 'age': is odd"
    assert (error.path, error.line, error.column) == ("t.csv", 3, "age")
    assert str(DataError("is odd", path="t.csv", column="age")) == "t.csv, column 'age': is odd"
    assert str(DataError("is odd")) == "is odd"
