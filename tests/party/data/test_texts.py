"""The same table gives the same texts from CSV, from Parquet and from a data frame."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data import ColumnTreatment, Frame, frame_of, read_frame, read_share
from party.data.texts import plain_text, read_texts, value_of
from party.show.notices import notice_text
from party.survey.table import as_frame

TABLE = pd.DataFrame(
    {
        "id": [1.0, 2.0, 3.0],
        "whole": [1, 2, 3],
        "float": [2.0, 0.0, np.nan],
        "broken": [0.5, 1e-7, 1e16],
        "single": np.array([0.1, 2.0, 3.25], dtype=np.float32),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "truth": [True, False, True],
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "day": pd.to_datetime(["2024-05-31", "2024-06-01", None]),
        "time": pd.to_datetime(["2024-05-31 12:30:00", "2024-06-01", "2024-06-01 00:00:00.250"], format="ISO8601"),
        "zone": pd.to_datetime(["2024-05-31 12:30", "2024-06-01", None], utc=True, format="ISO8601"),
        "text": [" x", "y ", "?"],
        "kind": pd.Categorical([2.0, 1.0, 2.0]),
    }
)
TEXTS = {
    "id": ["1", "2", "3"],
    "whole": ["1", "2", "3"],
    "float": ["2", "0", None],
    "broken": ["0.5", "0.0000001", "10000000000000000"],
    "single": ["0.1", "2", "3.25"],
    "nullable": ["1", None, "3"],
    "truth": ["True", "False", "True"],
    "maybe": ["True", None, "False"],
    "day": ["2024-05-31", "2024-06-01", None],
    "time": ["2024-05-31T12:30:00", "2024-06-01", "2024-06-01T00:00:00.25"],
    "zone": ["2024-05-31T12:30:00Z", "2024-06-01T00:00:00Z", None],
    "text": ["x", "y", None],
    "kind": ["2", "1", "2"],
}


def test_csv_parquet_and_a_data_frame_give_the_same_texts(tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    TABLE.to_parquet(tmp_path / "table.parquet")
    frames = [read_frame(tmp_path / "table.csv"), read_frame(tmp_path / "table.parquet"), as_frame(TABLE)]
    frames.append(as_frame(pd.read_csv(tmp_path / "table.csv")))
    for frame in frames:
        assert {name: list(frame.column(name).cells) for name in frame.columns} == TEXTS
        assert list(frame.ids("id").cells) == ["1", "2", "3"]


def texts(*cells: str) -> list[str | None]:
    return list(frame_of(Path("t"), ["c"], [cells]).column("c").cells)


@pytest.mark.parametrize(
    "cells",
    [
        ("007", "1.0"),  # codes, as their zeros show
        ("1.0", "beta"),
        ("+1", "2.0"),
        ("true", "yes"),
        ("2024-05-31", "2024-05-31 00:00:00", "soon"),
        ("1" * 41, "2.0" + "0" * 39),
        ("1.0\n2", "3"),
    ],
)
def test_a_column_that_is_not_of_one_kind_stays_as_it_is(cells: tuple[str, ...]) -> None:
    assert texts(*cells) == list(cells)


def test_numbers_of_one_size_are_one_value_however_they_are_written() -> None:
    assert texts("2", "2.0", " 2.00") == ["2"] * 3
    assert texts(".5", "0.50", "-0.0", "1e3", "5.") == ["0.5", "0.5", "0", "1000", "5"]


def test_ids_stay_as_they_are_but_for_whole_floats() -> None:
    frame = frame_of(Path("t"), ["a", "b", "c"], [["1.0", "42.0"], ["007", "1.5"], [" r1", "NA"]])
    assert [list(frame.ids(name).cells) for name in "abc"] == [["1", "42"], ["007", "1.5"], [" r1", "NA"]]
    assert list(frame_of(Path("t"), ["a"], [["1\n2.0", "3.0"]]).ids("a").cells) == ["1\n2.0", "3.0"]


MARKERS = ["?", "-", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", " ? ", "  "]


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_known_everywhere_are_missing_and_do_not_make_numbers_text(marker: str) -> None:
    assert texts("1.0", marker, "2.0") == ["1", None, "2"]
    assert texts("none", "na", "x") == ["none", "na", "x"]


def namibia(folder: Path) -> Path:
    path = folder / "trips.csv"
    path.write_text("id,country,days\n1,NA,3\n2,CH,-\n3,NA,NA\n4,ch,4\n")
    return path


def test_markers_are_told_and_a_column_can_keep_one_as_a_value(tmp_path: Path) -> None:
    alike = (
        "column 'country': 2 values differ from others only by case, blanks or Unicode form, and are taken for "
        "different; if they mean the same, spell them alike in the file before the first run"
    )
    named = {"*": ColumnTreatment(smallest_value=1)}
    share = read_share(namibia(tmp_path), "alice", "id", None, named)
    assert tuple(map(notice_text, share.notices)) == (
        "taken for missing cells: 'NA' in 'country', 'days'; '-' in 'days'",
        alike,
    )
    own = ColumnTreatment(not_missing=("NA",), smallest_value=1)
    kept = read_share(namibia(tmp_path), "alice", "id", None, named | {"country": own})
    assert kept.attributes[0].values == ("CH", "NA", "ch")
    assert tuple(map(notice_text, kept.notices)) == ("taken for missing cells: '-' in 'days'; 'NA' in 'days'", alike)


@pytest.mark.parametrize("other", ["Zu\u0308rich", "ZÜRICH", "Zü rich"])
def test_values_that_are_spelled_alike_are_counted_and_never_shown(other: str) -> None:
    column = frame_of(Path("t"), ["city"], [["Zürich", other, "Bern", " Bern"]]).column("city")
    assert column.alike == 2


def test_a_declared_value_is_found_in_another_writing_unless_two_would_be() -> None:
    assert value_of(("true", "false"), "True") == "true"
    assert value_of(("1.0", "2.0"), "2") == "2.0"
    assert value_of((" yes", "no"), "yes") == " yes"
    assert value_of(("2", "2.0"), "2.00") is None
    assert value_of(("2", "2.0"), "2.0") == "2.0"


@given(st.lists(st.text(st.sampled_from("0123.eE-+? aTtrue:Z\n")), max_size=6))
def test_texts_that_were_read_are_read_as_they_are(cells: list[str]) -> None:
    once = read_texts(list(dict.fromkeys(cells)), ("?",))
    stands = [once.text_of.get(text, text) for text in cells]
    again = read_texts(list(dict.fromkeys(text for text in stands if text)), ("?",))
    assert all(again.text_of.get(text, text) == text for text in stands if text)
    assert all(text is None or text == text.strip() for text in stands)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(-(10**18), 10**18))
def test_a_number_keeps_its_size(real: float, whole: int) -> None:
    assert plain_text(str(whole)) == str(whole)
    assert float(plain_text(repr(real))) == real


def test_a_frame_shows_sizes_only() -> None:
    frame = frame_of(Path("t"), ["c"], [["canary"]])
    assert isinstance(frame, Frame)
    assert repr(frame) == "<Frame 1 x 1>"
