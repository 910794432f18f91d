"""Files as people have them: separators, encodings, packing, indexes, and what is said where one is refused."""

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import Form, Frame, csv_file, read_frame
from party.data.csv_file import read_plain
from party.data.form import MAX_LINE, CsvLayout
from party.data.notices import About
from party.errors import ConfigError, DataError, IdentityError, PeerLostError, PeerStoppedError, exit_code
from party.show.notices import notice_text
from protocols.errors import DeviationError, DisagreementError, InputError, PeerError
from tests.support.examples import at_most

ROWS = [["1", "Zürich", "2,5"], ["2", "Genève", None]]


def written(folder: Path, content: bytes | str, name: str = "table.csv") -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def rows(frame: Frame) -> list[list[str | None]]:
    return list(map(list, zip(*(frame.column(name).cells for name in frame.columns), strict=True)))


def test_the_encoding_is_found_out_or_declared(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32", "cp1252"):
        path = written(tmp_path, "id;city;rate\r\n1;Zürich;2,5\r\n2;Genève;\r\n".encode(encoding))
        frame = read_frame(path)
        assert rows(frame) == ROWS
        guessed = f"{path} is not UTF-8: read as Windows-1252 (Latin-1); if that is wrong, declare its encoding"
        central = ", such as cp1250: it has letters that are others in Central Europe, and names would cross so"
        assert tuple(map(notice_text, frame.notices)) == ((guessed + central,) if encoding == "cp1252" else ())
    for text, doubtful in (("Zürich", False), ("Genève", True), ("Łódź", True)):
        path = written(tmp_path, f"id,city\n1,{text}\n".encode("cp1250" if text == "Łódź" else "cp1252"))
        (notice,) = read_frame(path).notices
        assert notice == (About.CENTRAL_ENCODING if doubtful else About.ENCODING)(path=path)
    for encoding in ("utf-16-le", "utf-16-be", "mac-roman", "latin-1"):
        path = written(tmp_path, "id;city;rate\n1;Zürich;2,5\n2;Genève;\n".encode(encoding))
        frame = read_frame(path, Form(encoding=encoding))
        assert (rows(frame), frame.notices) == (ROWS, ())
    path = written(tmp_path, "id,city\n1,Zürich\n".encode("cp1252"))
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
            written(tmp_path, gzip.compress(content) if "gz" in name or "packed" in name else content, name)
        )
        assert rows(frame) == ROWS
    content = gzip.compress(b"id,city\n" + b"".join(b"%d,Bern\n" % i for i in range(5000)))
    with pytest.raises(DataError, match="cannot be read: the file is damaged"):
        read_frame(written(tmp_path, content[:-100], "table.csv.gz"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("id;city;rate\n1;Zürich;2,5\n2;Genève;\n".encode())))
    frame = read_frame("-")
    assert rows(frame) == ROWS
    with pytest.raises(DataError, match="standard input, column 'town': the file has no such column"):
        frame.need("town")


def test_blanks_and_lines_of_nothing_are_none(tmp_path: Path) -> None:
    frame = read_frame(written(tmp_path, 'id, job , "pay, gross"\n1, clerk , "x, y"\n2, ?, "z"\n'))
    assert frame.columns == ("id", "job", "pay, gross")
    assert rows(frame) == [["1", "clerk", "x, y"], ["2", None, "z"]]
    for end in ("\n", "\n\r\n", "   \n", "\n  \n\n"):
        assert rows(read_frame(written(tmp_path, "id,city\n1,Bern\n" + end))) == [["1", "Bern"]]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1", "__index_level_0__"])
def test_an_index_without_a_name_is_no_column_and_is_told(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{name},id,city\n0,a,Bern\n1,b,Basel\n")
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
            frame = read_frame(written(tmp_path, text))
            assert frame.columns == ("id", "city", "rate")
            assert rows(frame) == ROWS
            assert list(frame.lines) == ([3, 4] if first else [2, 3])
            assert frame.notices == ()
    frame = read_frame(written(tmp_path, 'id,a|b;c,"x;y;z;w"\n1,p|q,r;s\n2,|,;\n'))
    assert frame.columns == ("id", "a|b;c", "x;y;z;w")
    assert read_frame(written(tmp_path, "a;b\nx\ny\n")).columns == ("a;b",)
    assert read_frame(written(tmp_path, "a;b\nx;y\n"), Form(separator=",")).columns == ("a;b",)
    frame = read_frame(written(tmp_path, "id,city,\n1,Bern,\n"))
    assert (frame.columns, frame.notices) == (("id", "city"), ())
    with pytest.raises(DataError, match="line 1: the name of column 3 is empty"):
        read_frame(written(tmp_path, "id,city,\n1,Bern,x\n"))


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
    frame = read_frame(written(tmp_path, "id,Member,canary\n1,x,y\n"))
    with pytest.raises(DataError, match=r"column 'member': the file has no such column; did you mean 'Member'\?"):
        frame.need("member")
    for record in ("7,x,canary\n8,y,z\n", "p7,x,canary\np8,x,z\n"):
        with pytest.raises(DataError, match="its first line seems to be a record: write the names") as caught:
            read_frame(written(tmp_path, record)).need("town")
        assert "canary" not in str(caught.value)
    with pytest.raises(DataError, match="only one: are columns separated by another character"):
        read_frame(written(tmp_path, "id/town\n1/x\n")).need("ward")


CELLS = st.one_of(
    st.sampled_from(["", "NA", "?", "x", "Zürich", " a", "\ufeff", "1", "1.0", "007", "-", "1.50", "2024-01-31"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\r\n\0,'), max_size=6),
)
LAYOUT = CsvLayout(",")


def seen(frame: Frame) -> tuple[Any, ...]:
    columns = [frame.column(name) for name in frame.columns]
    return frame.columns, [(list(c.cells), c.taken, c.spelt) for c in columns], list(frame.lines), frame.notices


def outcome(path: Path) -> tuple[Any, ...] | str:
    try:
        return seen(read_frame(path, Form(separator=",")))
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
    written = read_plain(Path("t.csv"), "sep=,\r\na,é\r\n1,\r\n2,ü\r\n".encode(), CsvLayout(",", skipped=1))
    assert written is not None
    assert [*written.names] == ["a", "é"]
    assert list(map(list, written.cells)) == [["1", "2"], [None, "ü"]]
    assert list(written.lines) == [3, 4]
    assert written.header == 2


def test_what_is_not_plain_is_left_to_the_other_reader() -> None:
    for content in [
        b'a,b\n"1",2\n',
        b"a,b\n1,2\n\n3,4\n",
        b"a\n1\n\n2\n",
        b"a\r\n1\r\n\r\n2\r\n",
        b"a\n\n1\n",
        b"a\r\n\r\n1\r\n",
        b"a,b\r1,2\r",
        b"a,b\n1,2\r3,4\n",
        b"a,b\n1,2,3\n",
        b"a,b\n1,\xff\n",
        b"a,\xff\n1,2\n",
        b"a,b\n1,\0\n",
        b"a,b\n1," + b"x" * MAX_LINE + b"\n",
        b"a,b\n\xef\xbb\xbf,2\n",
        b"a,b\n",
        b"",
    ]:
        assert read_plain(Path("t.csv"), content, LAYOUT) is None


def test_many_rows_come_in_the_order_of_the_file() -> None:
    rows = [[f"p{i}", str(i * 7919 % 10_007), "xyz"[i % 3]] for i in range(200_000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["id", "n", "c"], *rows])
    written = read_plain(Path("t.csv"), text.getvalue().encode(), LAYOUT)
    assert written is not None
    assert [list(cells) for cells in written.cells] == [list(column) for column in zip(*rows, strict=True)]


def test_faults_end_with_their_exit_codes() -> None:
    for kind in (InputError, DataError, ConfigError, IdentityError):
        assert issubclass(kind, InputError)
        assert exit_code(kind("x")) == 2
    for error in (PeerError("x"), PeerLostError("x"), PeerStoppedError("x"), DeviationError()):
        assert isinstance(error, PeerError)
        assert exit_code(error) == 3
    assert issubclass(DisagreementError, PeerError)
    assert exit_code(DisagreementError("theta", "differs")) == 5


def test_a_data_error_names_what_is_known_of_the_place() -> None:
    error = DataError("is odd", path="t.csv", line=3, column="age")
    assert str(error) == "t.csv, line 3, column 'age': is odd"
    assert (error.path, error.line, error.column) == ("t.csv", 3, "age")
    assert str(DataError("is odd", path="t.csv", column="age")) == "t.csv, column 'age': is odd"
    assert str(DataError("is odd")) == "is odd"
