"""Read CSV into columns of text; refuse whatever could be read in two ways.

There is a header line, quotes are as in RFC 4180, and lines end in LF or CRLF. A first line `sep=;`, as spreadsheets
write it, is obeyed; blank lines after the last record are ignored.

pyarrow splits a plain file, in which nothing can be read in two ways, since it is fast. Plain is what most programs
write of most tables: UTF-8, no quote, no blank line between records, no lone carriage return. Of such a file a line is
a record and a separator ends a cell, by any reader. Whatever else a file holds, and whatever is wrong with one, is the
slower reader's business, which says where.
"""

import codecs
import csv
import io
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np

from party.data.arrow_cells import ArrowCells
from party.data.cells import NO_TEXT, Cells, TextCells
from party.data.form import MAX_LINE, SAMPLE, CsvLayout, Form, bounded_lines, encoding_of, layout_of
from party.data.frame import Frame, Written, finished
from party.errors import DataError

_LINE = b"\n"


def read_plain(path: Path, content: bytes, layout: CsvLayout) -> Written | None:
    """Read a table, or return None where the file is not plain or not a table, or pyarrow is not installed."""
    lines = content.rstrip(b"\r\n").split(_LINE, layout.skipped + 1)
    if len(lines) != layout.skipped + 2 or not _is_plain(content, lines[-1]):
        return None
    header, body = lines[-2].removesuffix(b"\r"), lines[-1]
    try:
        names = header.decode().split(layout.separator)
    except UnicodeDecodeError:
        return None
    columns = _columns(body, layout.separator, len(names))
    if columns is None:
        return None
    first = layout.skipped + 2
    numbers = range(first, first + len(columns[0]))
    return Written(path, names, columns, numbers, header=layout.skipped + 1)


def _is_plain(content: bytes, body: bytes) -> bool:
    if b'"' in content or b"\0" in content or content.count(b"\r") != content.count(b"\r\n"):
        return False
    if body.startswith((b"\n", b"\r\n", codecs.BOM_UTF8)) or b"\n\n" in body or b"\n\r\n" in body:
        return False
    ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord(_LINE))
    return int(np.diff(ends, prepend=-1, append=len(content)).max()) <= MAX_LINE


def _columns(body: bytes, separator: str, width: int) -> list[ArrowCells] | None:
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.csv as pc  # noqa: PLC0415
    except ImportError:
        return None
    names = list(map(str, range(width)))
    try:
        table = pc.read_csv(
            pa.BufferReader(body),
            pc.ReadOptions(column_names=names),
            pc.ParseOptions(delimiter=separator, quote_char=False, double_quote=False, ignore_empty_lines=False),
            pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    return list(map(ArrowCells, table.columns))


CHUNK = 10_000

_UTF_8 = ("utf-8", "utf-8-sig")
_NO_STAND_INS = ("utf-16", "utf-32", "utf-7")  # their codecs keep no byte that is not theirs

NumberedRow = tuple[int, list[str]]


def read_csv(path: Path, file: BinaryIO, form: Form) -> Frame:
    """Read a CSV file."""
    encoding, notice = (form.encoding, None) if form.encoding else encoding_of(path, file)
    csv.field_size_limit(max(MAX_LINE, csv.field_size_limit()))  # for good: threads share it
    try:
        with _text(file, encoding) as text:
            layout = layout_of(text.read(SAMPLE), form.separator)
        file.seek(0)
        written = read_plain(path, file.read().removeprefix(codecs.BOM_UTF8), layout) if encoding in _UTF_8 else None
        if written is None:
            file.seek(0)
            with _text(file, encoding) as text:
                written = _read(path, text, layout)
    except UnicodeError:
        raise DataError(f"the file is not text in {_called(encoding)}: declare its encoding", path=path) from None
    notices = () if notice is None else (notice,)
    return finished(replace(written, notices=notices, encoding=_called(encoding)), form)


@contextmanager
def _text(file: BinaryIO, encoding: str) -> Iterator[TextIO]:
    stands_in = not encoding.lower().replace("_", "-").startswith(_NO_STAND_INS)
    text = io.TextIOWrapper(file, encoding, errors="surrogateescape" if stands_in else "strict", newline="\n")
    try:
        yield text
    finally:
        text.detach()  # it would close the file


def _called(encoding: str) -> str:
    return encoding.upper().removesuffix("-SIG") if encoding.lower().startswith("utf") else encoding


def _read(path: Path, text: TextIO, layout: CsvLayout) -> Written:
    rows = _numbered_rows(path, text, layout)
    first, header = next(rows, (1, None))
    if header is None:
        raise DataError("the file is empty: export the table again", path=path)
    if not header:
        raise DataError("the header is blank: write the names of columns there", path=path, line=first)
    names = tuple(header)
    columns = [_Column() for _ in names]
    lines = array("q")
    for chunk in _chunks(path, names, rows):
        lines.extend(line for line, _ in chunk)
        for column, cells in zip(columns, zip(*(row for _, row in chunk), strict=True), strict=True):
            column.codes.extend(map(column.code.__getitem__, cells))
    return Written(path, names, [column.finished() for column in columns], lines, header=first)


class _Column:
    """The cells of a column as they are read: a new text gets the next code."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.code: defaultdict[str, int] = defaultdict(count(NO_TEXT).__next__)
        self.code[""]  # the first one is nothing

    def finished(self) -> Cells:
        return TextCells([*self.code][1:], np.frombuffer(self.codes, dtype=np.int32))


def _numbered_rows(path: Path, text: TextIO, layout: CsvLayout) -> Iterator[NumberedRow]:
    """Yield each row with the number of the line on which it begins."""
    lines = bounded_lines(path, text)
    for _ in range(layout.skipped):
        next(lines, None)
    reader = csv.reader(lines, delimiter=layout.separator, skipinitialspace=layout.blanks_before_quotes, strict=True)
    while True:
        line = layout.skipped + reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise DataError(
                "a quote is not closed or not doubled, a carriage return stands alone, or a cell is overlong: mend it",
                path=path,
                line=line,
            ) from None


def _chunks(path: Path, names: tuple[str, ...], rows: Iterable[NumberedRow]) -> Iterator[list[NumberedRow]]:
    """Gather rows as wide as the header; leave out blank lines after the last one."""
    chunk: list[NumberedRow] = []
    blank: NumberedRow | None = None
    for line, row in rows:
        if len(row) == len(names) and blank is None:
            chunk.append((line, row))
            if len(chunk) == CHUNK:
                yield chunk
                chunk = []
        elif not row or (len(row) == 1 and not row[0].strip()):
            blank = blank or (line, row)
        else:
            first, odd = blank or (line, row)
            raise DataError(
                f"the row has {len(odd)} fields, the header {len(names)}: put cells that hold the separator in quotes",
                path=path,
                line=first,
                column=names[len(odd)] if len(odd) < len(names) else None,
            )
    if chunk:
        yield chunk
