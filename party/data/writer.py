"""Write a table by its file's name, as CSV that reads back as it was or as Parquet; same table, same bytes."""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from party.data.form import PARQUET_SUFFIX, SEPARATORS, TEXT_SUFFIXES, bare_name
from party.errors import DataError
from party.files import write_atomically

BOM = "\ufeff"

Cell = str | float | None
AsText = Callable[[float], str]


def check_table_name(path: Path | None) -> None:
    """Make sure, before long work, that a table can be written in the form that its file's name asks for."""
    if path is None or bare_name(path).suffix.lower() in TEXT_SUFFIXES:
        return
    if path.suffix.lower() != PARQUET_SUFFIX:
        names = ", ".join(TEXT_SUFFIXES)
        raise DataError(
            f"a table's file name must end in {names}, in .gz after one of these, or in .parquet", path=path
        )
    _pyarrow(path)


def write_table(path: Path, columns: Sequence[str], cells: Sequence[Sequence[Cell]], text: AsText = str) -> None:
    """Write a table, whole or not at all."""
    write_atomically(path, table_bytes(path, columns, cells, text))


def table_bytes(path: Path, columns: Sequence[str], cells: Sequence[Sequence[Cell]], text: AsText = str) -> bytes:
    """Return what `write_table` writes."""
    check_table_name(path)
    if path.suffix.lower() == PARQUET_SUFFIX:
        return _parquet(path, columns, cells)
    separator = "\t" if bare_name(path).suffix.lower() == ".tsv" else ","
    written = table_text(columns, cells, text, separator).encode(errors="surrogateescape")
    return written if bare_name(path) == path else gzip.compress(written, 6, mtime=0)


def table_text(
    columns: Sequence[str], cells: Sequence[Sequence[Cell]], text: AsText = str, separator: str = ","
) -> str:
    """Return a table as CSV; bytes that were read and are no text stand in it as surrogates."""
    rows = zip(*cells, strict=True)
    texts = ([text(cell) if isinstance(cell, int | float) else cell for cell in row] for row in rows)
    return csv_text(columns, texts, separator)


def _parquet(path: Path, columns: Sequence[str], cells: Sequence[Sequence[Cell]]) -> bytes:
    pa, pq = _pyarrow(path)
    output = io.BytesIO()
    try:
        arrays = [pa.array(list(column)) for column in cells]
        pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), output)
    except (UnicodeEncodeError, pa.ArrowException):
        raise DataError("it would hold bytes that are no text: write .csv, which can", path=path) from None
    return output.getvalue()


def _pyarrow(path: Path) -> tuple[Any, Any]:  # pyarrow is untyped
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        problem = "writing Parquet needs pyarrow: pip install '.[parquet]' in cotally's clone"
        raise DataError(problem, path=path) from None
    return pa, pq


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[str | None]], separator: str = ",") -> str:
    r"""Return a table as CSV whose lines end in LF; a cell with a carriage return stands in quotes, as RFC 4180 has it.

    >>> csv_text(["a", "b"], [["x", None], ["\r", "y"]])
    'a,b\nx,\n"\r",y\n'
    """
    lines = _Lines()
    # NB: csv.writer quotes what its end of line holds, and no other control character
    writer = csv.writer(lines, lineterminator="\r\n", delimiter=separator)
    whole = csv.writer(lines, lineterminator="\r\n", delimiter=separator, quoting=csv.QUOTE_ALL)
    # NB: a header that could be taken for one with another separator, or for none
    mistakable = columns[0].startswith("sep=") or any(mark in name for name in columns for mark in SEPARATORS)
    (whole if mistakable else writer).writerow(columns)
    writer.writerows(rows)
    text = "".join(lines.ended)
    return BOM + text if text.startswith(BOM) else text  # a reader takes the first one for the mark of the file


class _Lines:
    """Takes rows, one per call, and ends them in LF."""

    def __init__(self) -> None:
        self.ended: list[str] = []

    def write(self, row: str) -> None:
        """Take a row that ends in CRLF."""
        self.ended.append(row[:-2] + "\n")
