from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import csv_text, frame_of, read_frame
from party.data.texts import plain_text
from party.errors import DataError

TEXT = st.text(st.sampled_from("ab\r\n\",' \ufeffé"), max_size=5)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_lines_end_in_lf_and_cells_have_quotes_where_they_need_them() -> None:
    assert csv_text(["a", "b"], [["1", None], ["x,y", "\r"]]) == 'a,b\n1,\n"x,y","\r"\n'
    assert csv_text(["\ufeffa"], []) == "\ufeff\ufeffa\n"


@pytest.mark.parametrize(
    ("names", "cell", "problem"),
    [
        (["a", ""], "x", "memory: the name of column 2 is empty"),
        (["a", "a"], "x", "memory: the name of column 2 is also that of column 1"),
        (["a", "b\0"], "x", "memory: the name of column 2 holds a NUL byte"),
        (["a", "\x1b[2Jb"], "x", "memory: the name of column 2 holds a control character"),
        (["a", "b"], "x\ud800", "memory, line 1, column 'b': the cell holds bytes that are not UTF-8"),
        ([], "x", "memory: there are no records"),
    ],
)
def test_columns_from_memory_follow_the_rules_of_files(names: list[str], cell: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        frame_of(Path("memory"), names, [["x"], [cell]][: len(names)]).column("b")


def test_columns_from_memory_need_a_record() -> None:
    with pytest.raises(DataError, match="memory: there are no records"):
        frame_of(Path("memory"), ["a", "b"], [[], []])
