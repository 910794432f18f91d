"""Read a table, from a file of CSV or Parquet or by a query, into columns of text."""

from pathlib import Path
from typing import Any, BinaryIO

from party.data.arrow_cells import ArrowCells, LaterCells, arrow_texts
from party.data.cells import Cells
from party.data.csv_file import read_csv
from party.data.form import STANDARD_INPUT, USUAL, Form, is_parquet, opened, readable
from party.data.frame import Frame, Written, finished
from party.data.query import TableQuery, arrow_of
from party.errors import DataError


def read_parquet(path: Path, file: BinaryIO, form: Form) -> Frame:
    """Read a Parquet file; indexes that its pandas metadata name are not columns."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        problem = "reading Parquet needs pyarrow: pip install '.[parquet]' in cotally's clone"
        raise DataError(problem, path=path) from None
    try:
        table = pq.ParquetFile(file).read()
    except (pa.ArrowException, UnicodeDecodeError):
        raise DataError("the file is not Parquet, or is damaged", path=path) from None
    return _of_arrow(path, table, form)


def _of_arrow(path: Path, table: Any, form: Form) -> Frame:  # pyarrow is untyped
    import pyarrow as pa  # noqa: PLC0415

    names = table.column_names
    cells: list[Cells] = []
    flaws: dict[int, str] = {}
    for place, column in enumerate(table.columns):
        cells.append(_cells(pa, column))
        flaws |= {place: "holds lists or structures"} if pa.types.is_nested(column.type) else {}
        flaws |= {place: "holds intervals of months"} if pa.types.is_interval(column.type) else {}
    typed = [place for place, column in enumerate(table.columns) if _is_number(pa, column.type)]
    lines = range(1, table.num_rows + 1)
    indexes = _indexes(path, table.schema)
    return finished(Written(path, names, cells, lines, indexes, typed=typed, flaws=flaws), form)


def _indexes(path: Path, schema: Any) -> tuple[str, ...]:  # pyarrow is untyped
    try:
        named = (schema.pandas_metadata or {}).get("index_columns", [])
        return tuple(name for name in named if isinstance(name, str))
    except (ValueError, TypeError, AttributeError):
        raise DataError("the file's pandas metadata are damaged: write it again", path=path) from None


def _is_number(pa: Any, kind: Any) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_integer(inner) or pa.types.is_floating(inner) or pa.types.is_decimal(inner))


def _cells(pa: Any, column: Any) -> Cells:
    """Return the cells: numbers as they are, whatever else as text, other bytes as CSV has them."""
    if pa.types.is_integer(column.type) or pa.types.is_float64(column.type):
        return ArrowCells(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)  # NB: a dictionary from outside may hold a value twice
    if pa.types.is_nested(column.type) or pa.types.is_interval(column.type):
        return LaterCells(column, str)
    try:
        return arrow_texts(column)
    except (pa.ArrowException, UnicodeDecodeError):
        return LaterCells(column.cast(pa.binary()), lambda cell: cell.decode(errors="surrogateescape"))


def read_frame(source: Path | str | TableQuery, form: Form = USUAL) -> Frame:
    """Read a table."""
    if isinstance(source, TableQuery):
        return _of_arrow(source.path, arrow_of(source), form)
    path = Path(source)
    called = Path("standard input") if path == STANDARD_INPUT else path
    with readable(called), opened(path) as file:
        return read_parquet(called, file, form) if is_parquet(path, file) else read_csv(called, file, form)
