from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from party.data import ColumnTreatment, DataShare, label_of, read_frame, read_share
from party.data.cells import Cells
from party.data.frame import Column
from party.data.looks import FEW, LONG, Looks
from party.data.notices import About
from party.errors import ConfigError, DataError
from protocols.errors import InputError
from protocols.tables import MissingCells

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


def test_a_share_has_ids_attributes_in_file_order_and_the_class_last(tmp_path: Path) -> None:
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


def test_records_are_sorted_by_id_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    """Ids are compared as texts, so that 10 stands before 9, and an umlaut after every plain letter."""
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


def test_empty_and_repeated_ids_are_refused_by_line(tmp_path: Path) -> None:
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


def test_columns_play_one_part_and_ids_are_as_they_are(tmp_path: Path) -> None:
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


def test_a_share_shows_sizes_only(tmp_path: Path) -> None:
    assert repr(share_of(tmp_path)) == "<DataShare 4 records, 2 attributes, the class>"
    other = share_of(tmp_path, class_name=None)
    assert repr(other) == "<DataShare 4 records, 3 attributes, no class>"
    assert len(other) == 4


def test_a_share_is_the_same_from_parquet(tmp_path: Path) -> None:
    from_csv = share_of(tmp_path, treatments=BINNED)
    binned = {"age": replace(BINNED["age"], smallest_value=1), "*": ColumnTreatment(smallest_value=1)}
    table = pyarrow.csv.read_csv(tmp_path / "table.csv")
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    share = read_share(tmp_path / "table.parquet", "alice", "id", "class", binned, ["note"])
    assert share.ids == from_csv.ids
    assert share.table.attributes == from_csv.table.attributes
    assert share.table.codes.tolist() == from_csv.table.codes.tolist()


@pytest.mark.parametrize("missing", ["value", "majority", "Bern", "27", "absent"])
@pytest.mark.parametrize("most", [None, 2])
def test_every_raw_cell_is_found_among_the_values(missing: str, most: int | None, tmp_path: Path) -> None:
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


def test_cells_name_records_where_they_are_many_and_over_half_of_them_differ() -> None:
    few, many = [f"v{i}" for i in range(FEW)], [f"v{i}" for i in range(FEW + 1)]
    assert not looks(few).nearly_all_differ
    assert looks(many).nearly_all_differ
    assert looks([*many, *many[:-1]]).nearly_all_differ
    assert not looks([*many, *many]).nearly_all_differ
    assert looks([*many, *[None] * 99]).nearly_all_differ


def test_numbers_that_are_codes_are_told_from_others() -> None:
    for cells in (
        ["007", "0815"],
        ["+41790000000", "+4179"],
        ["1234567", "7654321"],
        ["4000123412341234", "4000123412349999"],
        ["7", "9", "8"],
        ["1.0e1", "11"],
    ):
        assert looks(cells).kind == "numbers"
        assert looks(cells).names_by_digits
    for cells in (
        ["07", "15"],
        ["1" * (LONG - 1), "2" * (LONG - 1)],
        ["4000123412341234", "40001234123412345"],
        ["40001234123412.5", "40001234123412.7"],
        ["7", "9", "8", "8"],
        ["7", "9", "10"],
        ["7", "8.5", "9"],
        ["1e3", "2e3"],
    ):
        assert looks(cells).kind == "numbers"
        assert not looks(cells).names_by_digits


def test_whether_plain_numbers_count_records_is_told_without_their_texts() -> None:
    column = looks([f"{i * i}.5" for i in range(99)])
    assert not column.names_by_digits
    assert "texts" not in vars(column.column.cells)
