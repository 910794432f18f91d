"""Ids as a file has them and as both parties compare them."""

from dataclasses import replace
from pathlib import Path

import pytest

from party.data.form import USUAL
from party.data.frame import Column, frame_of
from party.data.ids import FIRST, LAST, IdColumns, IdLook, distinct_ids, look_of, read_people
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


def test_ids_with_characters_that_nobody_sees_are_told_and_are_those_of_the_peer(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,x\n" + "".join(f"p{n}{chr(0x200B) * (n % 3 == 0)},{n % 2}\n" for n in range(60)))
    share = read_share(path, "alice", IdColumns(("id",)))
    assert share.ids == sorted(f"p{n}" for n in range(60))
    assert share.notices == (About.CELLS_UNSEEN(column="id", cells=20),)


def test_ids_repeated_or_in_part_empty_are_refused_by_line(tmp_path: Path) -> None:
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


def test_numbers_that_a_spreadsheet_may_have_rounded_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,x\n" + "".join(f"{43036957 + n}0000000000,{n % 2}\n" for n in range(60)))
    (told,) = read_share(path, "alice", IdColumns(("id",))).notices
    assert told == About.IDS_ROUNDED(ids=60)
    assert "all 60 ids have only zeros after their 15th digit" in notice_text(told)
    path.write_text("id,x\n" + "".join(f"{43036957 + n}0000000001,{n % 2}\n" for n in range(60)))
    assert read_share(path, "alice", IdColumns(("id",))).notices == ()


@pytest.mark.parametrize(
    ("ids", "look"),
    [
        ([f"{n:08}" for n in range(200)], IdLook(("09999999",))),
        ([f"{n}" for n in range(1, 200)], IdLook(("999", "99"), unpadded=True)),
        ([f"{n:03}-{n % 7}" for n in range(100, 300)], IdLook(("999-9",))),
        ([f"P-{n:04}" for n in range(1000, 1200)], IdLook(("A-9999",))),
        ([f"19{n:02}-05-31" for n in range(60, 99)], IdLook(("9999-99-99",))),
        ([chr(0xFF10 + n % 10) * 3 for n in range(100)], IdLook(("９９９",))),
        ([*[f"x{n:02}" for n in range(10, 99)], "Ann Lee"], IdLook(("a99",))),
        (["a", "b"], IdLook()),
    ],
)
def test_what_ids_look_like_is_said_by_shapes_that_many_have(ids: list[str], look: IdLook) -> None:
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


def test_other_ids_have_lost_nothing(tmp_path: Path) -> None:
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
