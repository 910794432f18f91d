"""A table as DuckDB makes it of a query: files of many kinds, databases and object stores, joined and computed there.

Relative paths begin in the folder of the settings. Nothing is installed or downloaded unless the query itself says
`INSTALL`. NB: DuckDB's own messages show cells, so what is said here is its place, and of a query that does not fit its
tables the first line.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from party.errors import DataError

_SAFE = {"ParserException", "BinderException", "CatalogException"}  # raised before any cell is read
_CAST = "read it as text, or take TRY_CAST, which leaves such a cell empty"
_KNOWN = (
    (
        re.compile(r'Failed to download extension "(\w+)"'),
        "DuckDB cannot download its extension {0} here: install it by DuckDB where it can",
    ),
    (
        re.compile(r'"INSTALL (\w+)"'),
        "DuckDB lacks its extension {0}: begin with INSTALL {0}; LOAD {0}; to download it",
    ),
    (
        re.compile(r'No files found that match the pattern "([^"\n]*)"'),
        "no file is named {0}: relative paths begin in the folder of the settings",
    ),
    (
        re.compile(r'Error when sniffing file "([^"\n]*)"'),
        "how {0} is written cannot be seen: read it by read_csv, with its delim, header and columns",
    ),
)
_CSV = re.compile(r"CSV Error on Line: (\d+)$", re.MULTILINE)
_COLUMN = re.compile(r'converting column "([^"\n]*)"', re.MULTILINE)
_FILE = re.compile(r"^ *file = (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class TableQuery:
    """A query of SQL, and the settings that it stands in."""

    settings: Path
    text: str

    @property
    def path(self) -> Path:
        """What errors call it."""
        return Path(f"the query in {self.settings}")

    def error(self, problem: str) -> DataError:
        """Make the error that says what is wrong with it."""
        return DataError(problem, path=self.path)


def arrow_of(query: TableQuery) -> Any:  # pyarrow is untyped
    """Return the table that a query gives, as Arrow has it.

    Raises:
        DataError: It gives none; or a package is missing.
    """
    try:
        import duckdb  # noqa: PLC0415
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError:
        raise query.error("a query needs DuckDB: pip install '.[sql]' in cotally's clone") from None
    folder = str(query.settings.parent.resolve())
    try:
        with duckdb.connect(config={"autoinstall_known_extensions": False, "file_search_path": folder}) as connection:
            connection.execute("SET python_enable_replacements = false")  # a variable of ours is no table
            found = connection.sql(query.text)
            if found is None:
                raise query.error("it gives no table: let it end with a SELECT")
            return found.to_arrow_table()
    except duckdb.Error as error:
        raise _told(query, type(error).__name__, str(error)) from None


def _told(query: TableQuery, kind: str, text: str) -> DataError:
    """Return what went wrong, without a cell."""
    if line := _CSV.search(text):
        column, file = ([*found.finditer(text)][-1:] for found in (_COLUMN, _FILE))  # a cell may stand before
        return DataError(
            f"the line, or a cell in it, is not what the query takes it for: {_CAST}",
            path=Path(file[0][1]) if file else query.path,
            line=int(line[1]),
            column=column[0][1] if column else None,
        )
    return query.error(_problem(kind, text))


def _problem(kind: str, text: str) -> str:
    for pattern, problem in _KNOWN:
        if found := pattern.search(text):
            return problem.format(found[1])
    if kind in _SAFE:
        return f"DuckDB cannot use it: {text.partition(': ')[2].splitlines()[0]}; mend it"
    if kind == "ConversionException":
        return f"a cell cannot be converted to the type that it asks for: {_CAST}"
    return f"DuckDB ended with {kind}: run it in DuckDB, which says more and may show cells"
