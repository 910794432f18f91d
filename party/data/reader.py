"""Read a table's file, CSV or Parquet, into columns of text."""

import zlib
from pathlib import Path

from party.data.csv_file import read_csv
from party.data.form import STANDARD_INPUT, USUAL, Form, is_parquet, opened
from party.data.frame import Frame
from party.data.parquet_file import read_parquet
from party.errors import DataError


def read_frame(path: Path | str, form: Form = USUAL) -> Frame:
    """Read a table.

    Args:
        path: A `.csv`, `.tsv`, `.txt` or `.parquet` file, packed by gzip or not; `-` for the standard input.
        form: What is declared about the file.

    Raises:
        DataError: The file cannot be read, or is not a table with a header, distinct column names and records.
    """
    path = Path(path)
    called = Path("standard input") if path == STANDARD_INPUT else path
    try:
        with opened(path) as file:
            return read_parquet(called, file, form) if is_parquet(path, file) else read_csv(called, file, form)
    except FileNotFoundError:
        raise DataError("does not exist", path=called) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise DataError(f"cannot be read: {reason or 'the file is damaged'}", path=called) from None
