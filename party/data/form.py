"""How a table's file is written: its kind, its encoding, and the character between its columns.

All of it can be declared, and is otherwise found out: a byte order mark decides; then UTF-8, if the whole file is; then
Windows-1252 (Latin-1 with signs where that has control characters), if nothing in the file looks like UTF-8. Columns
are separated by what gives the header and the records below it one width.
"""

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from party.data.notices import About, Notice
from party.data.texts import COMMA, POINT
from party.errors import DataError
from protocols.errors import InputError

STANDARD_INPUT = Path("-")
SAMPLE = 1 << 16
MAX_LINE = 1 << 20
SEPARATORS = (",", ";", "\t", "|")
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PARQUET_SUFFIX = ".parquet"

_ENCODED = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_DECLARED = re.compile(r'"?sep=([^\r\n])"?\r?\n')
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "is an Excel workbook or a zip archive: save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "is an Excel workbook in the old format: save the sheet as CSV"),
    (b'{"', "is JSON, not a table: write it as CSV or Parquet"),
    (b"[{", "is JSON, not a table: write it as CSV or Parquet"),
    (b"[[", "is JSON, not a table: write it as CSV or Parquet"),
    (b"<!DOCTYPE", "is a web page, not a table: export the table as CSV or Parquet"),
    (b"<html", "is a web page, not a table: export the table as CSV or Parquet"),
)


def _letter(code: int, encoding: str) -> str:
    return bytes([code]).decode(encoding, "replace")


_OTHERWISE = frozenset(code for code in range(0x80, 0x100) if _letter(code, "cp1252") != _letter(code, "cp1250"))
"""Bytes that are other letters in Central European files."""
_BLOCK, _SAMPLE_RECORDS = 1 << 20, 20


@dataclass(frozen=True)
class Form:
    """What is declared about a table's file; anything left None is found out.

    `missing` are markers beside the usual ones and an empty cell. `decimal`, a point or a comma, begins a fraction; the
    other one, blanks and apostrophes then group thousands. Unless it is declared, a point does and nothing groups.
    """

    separator: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, POINT, COMMA):
            raise InputError('must be "." or ","', field="decimal")
        if self.separator is not None and (len(self.separator) != 1 or self.separator in '"\r\n\0'):
            raise InputError('must be one character, such as ",", ";", "|" or "\\t" for a tab', field="separator")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except (LookupError, ValueError):
                raise InputError(
                    'must be one that Python knows, such as "utf-8" or "cp1252"', field="encoding"
                ) from None


USUAL = Form()


def bare_name(path: Path) -> Path:
    """Return a name without the `.gz` of packing."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn whatever keeps a table's file from being read into one error."""
    try:
        yield
    except FileNotFoundError:
        raise DataError("does not exist: name another", path=path) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"cannot be read: {reason or 'the file is damaged'}", path=path) from None


def bounded_lines(path: Path, file: TextIO) -> Iterator[str]:
    """Yield the lines of a file, with their ends; an overlong one is refused."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            raise DataError(
                f"the line has more than {MAX_LINE} characters: mend it, a quote may be open", path=path, line=number
            )
        yield line


def opened(path: Path, more: Sequence[str] = ()) -> BinaryIO:
    """Open a table's file, or the standard input for `-`; gzip is unpacked."""
    if path == STANDARD_INPUT:
        file: BinaryIO = io.BytesIO(sys.stdin.buffer.read())
    else:
        if bare_name(path).suffix.lower() not in (*TEXT_SUFFIXES, *more, PARQUET_SUFFIX):
            names = ", ".join((*TEXT_SUFFIXES, *more))
            raise DataError(
                f"a table's file name must end in {names} or {PARQUET_SUFFIX}, or in .gz after it", path=path
            )
        file = path.open("rb")
    if not file.seekable():
        with file:
            file = io.BytesIO(file.read())
    if _first_bytes(file, 2) == b"\x1f\x8b":
        file = cast("BinaryIO", gzip.GzipFile(fileobj=file))
    first = b"".join(_first_bytes(file, 64).removeprefix(codecs.BOM_UTF8).split())
    for mark, problem in _FOREIGN:
        if first[: len(mark)].lower() == mark.lower():
            file.close()
            raise DataError(f"the file {problem}", path=path)
    return file


def is_parquet(path: Path, file: BinaryIO) -> bool:
    """Return whether a file is Parquet, by its content or by its name."""
    return _first_bytes(file, 4) == b"PAR1" or path.suffix.lower() == PARQUET_SUFFIX


def _first_bytes(file: BinaryIO, count: int) -> bytes:
    first = file.read(count)
    file.seek(0)
    return first


def encoding_of(path: Path, file: BinaryIO) -> tuple[str, Notice | None]:
    """Return a file's encoding, and a notice where it is a guess."""
    first = _first_bytes(file, SAMPLE)
    marked = next((name for mark, name in _MARKS if first.startswith(mark)), None)
    if marked is not None:
        return marked, None
    if first[1::2].count(0) * 2 > len(first[1::2]) or first[::2].count(0) * 2 > len(first[::2]):
        raise DataError(
            "the file seems to be UTF-16 without a byte order mark: declare its encoding, utf-16-le or utf-16-be",
            path=path,
        )
    if _decodes(file, "utf-8"):
        return "utf-8", None
    content = file.read()
    file.seek(0)
    if _ENCODED.search(content) or not _decodes(file, "cp1252"):
        return "utf-8", None  # damaged: the reader says where
    guess = About.ENCODING if _OTHERWISE.isdisjoint(content) else About.CENTRAL_ENCODING
    return "cp1252", guess(path=path)


def _decodes(file: BinaryIO, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := file.read(_BLOCK):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        file.seek(0)
    return True


@dataclass(frozen=True)
class CsvLayout:
    """How the lines of a CSV file are split: by which character, after how many lines that hold no record."""

    separator: str
    skipped: int = 0
    blanks_before_quotes: bool = False


def layout_of(sample: str, separator: str | None) -> CsvLayout:
    """Return the layout of a file that begins like this."""
    first = _DECLARED.match(sample)
    skipped = 1 if first else 0
    if first:
        sample = sample[first.end() :]
    lines = list(io.StringIO(sample, newline="\n"))
    whole = lines[:-1] if len(lines) > 1 and not sample.endswith("\n") else lines
    chosen = separator or (first and first[1]) or max(SEPARATORS, key=lambda mark: _fit(whole, mark))
    spaced = re.search(rf'(?:^|{re.escape(chosen)}) +"', "".join(whole), re.MULTILINE) is not None
    return CsvLayout(chosen, skipped, spaced)


def _fit(lines: Sequence[str], separator: str) -> tuple[int, int]:
    """Return how many records below the header are as wide as it is, and how wide; nothing where all differ from it."""
    widths = []
    try:
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=True):
            widths.append(len(row))
            if len(widths) > _SAMPLE_RECORDS:
                break
    except csv.Error:
        pass
    fitting = widths[1:].count(widths[0]) if widths else 0
    return (0, 0) if not widths or widths[0] < 2 or (len(widths) > 1 and not fitting) else (fitting, widths[0])
