"""Read plain CSV fast: pyarrow splits a file in which nothing can be read in two ways.

Plain is what most programs write of most tables: UTF-8, no quote, no blank line between records, no lone carriage
return. Of such a file a line is a record and a separator ends a cell, whoever reads it. Whatever else a file holds, and
whatever is wrong with one, is the other reader's business (`party/data/csv_file.py`), which says where.
"""

import codecs
from pathlib import Path

import numpy as np

from party.data.arrow_cells import ArrowCells
from party.data.form import MAX_LINE, CsvLayout
from party.data.frame import Written

_LINE = b"\n"


def read_plain(path: Path, content: bytes, layout: CsvLayout) -> Written | None:
    """Read a table, or return None where the file is not plain or not a table, or pyarrow is not installed.

    Args:
        path: What to call it.
        content: UTF-8 without a byte order mark.
        layout: How its lines are split.
    """
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
