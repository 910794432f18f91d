import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import Form, Frame, csv_file, read_frame
from party.data.form import MAX_LINE, CsvLayout
from party.data.plain_csv import read_plain
from party.errors import DataError

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


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.parametrize(
    "content",
    [
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
    ],
    ids=[
        "quote",
        "blank line",
        "its like",
        "CRLF",
        "first",
        "first CRLF",
        "lone return",
        "a record after one",
        "width",
        "cell",
        "name",
        "nul",
        "long",
        "mark",
        "no record",
        "empty",
    ],
)
def test_what_is_not_plain_is_left_to_the_other_reader(content: bytes) -> None:
    assert read_plain(Path("t.csv"), content, LAYOUT) is None


def test_many_rows_come_in_the_order_of_the_file() -> None:
    rows = [[f"p{i}", str(i * 7919 % 10_007), "xyz"[i % 3]] for i in range(200_000)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["id", "n", "c"], *rows])
    written = read_plain(Path("t.csv"), text.getvalue().encode(), LAYOUT)
    assert written is not None
    assert [list(cells) for cells in written.cells] == [list(column) for column in zip(*rows, strict=True)]
