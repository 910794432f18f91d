"""Ids as a file has them and as both parties compare them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from party.data.form import USUAL
from party.data.frame import Column, frame_of
from party.data.ids import FIRST, LAST, IdColumns, IdLook, distinct_ids, look_of, read_people
from party.data.item_rows import frequent_items, wanted_items
from party.data.notices import About
from party.data.reader import read_frame
from party.data.share import read_share
from party.errors import DataError
from party.show.notices import notice_text
from protocols.identifiers import USUAL_FORM, IdForm, Spelling

NAMED = IdColumns(("name", "birth"), IdForm(2).with_more([Spelling.CASE]))
TABLE = "name,birth,x,y\n Ann ,1980,a,u\nBo,1981,a,v\nANN,1980,b,v\nAnn,1981,a,u\n"


def people(folder: Path, columns: IdColumns, text: str = TABLE) -> tuple[list[str], list[int]]:
    path = folder / "table.csv"
    path.write_text(text)
    found = read_people(read_frame(path, USUAL), columns)
    return found.ids, found.rows


def test_ids_with_unseen_characters_are_those_of_the_peer_and_repeated_ones_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,x\n" + "".join(f"p{n}{chr(0x200B) * (n % 3 == 0)},{n % 2}\n" for n in range(60)))
    share = read_share(path, "alice", IdColumns(("id",)))
    assert share.ids == sorted(f"p{n}" for n in range(60))
    assert share.notices == (About.CELLS_UNSEEN(column="id", cells=20),)
    with pytest.raises(DataError, match="this id occurs on an earlier line too") as caught:
        people(tmp_path, NAMED)
    assert caught.value.line == 4
    assert "ann" not in str(caught.value).lower()
    for text in ("name,birth,x\n,1980,a\n", "name,birth,x\nAnn,,a\n"):
        with pytest.raises(DataError, match="this id is empty"):
            people(tmp_path, NAMED, text)
    ids = ["3:ann4:1980", "2:bo4:1981", "3:ann4:1981"]
    assert people(tmp_path, replace(NAMED, repeated=FIRST)) == (ids, [0, 1, 3])
    assert people(tmp_path, replace(NAMED, repeated=LAST)) == (ids, [2, 1, 3])


CUT = ["4.30370E+17", "4.3037e+17", "4,3037E+17", "4E+17", "430369570000000000.0"]


@pytest.mark.parametrize("cut", CUT)
def test_ids_that_have_lost_digits_are_refused_and_what_to_do_is_said(tmp_path: Path, cut: str) -> None:
    """Two people may have become one: to keep a row of each would drop somebody."""
    for columns in (IdColumns(("id",)), IdColumns(("id",), repeated=FIRST)):
        with pytest.raises(DataError, match="line 3, column 'id': 2 ids have lost the last digits, as a") as caught:
            people(tmp_path, columns, f'id,x\n17,a\n"{cut}",a\n"{cut}",b\n')
        assert "export the column as text" in str(caught.value)
        assert "4" not in str(caught.value).partition("17)")[2]
    with pytest.raises(DataError, match="this id has lost the last digits"):
        distinct_ids(frame_of(Path("t.csv"), ["id"], [[cut, "x"]]).ids("id"))


def test_what_ids_look_like_is_said_by_shapes_that_many_have() -> None:
    for ids, look in [
        ([f"{n:08}" for n in range(200)], IdLook(("09999999",))),
        ([f"{n}" for n in range(1, 200)], IdLook(("999", "99"), unpadded=True)),
        ([f"{n:03}-{n % 7}" for n in range(100, 300)], IdLook(("999-9",))),
        ([f"P-{n:04}" for n in range(1000, 1200)], IdLook(("A-9999",))),
        ([f"19{n:02}-05-31" for n in range(60, 99)], IdLook(("9999-99-99",))),
        ([chr(0xFF10 + n % 10) * 3 for n in range(100)], IdLook(("９９９",))),
        ([*[f"x{n:02}" for n in range(10, 99)], "Ann Lee"], IdLook(("a99",))),
        (["a", "b"], IdLook()),
    ]:
        assert look_of(ids, USUAL_FORM) == look
        both = IdForm(2)
        shapes = tuple(f"{shape} + Aa" for shape in look.shapes)
        assert look_of([both.joined([each, "Ann"]) for each in ids], both) == IdLook(shapes)


def test_ids_that_are_taken_as_they_are_are_each_given_and_distinct() -> None:
    def column(*ids: str | None) -> Column:
        return frame_of(Path("t.csv"), ["id"], [ids]).ids("id")

    assert distinct_ids(column("ann", " ann", "Ann")) == ["ann", " ann", "Ann"]
    with pytest.raises(DataError, match=r"t\.csv, line 2, column 'id': 2 ids are empty, the first one here"):
        distinct_ids(column("ann", None, None))
    with pytest.raises(DataError, match=r"t\.csv, line 3, column 'id': this id occurs on an earlier line too"):
        distinct_ids(column("ann", "bo", "ann"))


@pytest.mark.parametrize(
    ("usual", "odd", "spelling"),
    [
        ("P{:04}", ["p1", "p2", "p3"], Spelling.CASE),
        ("ann {:04}", ["ANN 1"], Spelling.CASE),
        ("{:05}", ["1230", "770"], Spelling.ZEROS),
    ],
)
def test_a_few_ids_that_are_spelled_otherwise_are_counted_and_not_shown(
    tmp_path: Path, usual: str, odd: list[str], spelling: Spelling
) -> None:
    path = tmp_path / "data.csv"
    ids = [usual.format(number) for number in range(200)] + odd
    path.write_text("id,x\n" + "".join(f"{each},{number % 2}\n" for number, each in enumerate(ids)))
    (told,) = read_share(path, "alice", IdColumns(("id",))).notices
    assert told == About.IDS_APART(few=len(odd), ids=len(ids), spelling=spelling)
    assert f'"{spelling.value}" to [data] id_alike on both sides' in notice_text(told)
    assert not any(each in notice_text(told) for each in odd)
    alike = IdColumns(("id",), USUAL_FORM.with_more([spelling]))
    assert read_share(path, "alice", alike).notices == ()


def test_ids_are_noted_that_a_spreadsheet_may_have_rounded_and_other_ids_have_lost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,x\n" + "".join(f"{43036957 + n}0000000000,{n % 2}\n" for n in range(60)))
    (told,) = read_share(path, "alice", IdColumns(("id",))).notices
    assert told == About.IDS_ROUNDED(ids=60)
    assert "all 60 ids have only zeros after their 15th digit" in notice_text(told)
    path.write_text("id,x\n" + "".join(f"{43036957 + n}0000000001,{n % 2}\n" for n in range(60)))
    assert read_share(path, "alice", IdColumns(("id",))).notices == ()
    for whole in ("1E5", "4e17", "430369570000000000", "A1E+B", "123456789012345.0", "1.5"):
        assert len(people(tmp_path, IdColumns(("id",)), f"id,x\n{whole},a\n2,b\n")[0]) == 2
    form = USUAL_FORM.with_more([Spelling.ZEROS])
    assert look_of([f"{n}" for n in range(1, 200)], form) == IdLook(("999", "99"))
    with pytest.raises(DataError, match=r"this id is (blank|empty)"):
        people(tmp_path, IdColumns(("name",)), 'name,x\n"   ",a\n')
    for usual in ("P{:04}", "p{:04}", "Pp{:04}", "{:05}", "{}", "x"):
        path = tmp_path / "data.csv"
        ids = (
            [usual.format(number) for number in range(200)]
            if usual != "x"
            else [f"{'xX'[k % 2]}{k}" for k in range(200)]
        )
        path.write_text("id,x\n" + "".join(f"{each},{number % 2}\n" for number, each in enumerate(ids)))
        assert read_share(path, "alice", IdColumns(("id",))).notices == ()


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
