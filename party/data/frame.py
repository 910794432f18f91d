"""A table that was read: columns by name, each cell as the file has it and as the text that it stands for.

No error and no notice holds the content of a cell (FAULTS 95).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from party.data.cells import Cells
from party.data.notices import IndexLeftOut, MarkersTaken, Notice, SpelledAlike
from party.data.texts import MISSING_MARKERS, Reading, read_ids, read_texts
from party.errors import AbsentColumnError, DataError
from party.names import nearest

MAX_CELL_LENGTH = 1024

_UNNAMED = re.compile(r"Unnamed: 0(?:\.\d+)*", re.ASCII)  # what pandas calls an index that it reads back


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A named column, its cells as text, and where they stand in the file; a missing cell is None.

    Args:
        name: Its name.
        cells: The texts that the cells stand for.
        path: The file.
        lines: Where each cell stands in it.
        taken: The markers that were taken for missing cells.
        alike: How many values differ from another one by case, blanks or Unicode form alone.
    """

    name: str
    cells: Cells
    path: Path
    lines: Sequence[int]
    taken: tuple[str, ...] = ()
    alike: int = 0

    def __repr__(self) -> str:
        return f"<Column of {len(self.cells)} cells>"

    def error(self, problem: str, row: int | None = None) -> DataError:
        """Make the error that says what is wrong with this column, or with its cell in this row."""
        line = None if row is None else self.lines[row]
        return DataError(problem, path=self.path, line=line, column=self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """The columns of a table. Record `i` begins on `lines[i]`: a line of CSV or a row of Parquet, from 1.

    Args:
        path: The file, or what to call the table in errors.
        columns: Their names.
        cells: The cells of each column, as the file has them; an empty one is None.
        lines: Where each record begins.
        missing: Markers of a missing cell.
        indexes: Names of columns that are not part of the table: indexes of the program that wrote it.
        notices: What the owner of the table should know.
    """

    path: Path
    columns: tuple[str, ...]
    cells: tuple[Cells, ...]
    lines: Sequence[int]
    missing: tuple[str, ...] = MISSING_MARKERS
    indexes: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"<Frame {len(self)} x {len(self.columns)}>"

    def only(self, rows: Sequence[int]) -> "Frame":
        """Return these rows alone, in this order: nothing of the others is in what is returned."""
        cells = tuple(column.only(np.asarray(rows, dtype=np.intp)) for column in self.cells)
        return replace(self, cells=cells, lines=[self.lines[row] for row in rows])

    def column(self, name: str, keep: Collection[str] = ()) -> Column:
        """Return the column of this name; its cells are the texts of `party.data.texts`.

        Args:
            name: The column's.
            keep: Texts that are values of it, though they mark a missing cell elsewhere.

        Raises:
            DataError: There is none.
        """
        index = self._index(name)
        cells = self.cells[index]
        markers = {*self.missing} - {*keep}
        if cells.numbers is not None and not any(map(cells.numbers.may_hold, markers)):
            return Column(name, cells.numbers, self.path, self.lines)
        return self._read(index, read_texts(cells.texts, self.missing, keep))

    def ids(self, name: str) -> Column:
        """Return a column of record ids as they are, except that whole numbers are written as such.

        Raises:
            DataError: There is none.
        """
        index = self._index(name)
        return self._read(index, read_ids(self.cells[index].texts))

    def need(self, name: str, owner: str | None = None) -> None:
        """Make sure that there is a column of this name.

        Args:
            name: The column's.
            owner: The party whose column it is, where the error is to say so.

        Raises:
            AbsentColumnError: There is none; the text suggests a similar name.
        """
        if name in self.columns:
            return
        none = "the file has no such column" + (f" ({owner}'s)" if owner else "")
        if name in self.indexes:
            problem = "it is an index of the program that wrote the file: write it as a column (pandas: reset_index)"
        elif len(self.columns) == 1 and (near := nearest(name, self.columns)) is None:
            problem = f"{none}, only one: are columns separated by another character?"
        else:
            # NB: only a similar name, since a file without a header has a record there
            near = nearest(name, self.columns)
            problem = none + (f"; did you mean {near!r}?" if near else "")
        raise AbsentColumnError(problem, path=self.path, column=name, owner=owner)

    def _index(self, name: str) -> int:
        self.need(name)
        return self.columns.index(name)

    def _read(self, index: int, reading: Reading) -> Column:
        cells = self.cells[index].standing_for(reading.text_of)
        return Column(self.columns[index], cells, self.path, self.lines, reading.taken, reading.alike)


def frame_of(
    path: Path, names: Sequence[str], cells: Sequence[Sequence[str | None]], missing: tuple[str, ...] | None = None
) -> Frame:
    """Return columns from memory as a frame, by the rules for files.

    Args:
        path: What to call them in errors.
        names: Of the columns.
        cells: Of each column, all of one length; None for a missing one.
        missing: Markers of a missing cell; the usual ones unless given.

    Raises:
        DataError: There is no record, or a name or a cell cannot be stored in a file.
    """
    if not cells or not cells[0]:
        raise DataError("there are no records", path=path)
    written = Written(path, names, list(map(Cells.of, cells)), range(1, len(cells[0]) + 1))
    return finished(written, MISSING_MARKERS if missing is None else missing)


@dataclass(frozen=True, eq=False, repr=False)
class Written:
    """A table as it stands in a file, with whatever is not part of it.

    Args:
        path: The file.
        names: Of all columns, with any blanks around them.
        cells: Of all columns.
        lines: Where each record begins.
        indexes: Names of columns that the file itself calls indexes.
        notices: What is already known about the file.
        encoding: What the texts were read from.
        header: The line of the names, if they have one.
    """

    path: Path
    names: Sequence[str]
    cells: Sequence[Cells]
    lines: Sequence[int]
    indexes: Collection[str] = ()
    notices: Sequence[Notice] = ()
    encoding: str = "UTF-8"
    header: int | None = None


def finished(written: Written, missing: tuple[str, ...]) -> Frame:
    """Leave out whatever is not a column of the table, and check names and cells.

    Args:
        written: What was read.
        missing: Markers of a missing cell.

    Raises:
        DataError: There is no record, or a name or a cell cannot be used.
    """
    names, cells = [name.strip() for name in written.names], written.cells
    dropped = [i for i, name in enumerate(names) if _is_index(i, name, cells[i], written.indexes)]
    kept = [i for i in range(len(names)) if i not in dropped]
    columns = _checked_names(written, names, kept)
    if not written.lines:
        raise DataError("the file has a header and no records", path=written.path)
    told = [IndexLeftOut(written.path, i, names[i]) for i in dropped if names[i] or cells[i].missing < len(cells[i])]
    frame = Frame(
        written.path,
        columns,
        tuple(cells[i] for i in kept),
        written.lines,
        missing,
        tuple(names[i] for i in dropped if names[i]),
        (*written.notices, *told),
    )
    _check_cells(frame, written.encoding)
    return frame


def _is_index(position: int, name: str, cells: Cells, indexes: Collection[str]) -> bool:
    """Tell whether a column is an index that a program wrote, or comes of a needless separator at each line's end."""
    if name in indexes or name.startswith("__index_level_"):
        return True
    if name:
        return _UNNAMED.fullmatch(name) is not None
    return len(cells) > 0 and (position == 0 or cells.missing == len(cells))


def _checked_names(written: Written, names: Sequence[str], kept: Sequence[int]) -> tuple[str, ...]:
    """Check the names of the columns that are kept: each given, well-formed and distinct.

    A faulty one is described by position only, since a file without a header has a record there.
    """
    first: dict[str, int] = {}
    for position in kept:
        name = names[position]
        flaw = text_flaw(name, written.encoding) if name else "is empty"
        if name in first:
            flaw = f"is also that of column {first[name] + 1}"
        if flaw:
            raise DataError(f"the name of column {position + 1} {flaw}", path=written.path, line=written.header)
        first[name] = position
    if not first:
        raise DataError("the header is blank", path=written.path, line=written.header)
    return tuple(first)


def name_flaw(name: str) -> str | None:
    """Say what makes a text unfit to be a name."""
    return text_flaw(name) if name else "is empty"


def text_flaw(text: str, encoding: str = "UTF-8") -> str | None:
    """Say what makes a text unfit to be a name or a cell."""
    if len(text) > MAX_CELL_LENGTH:
        return f"has more than {MAX_CELL_LENGTH} characters"
    if "\0" in text:
        return "holds a NUL byte"
    if _has_surrogate(text):
        return f"holds bytes that are not {encoding}"
    return None


def _check_cells(frame: Frame, encoding: str) -> None:
    for name, cells in zip(frame.columns, frame.cells, strict=True):
        if cells.numbers is None and _has_flaw(cells.texts):
            text, flaw = next((text, flaw) for text in cells.texts if (flaw := text_flaw(text, encoding)) is not None)
            line = frame.lines[cells.row(text)]
            raise DataError(f"the cell {flaw}", path=frame.path, line=line, column=name)


def _has_flaw(texts: Sequence[str]) -> bool:
    """Tell at once whether any of many texts is unfit to be a cell."""
    if max(map(len, texts), default=0) > MAX_CELL_LENGTH:
        return True
    joined = "".join(texts)
    return "\0" in joined or _has_surrogate(joined)


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def taken_notices(columns: Sequence[Column]) -> tuple[MarkersTaken, ...]:
    """Return which markers were taken for missing cells, if any were."""
    taken: dict[str, list[str]] = {}
    for column in columns:
        for marker in column.taken:
            taken.setdefault(marker, []).append(column.name)
    found = tuple((marker, tuple(names)) for marker, names in taken.items())
    return (MarkersTaken(found),) if found else ()


def alike_notices(columns: Sequence[Column]) -> tuple[SpelledAlike, ...]:
    """Return each column whose values may be one value in several spellings."""
    return tuple(SpelledAlike(column.name, column.alike) for column in columns if column.alike)
