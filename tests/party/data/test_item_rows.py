"""Rows of ids and items make the table that a column per item would, of items that enough persons have and lack."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data.frame import frame_of
from party.data.ids import IdColumns
from party.data.item_rows import frequent_items, wanted_items
from party.data.notices import About
from party.data.share import read_share
from party.errors import DataError
from party.show.notices import notice_text
from protocols.identifiers import IdForm, Spelling

WHO = IdColumns(("id",), items="item")
HERE = Path("rows.csv")
PURCHASES = st.lists(
    st.tuples(st.sampled_from("abcdefg"), st.none() | st.sampled_from(["tea", "salt", "rye"])), min_size=1, max_size=40
)


def frame(rows: Sequence[tuple[str | None, ...]], *more: str):  # type: ignore[no-untyped-def]
    return frame_of(HERE, ("id", "item", *more), list(zip(*rows, strict=True)))


@given(rows=PURCHASES, smallest=st.integers(1, 3))
def test_each_person_has_1_where_a_row_says_so_and_rare_items_are_no_columns(
    rows: list[tuple[str, str | None]], smallest: int
) -> None:
    persons = list(dict(rows))
    holders = {item: {who for who, held in rows if held == item} for _, item in rows if item}
    kept = sorted(item for item, who in holders.items() if smallest <= len(who) <= len(persons) - smallest)
    if not kept:
        with pytest.raises(DataError, match=f"no item has {smallest} persons with it and {smallest} without"):
            frequent_items(frame(rows), WHO, (), smallest)
        return
    table = frequent_items(frame(rows), WHO, (), smallest)
    assert table.columns == ("id", *kept)
    assert list(table.ids("id").cells) == persons
    for item in kept:
        assert list(table.column(item).cells) == ["01"[each in holders[item]] for each in persons]
    left = [each for each in table.notices if each.about is About.ITEMS_LEFT_OUT]
    assert [(each.values["left"], each.values["kept"]) for each in left] == (
        [(len(holders) - len(kept), len(kept))] if len(holders) > len(kept) else []
    )


def test_new_rows_have_the_columns_of_the_model_and_one_person_per_id() -> None:
    table = wanted_items(frame([("a", "tea"), ("b", None), ("a", "tea")]), WHO, (), ["rye", "tea"])
    assert table.columns == ("id", "rye", "tea")
    assert [list(table.column(name).cells) for name in table.columns] == [["a", "b"], ["0", "0"], ["1", "0"]]
    who = IdColumns(("id",), IdForm(1, frozenset()).with_more([Spelling.CASE]), items="item")
    table = wanted_items(frame([("A1", "tea"), ("a1", "rye"), ("b", None)]), who, (), ["rye", "tea"])
    assert [list(table.column(name).cells) for name in ("rye", "tea")] == [["1", "0"], ["1", "0"]]


@pytest.mark.parametrize(
    ("rows", "more", "problem"),
    [
        ([("a", "tea", "2")], ("number",), r"column 'number': the rows are of ids and items: list this column under"),
        ([(None, "tea")], (), "this id is empty"),
        ([("a", "id"), ("b", None)], (), "an item has the name of the id column 'id'"),
    ],
)
def test_rows_that_make_no_table_are_refused(
    rows: list[tuple[str | None, ...]], more: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        frequent_items(frame(rows, *more), WHO, (), 1)


def test_a_share_of_rows_is_that_of_columns_and_says_how_many_items_are_left_out(tmp_path: Path) -> None:
    held = [
        (f"p{number}", item) for number in range(60) for item in ("tea", "rye") if number % (3 if item == "tea" else 4)
    ]
    few = [("p1", "caviar"), ("p2", "caviar")]
    rows = "".join(f"{who},{item},7\n" for who, item in [*held, *few])
    (tmp_path / "rows.csv").write_text("id,item,price\n" + rows)
    wide = "".join(f"p{n},{int(n % 4 > 0)},{int(n % 3 > 0)}\n" for n in range(60) if n % 12)
    (tmp_path / "wide.csv").write_text("id,rye,tea\n" + wide)
    by_rows = read_share(tmp_path / "rows.csv", "alice", WHO, ignore=("price",))
    by_columns = read_share(tmp_path / "wide.csv", "alice", "id")
    assert by_rows.ids == by_columns.ids
    assert by_rows.table.attributes == by_columns.table.attributes
    assert (by_rows.table.codes == by_columns.table.codes).all()
    (told,) = [each for each in by_rows.notices if each.about is About.ITEMS_LEFT_OUT]
    assert told == About.ITEMS_LEFT_OUT(left=1, kept=2, smallest=10)
    assert "caviar" not in notice_text(told)
