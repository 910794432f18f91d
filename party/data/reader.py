"""Read a table's file, CSV or Parquet, into columns of text; refuse whatever could be read in two ways.

CSV is UTF-8 (a byte order mark is allowed), with commas, a header line, and quotes as RFC 4180 has them;
lines end in LF or CRLF. No error holds the content of a cell (FAULTS 95). A faulty header is described by
position only, since a file without a header has a record there.
"""

import csv
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from party.errors import DataError

MAX_CELL = 1024
MAX_LINE = 1 << 20
CHUNK = 10_000

Cells = Sequence[str | None]


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A named column, its cells as text, and where they stand in the file; an empty cell is None."""

    name: str
    cells: Cells
    path: Path
    lines: Sequence[int]

    def __repr__(self) -> str:
        return f"<Column of {len(self.cells)} cells>"

    def error(self, problem: str, row: int | None = None) -> DataError:
        """Make the error that says what is wrong with this column, or with its cell in this row."""
        line = None if row is None else self.lines[row]
        return DataError(problem, path=self.path, line=line, column=self.name)


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """The columns of a file. Record `i` begins on `lines[i]`: a line of CSV or a row of Parquet, from 1."""

    path: Path
    columns: tuple[str, ...]
    cells: tuple[Cells, ...]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"<Frame {len(self)} x {len(self.columns)}>"

    def column(self, name: str) -> Column:
        """Return the column of this name.

        Raises:
            DataError: There is none.
        """
        if name not in self.columns:
            raise DataError("the file has no such column", path=self.path, column=name)
        return Column(name, self.cells[self.columns.index(name)], self.path, self.lines)


def read_frame(path: Path | str) -> Frame:
    """Read a `.csv` or `.parquet` file.

    Raises:
        DataError: The file cannot be read, or is no table with a header, distinct column names and records.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise DataError("a table's file name ends in .csv or .parquet", path=path)
    try:
        frame = readers[path.suffix.lower()](path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or 'the file is damaged'}", path=path) from None
    if not frame.lines:
        raise DataError("the file has a header and no records", path=path)
    _check_cells(frame)
    return frame


def frame_of(path: Path, names: Sequence[str], cells: Sequence[Cells]) -> Frame:
    """Return columns that come from memory as a frame, by the rules of files.

    Args:
        path: What to call them in errors.
        names: Of the columns.
        cells: Of each column, all of one length; None for a missing one.

    Raises:
        DataError: There is no record, or a name or a cell is such as no file can hold.
    """
    columns = _header(path, names, line=None) if names else ()
    if not cells or not cells[0]:
        raise DataError("there are no records", path=path)
    frame = Frame(path, columns, tuple(cells), range(1, len(cells[0]) + 1))
    _check_cells(frame)
    return frame


def _read_csv(path: Path) -> Frame:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        rows = _numbered_rows(path, file)
        _, header = next(rows, (1, None))
        if header is None:
            raise DataError("the file is empty", path=path)
        names = _header(path, header)
        columns: list[list[str | None]] = [[] for _ in names]
        lines = array("q")
        # Equal cells of a column are kept once: a million records then take megabytes, not gigabytes.
        pools: list[dict[str, str | None]] = [{"": None} for _ in names]
        for chunk in _chunks(path, names, rows):
            lines.extend(line for line, _ in chunk)
            for column, pool, cells in zip(columns, pools, zip(*(row for _, row in chunk), strict=True), strict=True):
                column.extend(map(pool.setdefault, cells, cells))
    return Frame(path, names, tuple(columns), lines)


def _numbered_rows(path: Path, file: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of the line on which it begins."""
    reader = csv.reader(_bounded_lines(path, file), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise DataError(
                "a quote is not closed or not doubled, a carriage return stands alone, or a cell is overlong",
                path=path,
                line=line,
            ) from None


def _bounded_lines(path: Path, file: TextIO) -> Iterator[str]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise DataError(f"the line has more than {MAX_LINE} characters", path=path, line=number)
        yield line


def _chunks(
    path: Path, names: tuple[str, ...], rows: Iterable[tuple[int, list[str]]]
) -> Iterator[list[tuple[int, list[str]]]]:
    """Gather rows as wide as the header."""
    chunk = []
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(
                f"the row has {len(row)} fields, the header {len(names)}",
                path=path,
                line=line,
                column=names[len(row)] if len(row) < len(names) else None,
            )
        chunk.append((line, row))
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _header(path: Path, names: Sequence[str], line: int | None = 1) -> tuple[str, ...]:
    """Check the column names: each given, well-formed and distinct."""
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        flaw = name_flaw(name)
        if name in first:
            flaw = f"is also that of column {first[name]}"
        if flaw:
            raise DataError(f"the name of column {position} {flaw}", path=path, line=line)
        first[name] = position
    if not names:
        raise DataError("the header is blank", path=path, line=line)
    return tuple(names)


def name_flaw(name: str) -> str | None:
    """Say what makes a text unfit to be a name."""
    return text_flaw(name) if name else "is empty"


def text_flaw(text: str) -> str | None:
    """Say what makes a text unfit to be a name or a cell."""
    if len(text) > MAX_CELL:
        return f"has more than {MAX_CELL} characters"
    if "\0" in text:
        return "holds a NUL byte"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "holds bytes that are not UTF-8"
    return None


def _check_cells(frame: Frame) -> None:
    for name in frame.columns:
        column = frame.column(name)
        for text in dict.fromkeys(column.cells):
            flaw = text and text_flaw(text)
            if flaw:
                raise column.error(f"the cell {flaw}", column.cells.index(text))


def _read_parquet(path: Path) -> Frame:
    """Read Parquet as the text that CSV would hold.

    pyarrow is an extra: only who reads Parquet needs it.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise DataError("reading Parquet needs pyarrow: pip install 'cotally[parquet]'", path=path) from None
    try:
        table = pq.ParquetFile(path).read()
    except pa.ArrowException:
        raise DataError("the file is not Parquet, or is damaged", path=path) from None
    names = _header(path, table.column_names)
    cells = []
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_nested(column.type):
            raise DataError("the column holds lists or structures", path=path, column=name)
        try:
            cells.append([text or None for text in column.cast(pa.string()).to_pylist()])
        except (pa.ArrowException, UnicodeDecodeError):
            raise DataError("the column cannot be read as text", path=path, column=name) from None
    return Frame(path, names, tuple(cells), range(1, table.num_rows + 1))
