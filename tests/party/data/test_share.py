from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.data import ColumnTreatment, DataShare, Form, Frame, frame_of, label_of, read_frame, read_share
from party.data.cells import Cells
from party.data.frame import Column, Written, finished
from party.data.looks import FEW, LONG, Looks
from party.data.notices import About
from party.data.texts import plain_text, read_texts, value_of
from party.errors import ConfigError, DataError
from party.show.notices import notice_text
from party.survey.table import as_frame
from protocols.errors import InputError
from protocols.tables import MissingCells
from tests.support.examples import at_most

CANARY = "canary-7731"
TABLE = f"""\
city,id,age,class,note
Bern,r1,31,yes,{CANARY}
Basel,r2,54,no,{CANARY}
?,r3,,yes,{CANARY}
Bern,r4,20,no,{CANARY}
"""
BINNED = {"age": ColumnTreatment(bins=(Decimal(30),))}


def share_of(folder: Path, text: str = TABLE, limit: int | None = 1, **arguments: Any) -> DataShare:
    path = folder / "table.csv"
    path.write_text(text)
    given = {"*": ColumnTreatment()} | arguments.pop("treatments", {})
    if limit is not None:
        given = {name: replace(treatment, smallest_value=limit) for name, treatment in given.items()}
    usual = {"party": "alice", "id_column": "id", "class_name": "class", "ignore": ["note"]}
    return read_share(path, **usual | {"treatments": given} | arguments)


def refused(folder: Path, text: str = TABLE, kind: type[InputError] = DataError, **arguments: Any) -> InputError:
    with pytest.raises(kind) as caught:
        share_of(folder, text, **arguments)
    assert CANARY not in str(caught.value)
    assert "r1" not in str(caught.value)
    return caught.value


def test_a_share_has_ids_and_attributes_in_order_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    share = share_of(tmp_path, treatments=BINNED)
    assert share.ids == ["r1", "r2", "r3", "r4"]
    assert [(a.party, a.name, a.values) for a in share.attributes] == [
        ("alice", "city", ("Basel", "Bern", "missing")),
        ("alice", "age", ("<= 30", "> 30", "missing")),
    ]
    assert share.class_attribute is not None
    assert share.class_attribute.values == ("no", "yes")
    assert share.table.attributes == (*share.attributes, share.class_attribute)
    assert share.table.codes.dtype == np.uint8
    assert share.table.codes.tolist() == [[1, 1, 1], [0, 1, 0], [2, 2, 1], [1, 0, 0]]
    assert [each.missing for each in share.attributes] == [MissingCells("missing")] * 2
    # Ids are compared as texts, so that 10 stands before 9, and an umlaut after every plain letter.
    ids = ["Ü1", "9", "10", "b", "B", "a"]
    rows = [f"v{number},{text},{number % 2}" for number, text in enumerate(ids)]
    shares = [
        share_of(tmp_path, "x,id,class\n" + "\n".join(order) + "\n", ignore=[])
        for order in (rows, rows[::-1], rows[3:] + rows[:3])
    ]
    for share in shares:
        assert share.ids == ["10", "9", "B", "a", "b", "Ü1"] == sorted(ids, key=str.encode)
        texts = [share.attributes[0].values[code] for code in share.table.codes[:, 0]]
        assert texts == [f"v{ids.index(text)}" for text in share.ids]
        assert share.table.attributes == shares[0].table.attributes


def test_a_party_may_hold_the_class_or_not_but_something(tmp_path: Path) -> None:
    share = share_of(tmp_path, class_name=None, ignore=["note", "class"])
    assert share.class_attribute is None
    assert [a.name for a in share.attributes] == ["city", "age"]
    assert share.table.attributes == share.attributes
    share = share_of(tmp_path, ignore=["note", "city", "age"])
    assert share.attributes == ()
    assert share.table.codes.tolist() == [[1], [0], [1], [0]]
    error = refused(tmp_path, class_name=None, ignore=["note", "city", "age", "class"])
    assert "no column is left" in str(error)
    share = share_of(tmp_path, treatments={"*": ColumnTreatment(missing="none"), **BINNED})
    assert [a.values for a in share.attributes] == [("Basel", "Bern", "none"), ("<= 30", "> 30", "missing")]
    assert refused(tmp_path, TABLE.replace("yes", "?"), treatments={"*": ColumnTreatment(missing="none")})


@pytest.mark.parametrize(
    "arguments",
    [
        {"id_column": "nowhere"},
        {"class_name": "nowhere"},
        {"ignore": ["nowhere"]},
        {"treatments": {"nowhere": ColumnTreatment()}},
    ],
)
def test_a_column_that_is_not_in_the_file_is_refused_by_name(arguments: Any, tmp_path: Path) -> None:
    error = refused(tmp_path, **arguments)
    assert "column 'nowhere': the file has no such column" in str(error)
    assert "table.csv" in str(error)


def test_empty_and_repeated_ids_are_refused_and_columns_play_one_part(tmp_path: Path) -> None:
    error = refused(tmp_path, TABLE.replace("r2", "").replace("r4", ""))
    assert isinstance(error, DataError)
    assert (error.line, error.column) == (3, "id")
    assert "2 ids are empty" in str(error)
    error = refused(tmp_path, TABLE.replace("r3", "r1").replace("r4", "r1"))
    assert isinstance(error, DataError)
    assert (error.line, error.column) == (4, "id")
    assert "2 ids occur on an earlier line too" in str(error)
    error = refused(tmp_path, TABLE.replace("Basel,r2,54", f"Basel,r2,{CANARY}"), treatments=BINNED)
    assert str(error).startswith(f"{tmp_path / 'table.csv'}, line 3, column 'age': ")
    for arguments in ({"id_column": "class"}, {"ignore": ["id"]}, {"ignore": ["class"]}, {"ignore": ["note", "note"]}):
        assert "named twice" in str(refused(tmp_path, kind=ConfigError, **arguments))
    share = share_of(tmp_path, TABLE.replace("r2", "?").replace("r3", " r1"))
    assert share.ids == [" r1", "?", "r1", "r4"]
    text = "id,city\n" + "".join(f"{n},{CANARY}{n % 257}\n" for n in range(514))
    error = refused(tmp_path, text, class_name=None, ignore=[])
    assert "table.csv, column 'city': set max_values = 4, give it bins, or list it under ignore" in str(error)
    assert "257 values" in str(error)
    text = TABLE.replace("54,no", "54,?")
    error = refused(tmp_path, text)
    assert isinstance(error, DataError)
    assert (error.line, error.column) == (3, "class")
    share = share_of(tmp_path, text, treatments={"class": ColumnTreatment()})
    assert share.class_attribute is not None
    assert share.class_attribute.values == ("no", "yes", "missing")


def test_a_share_shows_sizes_only_and_is_the_same_from_parquet(tmp_path: Path) -> None:
    assert repr(share_of(tmp_path)) == "<DataShare 4 records, 2 attributes, the class>"
    other = share_of(tmp_path, class_name=None)
    assert repr(other) == "<DataShare 4 records, 3 attributes, no class>"
    assert len(other) == 4
    from_csv = share_of(tmp_path, treatments=BINNED)
    binned = {"age": replace(BINNED["age"], smallest_value=1), "*": ColumnTreatment(smallest_value=1)}
    table = pyarrow.csv.read_csv(tmp_path / "table.csv")
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    share = read_share(tmp_path / "table.parquet", "alice", "id", "class", binned, ["note"])
    assert share.ids == from_csv.ids
    assert share.table.attributes == from_csv.table.attributes
    assert share.table.codes.tolist() == from_csv.table.codes.tolist()


def test_every_raw_cell_is_found_among_the_values(tmp_path: Path) -> None:
    for missing, most in product(["value", "majority", "Bern", "27", "absent"], [None, 2]):
        treatments = {
            "city": ColumnTreatment(max_values=most, missing=missing),
            "age": ColumnTreatment("median-of-range", most, missing),
        }
        share = share_of(tmp_path, treatments=treatments)
        frame = read_frame(tmp_path / "table.csv")
        for position, attribute in enumerate(share.attributes):
            for code, text in zip(share.table.codes[:, position], frame.column(attribute.name).cells, strict=True):
                label = label_of(attribute.values, text, attribute.missing.value)
                assert label == attribute.values[code]


@pytest.mark.parametrize("others", ["0", ""])
def test_a_column_in_which_too_few_people_differ_is_left_out_since_its_name_would_show_who(
    tmp_path: Path, others: str
) -> None:
    """As a query makes one of a cell; one that ten people have, and one in which all are alike, are columns."""
    held = [(i, 1 if i == 5 else others, 1 if i < 10 else others, "x", "ny"[i % 2]) for i in range(100)]
    text = "id,canary,enough,alike,class\n" + "".join(f"r{','.join(map(str, row))}\n" for row in held)
    for smallest, names in ((10, ["enough", "alike"]), (1, ["canary", "enough", "alike"])):  # the latter is the control
        treatment = ColumnTreatment(missing="value", smallest_value=smallest)
        share = share_of(tmp_path, text, None, treatments={"*": treatment}, ignore=[])
        assert [each.name for each in share.attributes] == names
        assert (About.FOLDED(column="canary") in share.notices) is (smallest > 1)


def test_the_class_cuts_numbers_and_dates_takes_categories_together_and_leaves_noise_one_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    ages, jobs, noise = rng.integers(18, 90, 2000), rng.integers(0, 6, 2000), rng.normal(0, 1, 2000).round(3)
    ill = rng.random(2000) < np.where(ages > 50, 0.5, 0.1) + np.where(jobs % 3 == 0, 0.4, 0)
    days = [date(2024, 1, 1) + timedelta(int(age)) for age in ages]
    rows = zip(ages, jobs, noise, days, ill, strict=True)
    text = "".join(f"r{i},{age},j{job},{x},{day},{'ny'[int(c)]}\n" for i, (age, job, x, day, c) in enumerate(rows))
    treatments = {"*": ColumnTreatment(max_values=2, group="class"), "day": ColumnTreatment(bins="class")}
    text = "id,age,job,noise,day,class\n" + text.replace("j5", "", 30).replace("j4", "odd", 6).replace("j4", "rare", 6)
    share = share_of(tmp_path, text, None, treatments=treatments, ignore=[])
    assert [each.values for each in share.attributes] == [
        ("<= 50", "> 50"), ("{j0 | j3}", "other"), ("other",), ("<= 2024-02-20", "> 2024-02-20"),
    ]  # fmt: skip
    told = {each.values["column"]: each.values["remarks"] for each in share.notices if each.about is About.TREATED}
    assert {name for name, remarks in told.items() if About.BY_CLASS() in remarks} == {"age", "job", "noise", "day"}
    wide = {"job": ColumnTreatment(max_values=3, group="class", missing="j3")}
    job = share_of(tmp_path, text, None, treatments=wide, ignore=["age", "noise", "day"]).attributes[0]
    assert job.values == ("{j0 | j3}", "{j1 | j2 | j4 | j5}", "other")
    assert [label_of(job.values, cell, job.missing.value) for cell in ("j3", "j5", "rare", "j", None)] == [
        *job.values, "other", "{j0 | j3}",
    ]  # fmt: skip


def test_a_number_that_marks_missing_cells_is_noted_and_no_other(tmp_path: Path) -> None:
    incomes, calls = [20_000 + 731 * k % 60_000 for k in range(300)], [k % 31 for k in range(300)]
    for k in range(0, 300, 5):
        incomes[k] = -99
    for k in range(0, 300, 4):
        calls[k] = 999
    debts = [k % 50 - 20 for k in range(300)]
    path = tmp_path / "t.csv"
    lines = [f"i{k},{incomes[k]},{calls[k]},{debts[k]},{'yn'[k % 2]}" for k in range(300)]
    path.write_text("\n".join(["id,income,calls,debt,c", *lines]) + "\n")
    told = {
        each.values["column"]: [remark for remark in each.values["remarks"] if "number" in remark.values]
        for each in read_share(path, "alice", "id", "c").notices
        if each.about is About.TREATED
    }
    assert told == {
        "income": [About.MARKER_BELOW(number="-99", cells=60)],
        "calls": [About.MARKER_ABOVE(number="999", cells=75)],
        "debt": [],
    }


def looks(cells: Sequence[str | None]) -> Looks:
    read = Cells.of(cells)
    return Looks(Column("size", read.numbers or read, Path("t.csv"), range(2, len(cells) + 2)))


def test_cells_name_records_where_they_are_many_and_codes_are_told_from_other_numbers() -> None:
    few, many = [f"v{i}" for i in range(FEW)], [f"v{i}" for i in range(FEW + 1)]
    assert not looks(few).nearly_all_differ
    assert looks(many).nearly_all_differ
    assert looks([*many, *many[:-1]]).nearly_all_differ
    assert not looks([*many, *many]).nearly_all_differ
    assert looks([*many, *[None] * 99]).nearly_all_differ
    for cells in (
        ["007", "0815"], ["+41790000000", "+4179"], ["1234567", "7654321"], ["4000123412341234", "4000123412349999"],
        ["7", "9", "8"], ["1.0e1", "11"],
    ):  # fmt: skip
        assert looks(cells).kind == "numbers"
        assert looks(cells).names_by_digits
    for cells in (
        ["07", "15"], ["1" * (LONG - 1), "2" * (LONG - 1)], ["4000123412341234", "40001234123412345"],
        ["40001234123412.5", "40001234123412.7"], ["7", "9", "8", "8"], ["7", "9", "10"], ["7", "8.5", "9"],
        ["1e3", "2e3"],
    ):  # fmt: skip
        assert looks(cells).kind == "numbers"
        assert not looks(cells).names_by_digits


def test_whether_plain_numbers_count_records_is_known_without_their_texts() -> None:
    column = looks([f"{i * i}.5" for i in range(99)])
    assert not column.names_by_digits
    assert "texts" not in vars(column.column.cells)


TEXTS_TABLE = pd.DataFrame(
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
        "clock": [time(12, 30), time(0, 0), None],
        "length": pd.to_timedelta([5400, 172_800, None], unit="s"),
        "back": pd.to_timedelta([-1.5, 0, 90_000], unit="s"),
        "money": [Decimal("1.50"), None, Decimal("20.00")],
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
    "clock": ["12:30:00", "00:00:00", None],
    "length": ["01:30:00", "2 days", None],
    "back": ["-1 day 23:59:58.5", "0 days", "1 day 01:00:00"],
    "money": ["1.5", None, "20"],
}


def test_csv_parquet_and_a_data_frame_give_the_same_texts(tmp_path: Path) -> None:
    TEXTS_TABLE.to_csv(tmp_path / "table.csv", index=False)
    TEXTS_TABLE.to_parquet(tmp_path / "table.parquet")
    frames = [read_frame(tmp_path / "table.csv"), read_frame(tmp_path / "table.parquet"), as_frame(TEXTS_TABLE)]
    frames.append(as_frame(pd.read_csv(tmp_path / "table.csv")))
    arrow = pq.read_table(tmp_path / "table.parquet")
    frames += [as_frame(arrow), as_frame(pytest.importorskip("polars").from_arrow(arrow))]
    for frame in frames:
        assert {name: list(frame.column(name).cells) for name in frame.columns} == TEXTS
        assert list(frame.ids("id").cells) == ["1", "2", "3"]


def texts(*cells: str) -> list[str | None]:
    return list(frame_of(Path("t"), ["c"], [cells]).column("c").cells)


SPELLINGS = {
    "1": ["1.0", " 1.00 ", "1.", "1.0e0", "1e+0", "1\u200b", "\ufeff1", "1\u00a0"],
    "-0.5": ["-.5", "-0.50", "-5.0E-1", "-5e-01"],
    "0": ["-0", "0.0", "-.0"],
    "10000000000000000": ["1e+16", "1.0E16"],
    "True": ["true", "TRUE", " tRue"],
    "2024-05-31": [
        "2024-05-31 00:00:00", "2024-05-31T00:00", "31.5.2024", "31.05.2024 0:00", "2024/05/31", "2024.05.31",
    ],
    "2024-05-31T12:30:00.5": ["2024-05-31 12:30:00.500000", "2024-05-31 12:30:00,5", "31.05.2024 12:30:00.50"],
    "2024-05-31T12:30:00Z": ["2024-05-31 12:30:00+00", "2024-05-31 12:30:00 UTC", "2024-05-31 12:30:00.0000000 +00:00"],
    "2024-05-31T12:30:00-03:30": ["2024-05-31 12:30:00-0330", "2024-05-31 12:30:00.000 -03:30"],
    "09:30:00": ["9:30", "09:30", "0 days 09:30:00.000000", "PT9H30M", "PT34200S"],
    "1 day 02:00:00": ["1 days 02:00:00", "1 day, 2:00:00", "26:00:00", "P1DT2H"],
    "New York": ["New  York", "New\nYork", "New\u00a0York", "New\u202fYork ", "New Yo\u00adrk", "\u200eNew York"],
    "Zürich": ["Zu\u0308rich", "Zu\u200b\u0308rich"],
}  # fmt: skip
CODES = [
    "007", "+1", "01", "1E5", "12e3", "1.0.0", "1-2", "0x1", "1" * 41 + ".0", "5/6/2024", "30:15", "2 days 3", "1,5",
]  # fmt: skip


def test_a_value_has_one_text_whatever_else_its_column_holds() -> None:
    for value, beside in product(SPELLINGS, ["x", "007", "5", "2024-01-31", "False"]):
        assert texts(value, *SPELLINGS[value], beside) == [value] * (len(SPELLINGS[value]) + 1) + [beside]


def test_what_may_be_a_code_and_what_may_be_read_in_two_ways_stays_as_it_is() -> None:
    for code in CODES:
        assert texts(code, "1.0") == [code, "1"]


def test_decimal_signs_change_what_is_text_and_nothing_else(tmp_path: Path) -> None:
    table = [["1,234", "1,234.50", "-1,234,567", "1.5", "1,5", "12,34", "1'000", "1\u202f000"]]
    read = finished(Written(Path("t"), ["c"], [Cells.of(table[0])], range(8)), Form(decimal=".")).column("c")
    assert read.cells == ["1234", "1234.5", "-1234567", "1.5", "1,5", "12,34", "1000", "1000"]
    table = [["1.234", "1.234,50", "-1.234.567", "1,5", "1.5", "0,5", "1 000", "7"]]
    read = finished(Written(Path("t"), ["c"], [Cells.of(table[0])], range(8)), Form(decimal=",")).column("c")
    assert read.cells == ["1234", "1234.5", "-1234567", "1.5", "1.5", "0.5", "1000", "7"]
    assert read.spelt == (About.POINTS(column="c", cells=1),)
    pd.DataFrame({"real": [1.234, 1e16], "whole": [1, 2], "text": ["1.234", "1,5"]}).to_parquet(tmp_path / "t.parquet")
    frame = read_frame(tmp_path / "t.parquet", Form(decimal=","))
    assert frame.column("real").cells == ["1.234", "10000000000000000"]
    assert frame.column("whole").cells == ["1", "2"]
    assert frame.column("text").cells == ["1234", "1.5"]
    frame = frame_of(Path("t"), ["a", "b", "c"], [["1.0", "42.0"], ["007", "1.5"], [" r1", "NA\ufeff"]])
    assert [list(frame.ids(name).cells) for name in "abc"] == [["1", "42"], ["007", "1.5"], [" r1", "NA"]]


MARKERS = ["?", "-", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", " ? ", "  "]


def test_markers_known_everywhere_are_missing_and_do_not_make_numbers_text() -> None:
    for marker in MARKERS:
        assert texts("1.0", marker, "2.0") == ["1", None, "2"]
        assert texts("none", "na", "x") == ["none", "na", "x"]


def namibia(folder: Path) -> Path:
    path = folder / "trips.csv"
    path.write_text("id,country,days\n1,NA,3\n2,CH,-\n3,NA,NA\n4,ch,4\n")
    return path


def test_markers_are_named_and_a_column_can_keep_one_as_a_value(tmp_path: Path) -> None:
    alike = (
        "column 'country': 2 values differ from others only by case, blanks, width or leading zeros, and are taken for "
        "different (1 cells); if they mean the same, spell them alike in the file before the first run"
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


def test_a_declared_value_is_found_in_another_writing_unless_two_would_be() -> None:
    assert value_of(("true", "false"), "True") == "true"
    assert value_of(("1.0", "2.0"), "2") == "2.0"
    assert value_of((" yes", "no"), "yes") == " yes"
    assert value_of(("2", "2.0"), "2.00") is None
    assert value_of(("2", "2.0"), "2.0") == "2.0"


COLUMNS = {
    "whole": st.integers(-(2**53), 2**53),
    "real": st.floats(allow_nan=False, allow_infinity=False),
    "truth": st.booleans(),
    "day": st.dates(date(1700, 1, 1), date(2200, 1, 1)),
    "time": st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    "zone": st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    "clock": st.times(),
    "length": st.timedeltas(timedelta(-9999), timedelta(9999)),
    "money": st.decimals(-(10**9), 10**9, places=2),
    "text": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=5),
}


@pytest.mark.parametrize("kind", COLUMNS)
@settings(max_examples=at_most(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_any_column_is_the_same_texts_from_csv_from_parquet_and_from_any_data_frame(
    tmp_path: Path, kind: str, data: st.DataObject
) -> None:
    cells = data.draw(st.lists(st.none() | COLUMNS[kind], min_size=1, max_size=5))
    arrow = pa.table({"x": ["x"] * len(cells), "c": pa.array(cells)})
    pq.write_table(arrow, tmp_path / "t.parquet")
    frame = arrow.to_pandas()
    frame.to_csv(tmp_path / "t.csv", index=False)
    tables = [read_frame(tmp_path / "t.parquet"), read_frame(tmp_path / "t.csv"), as_frame(arrow), as_frame(frame)]
    read = [list(table.column("c").cells) for table in tables]
    assert read == [read[0]] * 4


DRAWN = st.one_of(
    st.text(st.sampled_from("0123.eE-+? aTtrue:Z\n,P/d'")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.sampled_from([*CODES, *(text for value in SPELLINGS for text in (value, *SPELLINGS[value]))]),
)


@given(st.lists(DRAWN, max_size=6), st.sampled_from([None, ".", ","]))
def test_texts_that_were_read_are_read_as_they_are(cells: list[str], decimal: str | None) -> None:
    once = read_texts(Counter(cells), ("?",), decimal=decimal)
    stands = [text for text in (once.text_of.get(text, text) for text in cells) if text]
    again = read_texts(Counter(stands), ("?",))
    assert all(again.text_of.get(text, text) == text for text in stands)
    assert all(text == " ".join(text.split()) for text in stands)


@given(st.lists(DRAWN, max_size=6), DRAWN)
def test_the_text_of_a_cell_does_not_depend_on_the_others(cells: list[str], cell: str) -> None:
    among, alone = read_texts(Counter([*cells, cell]), ("?",)), read_texts(Counter([cell]), ("?",))
    assert among.text_of.get(cell, cell) == alone.text_of.get(cell, cell)


@given(st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(-(10**18), 10**18))
def test_a_number_keeps_its_size(real: float, whole: int) -> None:
    assert plain_text(str(whole)) == str(whole)
    assert float(plain_text(repr(real))) == real


def test_spellings_and_unseen_characters_are_counted_and_not_shown() -> None:
    cells = ["1", "1.0", "1.00", "01", "true", "TRUE", "True", "tRUE", "1e+0", " 1", "true "]
    column = frame_of(Path("t"), ["c"], [cells]).column("c")
    assert set(column.cells) == {"1", "01", "True"}
    assert column.spelt == (
        About.WRITTEN_APART(column="c", cells=6),
        About.SPELLED_ALIKE(column="c", values=2, cells=1),
    )
    assert frame_of(Path("t"), ["c"], [["1", "1.0", "2.50"]]).column("c").spelt == ()
    cells = ["West\u200b", "West", " Ost ", "O\u00adst", "Ost\r"]
    frame = frame_of(Path("t"), ["c"], [cells])
    assert frame.column("c").spelt == (About.CELLS_UNSEEN(column="c", cells=2),)
    assert set(frame.column("c").cells) == {"West", "Ost"}
    assert frame.ids("c").spelt == (About.CELLS_UNSEEN(column="c", cells=2),)
    assert frame_of(Path("t"), ["c"], [["\u200b", "\u00a0", "x"]]).column("c").cells == [None, None, "x"]
    for other in ("ZÜRICH", "Zü rich", "Zu\u0308RICH", "\uff3aürich"):
        column = frame_of(Path("t"), ["city"], [["Zürich", other, "Bern", " Bern"]]).column("city")
        assert column.spelt == (About.SPELLED_ALIKE(column="city", values=2, cells=1),)
    frame = frame_of(Path("t"), ["c"], [["canary"]])
    assert isinstance(frame, Frame)
    assert repr(frame) == "<Frame 1 x 1>"
