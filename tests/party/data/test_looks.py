"""What a column looks like: when its cells name records, and which numbers are rather codes."""

from collections.abc import Sequence
from pathlib import Path

from party.data.cells import Cells
from party.data.frame import Column
from party.data.looks import FEW, LONG, Looks


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
