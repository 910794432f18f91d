"""Rows of ids and items as a table of 0 and 1 per person; an item nearly nobody or everybody has would name them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from party.data.cells import NO_TEXT, Cells, coded
from party.data.frame import Column, Frame, spelt_notices, taken_notices
from party.data.ids import IdColumns, row_ids
from party.data.notices import About
from party.errors import DataError
from protocols.tables import Index

HELD: Final = ("0", "1")


def frequent_items(frame: Frame, who: IdColumns, ignore: Sequence[str], smallest: int) -> Frame:
    """Return a table with a row per person and a column per item that enough persons have, and enough lack."""
    found = _find(frame, who, ignore)
    count = np.diff(found.starts)
    enough = (count >= smallest) & (len(found.rows) - count >= smallest)
    names = sorted(name for name, kept in zip(found.items.cells.texts, enough.tolist(), strict=True) if kept)
    if not names:
        raise found.items.error(
            f"no item has {smallest} persons with it and {smallest} without: lower smallest_value, or bring more rows"
        )
    left = found.items.cells.different - len(names)
    notice = (About.ITEMS_LEFT_OUT(left=left, kept=len(names), smallest=smallest),) if left else ()
    table = _table(frame, who, found, names)
    return replace(table, notices=(*table.notices, *notice))


def wanted_items(frame: Frame, who: IdColumns, ignore: Sequence[str], wanted: Sequence[str]) -> Frame:
    """Return a table with a row per person and a column for each of these items, even if nobody has one."""
    return _table(frame, who, _find(frame, who, ignore), wanted)


@dataclass(frozen=True, eq=False, repr=False)
class _Found:
    """Who has what.

    `persons` has by item, in the order of the texts of the column, who has it, each once; those of each begin, and the
    last ones end, at `starts`. `rows` are the first row of each person.
    """

    items: Column
    rows: Sequence[int]
    persons: Index
    starts: Index

    def column(self, name: str) -> Cells:
        """Return the column of an item."""
        codes = np.zeros(len(self.rows), dtype=np.int32)
        if name in self.items.cells.texts:
            item = self.items.cells.texts.index(name)
            codes[self.persons[self.starts[item] : self.starts[item + 1]]] = 1
        return coded(HELD, codes)


def _find(frame: Frame, who: IdColumns, ignore: Sequence[str]) -> _Found:
    for name in ignore:
        frame.need(name)
    for name in frame.columns:
        if name not in (*who.names, who.items, *ignore):
            problem = "the rows are of ids and items: list this column under [data] ignore"
            raise DataError(problem, path=frame.path, column=name)
    items = frame.column(who.items or "")
    ids, first = row_ids(frame, who), dict[str, int]()
    for row, each in enumerate(ids):
        first.setdefault(each, row)
    place = {each: number for number, each in enumerate(first)}
    person = np.array([place[each] for each in ids], dtype=np.intp)
    codes: NDArray[np.int64] = items.cells.codes.astype(np.int64)
    counted = codes != NO_TEXT
    pairs = np.unique(codes[counted] * len(first) + person[counted])
    held = np.bincount(pairs // max(len(first), 1), minlength=items.cells.different)
    return _Found(items, [*first.values()], pairs % max(len(first), 1), np.concatenate([[0], np.cumsum(held)]))


def _table(frame: Frame, who: IdColumns, found: _Found, names: Sequence[str]) -> Frame:
    people = frame.only(found.rows)
    ids = {name: people.cells[people.columns.index(name)] for name in who.names}
    clash = next((name for name in ids if name in names), None)
    if clash is not None:
        problem = f"an item has the name of the id column {clash!r}: give that column another"
        raise found.items.error(problem)
    return replace(
        people,
        columns=(*ids, *names),
        cells=(*ids.values(), *map(found.column, names)),
        missing=(),
        notices=(*frame.notices, *taken_notices([found.items]), *spelt_notices([found.items])),
    )
