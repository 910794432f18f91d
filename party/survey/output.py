"""Write a disguised table, CSV or Parquet by the file's suffix: the same table gives the same bytes."""

import io
from pathlib import Path

from party.data import csv_text
from party.errors import DataError
from party.files import write_atomically
from party.survey.disguise import DisguisedTable

SUFFIXES = (".csv", ".parquet")


def check_suffix(path: Path) -> None:
    """Make sure, before anything is disguised, that a table can be written in the form that its file's name asks for.

    Raises:
        DataError: The suffix is another, or Parquet cannot be written here.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DataError("a table's file name ends in .csv or .parquet", path=path)
    if path.suffix.lower() == ".parquet":
        _pyarrow(path)


def write_disguised(path: Path, table: DisguisedTable) -> None:
    """Write it, whole or not at all.

    Raises:
        DataError: Parquet cannot be written here.
        InputError: The file cannot be written.
    """
    write_atomically(path, _parquet(path, table) if path.suffix.lower() == ".parquet" else to_csv(table))


def to_csv(table: DisguisedTable) -> str:
    """Return the table as CSV."""
    return csv_text(table.columns, zip(*table.cells, strict=True))


def _parquet(path: Path, table: DisguisedTable) -> bytes:
    pa, pq = _pyarrow(path)
    output = io.BytesIO()
    pq.write_table(pa.table({name: list(cells) for name, cells in table.to_dict().items()}), output)
    return output.getvalue()


def _pyarrow(path: Path):  # type: ignore[no-untyped-def]
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise DataError("writing Parquet needs pyarrow: pip install 'cotally[parquet]'", path=path) from None
    return pa, pq
