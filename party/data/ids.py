"""The ids of records in the form that both declare (DESIGN 13), of one or more columns; none is shown (FAULTS 56)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from party.data.frame import Column, Frame
from party.data.notices import About, Notice
from party.errors import DataError
from protocols.identifiers import USUAL_FORM, IdForm, Spelling

REFUSE, FIRST, LAST = "refuse", "first", "last"
REPEATED: Final = (REFUSE, FIRST, LAST)
_RARE: Final = 0.1  # more of another spelling are a way of writing ids here
_DIGITS_KEPT: Final = 15  # by a spreadsheet
_FEW, _SHAPES, _SHOWN = 10, 3, 40
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_CUT: Final = re.compile(r"\d[.,]\d+[eE]\+?\d+|\d[eE]\+\d+|\d{16,}\.0+", re.ASCII)


@dataclass(frozen=True)
class IdColumns:
    """Which columns make an id, in which normal form, and which row of a repeated one is kept."""

    names: tuple[str, ...]
    form: IdForm = USUAL_FORM
    repeated: str = REFUSE
    items: str | None = None


def one_column(name: str) -> IdColumns:
    """Return ids that are the cells of a column, as they are written."""
    return IdColumns((name,), IdForm(1, frozenset()))


@dataclass(frozen=True, eq=False, repr=False)
class People:
    """The ids of a table, and the row of each."""

    ids: list[str]
    rows: list[int]

    def __repr__(self) -> str:
        return f"<People {len(self.ids)}>"

    def sorted(self) -> "People":
        """Return these people in the order of their ids."""
        order = sorted(range(len(self.ids)), key=self.ids.__getitem__)
        return People([self.ids[i] for i in order], [self.rows[i] for i in order])

    def ordered(self, ids: Sequence[str]) -> "People":
        """Return these people alone, in this order."""
        row_of = dict(zip(self.ids, self.rows, strict=True))
        return People(list(ids), [row_of[each] for each in ids])


def row_ids(frame: Frame, columns: IdColumns) -> list[str]:
    """Return the id of each row, in its normal form."""
    parts = [frame.ids(name) for name in columns.names]
    for part in parts:
        _check_filled(part)
    ids = columns.form.all_joined([[str(cell) for cell in part.cells] for part in parts])
    if "" in ids:
        raise parts[0].error("this id is blank: give each record one", ids.index(""))
    return ids


def read_people(frame: Frame, columns: IdColumns) -> People:
    """Return the ids of a table, in the order of its rows."""
    ids = row_ids(frame, columns)
    if len({*ids}) == len(ids):
        return People(ids, [*range(len(ids))])
    rows: dict[str, int] = {}
    repeated = [row for row, each in enumerate(ids) if rows.setdefault(each, row) != row]
    if columns.repeated == REFUSE:
        raise _repeated(frame.ids(columns.names[0]), repeated)
    if columns.repeated == LAST:
        rows = {each: row for row, each in enumerate(ids)}
    return People(list(rows), list(rows.values()))


@dataclass(frozen=True)
class IdLook:
    """What most ids look like, for their owner alone: no shape that few have.

    In `shapes` a 9 stands for each digit but a 0 in front, one letter for several together, whatever else as it is.
    They are `unpadded` if they are whole numbers of several lengths, none with a zero in front: some may have lost it.
    """

    shapes: tuple[str, ...] = ()
    unpadded: bool = False


NO_LOOK: Final = IdLook()


def look_of(ids: Sequence[str], form: IdForm) -> IdLook:
    """Return what ids in this form look like."""
    shapes = Counter(" + ".join(map(_shape, form.parts(each))) for each in ids)
    many = max(_FEW, len(ids) * _RARE)
    common = tuple(shape for shape, held in shapes.most_common(_SHAPES) if held >= many)
    numbers = all(each.isascii() and each.isdigit() and not each.startswith("0") for each in ids)
    return IdLook(common, Spelling.ZEROS not in form.alike and numbers and len({*map(len, ids)}) > 1)


def _shape(text: str) -> str:
    shape = _LETTERS.sub(lambda run: "A" if run[0].isupper() else "a" if run[0].islower() else "Aa", text)
    digits = "".join("9" if c in "0123456789" else "\uff19" if c.isdigit() else c for c in shape)
    return ("0" + digits[1:] if text.startswith("0") else digits)[:_SHOWN]


def spelled_apart(ids: Sequence[str], form: IdForm) -> Iterator[Notice]:
    """Yield what a few ids differ in from nearly all others, and whether all end as a spreadsheet rounds them."""
    every = "".join(ids)
    if Spelling.CASE not in form.alike and every not in (every.lower(), every.upper()):
        written = Counter((each == each.upper(), each == each.lower()) for each in ids)
        written.pop((True, True), None)  # no letter that has a case
        yield from _rare(written.total() - max(written.values()), len(ids), Spelling.CASE)
    long = every.isdigit() and min(map(len, ids)) > _DIGITS_KEPT
    if long and all(not each[_DIGITS_KEPT:].strip("0") for each in ids):
        yield About.IDS_ROUNDED(ids=len(ids))
    if Spelling.ZEROS not in form.alike and every.isascii() and every.isdigit():
        padded = {len(each) for each in ids if each[0] == "0" and len(each) > 1}
        short = sum(each[0] != "0" and len(each) < max(padded) for each in ids) if padded else 0
        yield from _rare(short, len(ids), Spelling.ZEROS)


def _rare(few: int, ids: int, spelling: Spelling) -> Iterator[Notice]:
    if 0 < few <= ids * _RARE:
        yield About.IDS_APART(few=few, ids=ids, spelling=spelling)


def distinct_ids(column: Column) -> list[str]:
    """Return the ids; say where they are empty or repeated, and never which they are (FAULTS 56)."""
    _check_filled(column)
    ids = [str(text) for text in column.cells]
    first: dict[str, int] = {}
    repeated = [row for row, text in enumerate(ids) if first.setdefault(text, row) != row]
    if repeated:
        raise _repeated(column, repeated)
    return ids


def _check_filled(column: Column) -> None:
    held = zip(column.cells.texts, column.cells.records.tolist(), strict=True)
    cut = {text: cells for text, cells in held if _CUT.fullmatch(text)}
    if cut:
        cells = sum(cut.values())
        ids = "this id has" if cells == 1 else f"{cells} ids have"
        raise column.error(
            f"{ids} lost the last digits, as a spreadsheet or a program with floating point writes long numbers (as "
            "1.23457E+17): export the column as text from where the table is kept, before a spreadsheet opens it",
            min(map(column.cells.row, cut)),
        )
    empty = column.cells.missing
    if empty:
        ids = "this id is empty" if empty == 1 else f"{empty} ids are empty, the first one here"
        raise column.error(f"{ids}: give each record one", column.cells.row(None))


def _repeated(column: Column, rows: Sequence[int]) -> DataError:
    several = f"{len(rows)} ids occur on an earlier line too, the first one here"
    ids = "this id occurs on an earlier line too" if len(rows) == 1 else several
    return column.error(f"{ids}: keep one row per person", rows[0])
