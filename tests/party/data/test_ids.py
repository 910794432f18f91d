"""Ids as a file has them and as both parties compare them; rows of whom only one lists are as if not there."""

from dataclasses import replace
from pathlib import Path

import pytest

from party.data.form import USUAL
from party.data.frame import Column, frame_of
from party.data.ids import FIRST, LAST, IdColumns, distinct_ids, read_people
from party.data.notices import IdsSpelledApart
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


def test_an_id_may_be_made_of_several_columns_and_a_repeated_one_may_keep_one_row(tmp_path: Path) -> None:
    ids = ["3:ann4:1980", "2:bo4:1981", "3:ann4:1981"]
    assert people(tmp_path, replace(NAMED, repeated=FIRST)) == (ids, [0, 1, 3])
    assert people(tmp_path, replace(NAMED, repeated=LAST)) == (ids, [2, 1, 3])


def test_a_repeated_id_is_refused_by_its_line_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this id occurs on an earlier line too") as caught:
        people(tmp_path, NAMED)
    assert caught.value.line == 4
    assert "ann" not in str(caught.value).lower()


@pytest.mark.parametrize("text", ["name,birth,x\n,1980,a\n", "name,birth,x\nAnn,,a\n"])
def test_an_id_with_an_empty_part_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="this id is empty"):
        people(tmp_path, NAMED, text)


def test_ids_that_are_taken_as_they_are_are_each_given_and_distinct() -> None:
    def column(*ids: str | None) -> Column:
        return frame_of(Path("t.csv"), ["id"], [ids]).ids("id")

    assert distinct_ids(column("ann", " ann", "Ann")) == ["ann", " ann", "Ann"]
    with pytest.raises(DataError, match=r"t\.csv, line 2, column 'id': 2 ids are empty, the first one here"):
        distinct_ids(column("ann", None, None))
    with pytest.raises(DataError, match=r"t\.csv, line 3, column 'id': this id occurs on an earlier line too"):
        distinct_ids(column("ann", "bo", "ann"))


def test_an_id_of_blanks_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"this id is (blank|empty)"):
        people(tmp_path, IdColumns(("name",)), 'name,x\n"   ",a\n')


def test_rows_of_others_might_as_well_not_be_in_the_file(tmp_path: Path) -> None:
    """The table of some people in an order is that of a file of these people alone, whatever the others' cells are."""
    rows = [f"p{number},{'ab'[number % 2]},{number}" for number in range(80)]
    chosen = [(7 * number + 3) % 80 for number in range(40)]
    whole, alone = tmp_path / "whole.csv", tmp_path / "alone.csv"
    whole.write_text("id,x,n\n" + "\n".join([*rows, "p99,rare,999999"]) + "\n")
    alone.write_text("id,x,n\n" + "\n".join(rows[number] for number in sorted(chosen)) + "\n")
    only = tuple(f"p{number}" for number in chosen)
    first, second = (read_share(path, "alice", IdColumns(("id",), only=only)) for path in (whole, alone))
    assert first.ids == second.ids == list(only)
    assert first.table.attributes == second.table.attributes
    assert first.table.codes.tolist() == second.table.codes.tolist()
    assert [first.attributes[0].values[code] for code in first.table.codes[:, 0]] == ["ab"[n % 2] for n in chosen]


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
    assert told == IdsSpelledApart(len(odd), len(ids), spelling)
    assert f'"{spelling.value}" to [data] id_alike on both sides' in notice_text(told)
    assert not any(each in notice_text(told) for each in odd)
    alike = IdColumns(("id",), USUAL_FORM.with_more([spelling]))
    assert read_share(path, "alice", alike).notices == ()


@pytest.mark.parametrize("usual", ["P{:04}", "p{:04}", "Pp{:04}", "{:05}", "{}", "x"])
def test_ids_of_one_spelling_or_of_many_are_not_spoken_of(tmp_path: Path, usual: str) -> None:
    path = tmp_path / "data.csv"
    ids = [usual.format(number) for number in range(200)] if usual != "x" else [f"{'xX'[k % 2]}{k}" for k in range(200)]
    path.write_text("id,x\n" + "".join(f"{each},{number % 2}\n" for number, each in enumerate(ids)))
    assert read_share(path, "alice", IdColumns(("id",))).notices == ()
