"""A table as it was read; a fault of a column is raised when it is used, and no error shows a cell (FAULTS 95)."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from party.data.cells import Cells
from party.data.form import USUAL, Form
from party.data.notices import About, Notice
from party.data.numbers import DIGITS_OF_A_DOUBLE, doubles
from party.data.texts import COMMA, MISSING_MARKERS, Reading, plain_text, read_ids, read_texts
from party.errors import AbsentColumnError, DataError
from party.names import nearest
from protocols.identifiers import seen

MAX_CELL_LENGTH = 1024
_FEW = 12
"""How many names an error lists."""
_VALUE = re.compile(r"(?!(?:19|20)\d\d$)[-+]?[\d.,]*\d")
"""A number that is no year: hardly the name of a column."""

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")  # but those that are taken for blanks
_UNNAMED = re.compile(r"Unnamed: 0(?:\.\d+)*", re.ASCII)  # what pandas calls an index that it reads back


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A named column, its cells as text or None where missing, where they stand, and how they were read."""

    name: str
    cells: Cells
    path: Path
    lines: Sequence[int]
    taken: tuple[str, ...] = ()
    spelt: tuple[Notice, ...] = ()

    def __repr__(self) -> str:
        return f"<Column of {len(self.cells)} cells>"

    def error(self, problem: str, row: int | None = None) -> DataError:
        """Make the error that says what is wrong with this column, or with its cell in this row."""
        line = None if row is None else self.lines[row]
        return DataError(problem, path=self.path, line=line, column=self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """The columns of a table. Record `i` begins on `lines[i]`: a line of CSV or a row of Parquet, from 1.

    An empty cell is None. `indexes` names columns that are not part of the table: indexes of the program that wrote it;
    `typed` those whose cells the file itself holds as numbers; `flaws` why columns cannot be used, where that is known
    before their cells are looked at.
    """

    path: Path
    columns: tuple[str, ...]
    cells: tuple[Cells, ...]
    lines: Sequence[int]
    missing: tuple[str, ...] | None = None
    indexes: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    decimal: str | None = None
    typed: frozenset[str] = frozenset()
    flaws: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "UTF-8"

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"<Frame {len(self)} x {len(self.columns)}>"

    def only(self, rows: Sequence[int]) -> "Frame":
        """Return these rows alone, in this order: nothing of the others is in what is returned."""
        cells = tuple(column.only(np.asarray(rows, dtype=np.intp)) for column in self.cells)
        return replace(self, cells=cells, lines=[self.lines[row] for row in rows])

    def column(self, name: str, keep: Collection[str] = (), marks: Collection[str] | None = None) -> Column:
        """Return the column of this name; its cells are the texts of `party.data.texts`."""
        cells = self._usable(name)
        decimal = None if name in self.typed else self.decimal
        numbers = cells.numbers if decimal != COMMA else None
        chosen = next(each for each in (self.missing, marks, MISSING_MARKERS) if each is not None)
        values = set(map(plain_text, keep))
        markers = {marker: text for marker in chosen if (text := plain_text(marker)) not in values}
        numeric = {marker: float(text) for marker, text in markers.items() if doubles([text]) is not None}
        if numbers is not None and all(len(text) <= DIGITS_OF_A_DOUBLE for text in numeric):
            left = numbers.without([*numeric.values()])
            if left.missing < len(left):
                taken = sorted(marker for marker, value in numeric.items() if value in numbers.held.distinct)
                return Column(name, left, self.path, self.lines, tuple(taken))
        return self._read(name, cells, read_texts(_counted(cells), chosen, keep, decimal))

    def ids(self, name: str) -> Column:
        """Return a column of record ids as they are seen, except that whole numbers are written as such."""
        cells = self._usable(name)
        return self._read(name, cells, read_ids(_counted(cells)))

    def need(self, name: str, owner: str | None = None) -> None:
        """Make sure that there is a column of this name."""
        if name in self.columns:
            return
        none = "the file has no such column" + (f" ({owner}'s)" if owner else "")
        if name in self.indexes:
            problem = "it is an index of the program that wrote the file: write it as a column (pandas: reset_index)"
        elif len(self.columns) == 1 and (near := nearest(name, self.columns)) is None:
            problem = f"{none}, only one: are columns separated by another character?"
        else:
            near = nearest(name, self.columns)
            problem = f"{none}; did you mean {near!r}?" if near else f"{none}{self._there()}"
        raise AbsentColumnError(problem, path=self.path, column=name, owner=owner)

    def _there(self) -> str:
        """Return what columns there are, unless a record stands in their place: a file may have no header."""
        if any(
            _VALUE.fullmatch(name) or name in set(cells) for name, cells in zip(self.columns, self.cells, strict=True)
        ):
            return ", and its first line seems to be a record: write the names of columns above it"
        return f"; it has {', '.join(self.columns[:_FEW])}" + (" and more" if len(self.columns) > _FEW else "")

    def _usable(self, name: str) -> Cells:
        """Return the cells of a column as the file has them, if all can be used."""
        self.need(name)
        if name in self.flaws:
            raise DataError(f"it {self.flaws[name]}: list it under ignore", path=self.path, column=name)
        cells = self.cells[self.columns.index(name)]
        if cells.numbers is None and _has_flaw(cells.texts):
            each = ((text, text_flaw(text, self.encoding)) for text in cells.texts)
            text, flaw = next((text, flaw) for text, flaw in each if flaw is not None)
            cure = "mend it, or list the column under ignore"
            raise DataError(f"the cell {flaw}: {cure}", path=self.path, line=self.lines[cells.row(text)], column=name)
        return cells

    def _read(self, name: str, cells: Cells, reading: Reading) -> Column:
        read = cells.standing_for(reading.text_of)
        return Column(name, read, self.path, self.lines, reading.taken, tuple(_spelt(name, reading)))


def _counted(cells: Cells) -> dict[str, int]:
    return dict(zip(cells.texts, cells.records.tolist(), strict=True))


def _spelt(name: str, reading: Reading) -> Iterator[Notice]:
    if reading.unseen:
        yield About.CELLS_UNSEEN(column=name, cells=reading.unseen)
    if reading.apart:
        yield About.WRITTEN_APART(column=name, cells=reading.apart)
    if reading.points:
        yield About.POINTS(column=name, cells=reading.points)
    values, held = reading.alike
    if values:
        yield About.SPELLED_ALIKE(column=name, values=values, cells=held)


def frame_of(path: Path, names: Sequence[str], cells: Sequence[Sequence[str | None]]) -> Frame:
    """Return columns from memory as a frame, by the rules for files."""
    if not cells or not cells[0]:
        raise DataError("there are no records: bring some", path=path)
    written = Written(path, names, list(map(Cells.of, cells)), range(1, len(cells[0]) + 1))
    return finished(written)


@dataclass(frozen=True, eq=False, repr=False)
class Written:
    """A table as it stands in a file, with whatever is not part of it.

    `names` have any blanks around them, `indexes` are columns that the file itself calls so, `typed` those whose cells
    it holds as numbers, `flaws` say by their place why columns cannot be used.
    """

    path: Path
    names: Sequence[str]
    cells: Sequence[Cells]
    lines: Sequence[int]
    indexes: Collection[str] = ()
    notices: Sequence[Notice] = ()
    encoding: str = "UTF-8"
    header: int | None = None
    typed: Collection[int] = ()
    flaws: Mapping[int, str] = field(default_factory=dict)


def finished(written: Written, form: Form = USUAL) -> Frame:
    """Leave out whatever is not a column of the table, and check the names."""
    names, cells = list(map(plain_name, written.names)), written.cells
    dropped = [i for i, name in enumerate(names) if _is_index(i, name, cells[i], written.indexes)]
    kept = [i for i in range(len(names)) if i not in dropped]
    columns = _checked_names(written, names, kept)
    if not written.lines:
        raise DataError("the file has a header and no records: export the table again", path=written.path)
    notices = [
        About.INDEX(path=written.path, name=names[i])
        if names[i]
        else About.UNNAMED_INDEX(path=written.path, place=i + 1)
        for i in dropped
        if names[i] or cells[i].missing < len(cells[i])
    ]
    unseen = sum(names[i] != written.names[i].strip() for i in kept)
    notices += [About.NAMES_UNSEEN(path=written.path, names=unseen)] if unseen else []
    return Frame(
        written.path,
        columns,
        tuple(cells[i] for i in kept),
        written.lines,
        form.missing,
        tuple(names[i] for i in dropped if names[i]),
        (*written.notices, *notices),
        form.decimal,
        frozenset(names[i] for i in written.typed),
        {names[i]: flaw for i, flaw in written.flaws.items()},
        written.encoding,
    )


def _is_index(position: int, name: str, cells: Cells, indexes: Collection[str]) -> bool:
    """Return whether a column is an index that a program wrote, or comes of a needless separator at each line's end."""
    if name in indexes or name.startswith("__index_level_"):
        return True
    if name:
        return _UNNAMED.fullmatch(name) is not None
    return len(cells) > 0 and (position == 0 or cells.missing == len(cells))


def _checked_names(written: Written, names: Sequence[str], kept: Sequence[int]) -> tuple[str, ...]:
    """Check the names of the kept columns; a faulty one is named by position, as it may be a record."""
    first: dict[str, int] = {}
    for position in kept:
        name = names[position]
        flaw = name_flaw(written.names[position], written.encoding) if name else "is empty"
        if name in first:
            flaw = f"is also that of column {first[name] + 1}"
        if flaw:
            raise DataError(
                f"the name of column {position + 1} {flaw}: give it another", path=written.path, line=written.header
            )
        first[name] = position
    if not first:
        raise DataError("the header is blank: write the names of columns there", path=written.path, line=written.header)
    return tuple(first)


def plain_name(text: str) -> str:
    """Return the name of a column that a header says: as it is seen, without blanks that are not needed."""
    return " ".join(seen(text).split())


def name_flaw(name: str, encoding: str = "UTF-8") -> str | None:
    """Say what makes a text unfit to be a name."""
    flaw = text_flaw(name, encoding) if name else "is empty"
    return "holds a control character" if flaw is None and _CONTROL.search(name) else flaw


def text_flaw(text: str, encoding: str = "UTF-8") -> str | None:
    """Say what makes a text unfit to be a name or a cell."""
    if len(text) > MAX_CELL_LENGTH:
        return f"has more than {MAX_CELL_LENGTH} characters"
    if "\0" in text:
        return "holds a NUL byte"
    return f"holds bytes that are not {encoding}" if _has_surrogate(text) else None


def _has_flaw(texts: Sequence[str]) -> bool:
    """Return at once whether any of many texts is unfit to be a cell."""
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


def taken_notices(columns: Sequence[Column]) -> tuple[Notice, ...]:
    """Return which markers were taken for missing cells, if any were."""
    taken: dict[str, list[str]] = {}
    for column in columns:
        for marker in column.taken:
            taken.setdefault(marker, []).append(column.name)
    found = tuple((marker, tuple(names)) for marker, names in taken.items())
    return (About.MARKERS(columns=found),) if found else ()


def spelt_notices(columns: Sequence[Column]) -> tuple[Notice, ...]:
    """Return what an owner may not expect of how the cells of columns were read."""
    return tuple(spelling for column in columns for spelling in column.spelt)
