"""A table as DuckDB makes it of a query: files of many kinds, databases and object stores, joined and computed there.

Relative paths of files begin in the folder of the settings. Nothing is installed or downloaded unless the query itself
says `INSTALL`, and nothing is written: DuckDB works in memory, unless the query sets a `temp_directory`. NB: DuckDB's
own messages show cells, also as names of tables and files that a query makes of cells, so what is said here is its
place, and in words of DuckDB only names that stand in the query's own text.
"""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from party.errors import DataError

_OF_CELLS = {"ConversionException", "InvalidInputException"}
_MISTAKES = re.compile(
    r'\w+ Error: (syntax error at or near "(.*)"|syntax error at end of input|SELECT clause without selection list|'
    r'Referenced (?:column|table) "(.*)" not found|Table "(.*)" does not have a column named "(.*)"|'
    r'[A-Z][A-Za-z ]+ with name (.*?) does not exist|column "(.*)" must appear in the GROUP BY clause|'
    r'Ambiguous reference to column name "(.*?)"|No function matches the given name and argument types)'
)
_CAST = "read it as text, or take TRY_CAST, which leaves such a cell empty"
_LACKS = "DuckDB lacks its extension {0}: begin with INSTALL {0}; LOAD {0}; to download it"
_EXTENSIONS = (
    (
        re.compile(r'Failed to download extension "(\w+)"'),
        "DuckDB cannot download its extension {0} here: bring its file, and begin with LOAD 'FILE';",
    ),
    (re.compile(r'"INSTALL (\w+)"'), _LACKS),
    (re.compile(r'" is not in the catalog, but it exists in the (\w+) extension\.'), _LACKS),
    (re.compile(r"Function with name (postgres|mysql)_\w+ does not exist"), _LACKS),
)
_FILES = (
    (
        re.compile(r'(?:No files found that match the pattern|Cannot open file) "([^"\n]*)"'),
        "{0} is not there: relative paths begin in the folder of the settings, that of a database must be whole",
    ),
    (
        re.compile(r'Error when sniffing file "([^"\n]*)"'),
        "how {0} is written cannot be seen: read it by read_csv, with its delim, header and columns",
    ),
)
_QUOTED = re.compile(r"""'([^'\n]+)'|"([^"\n]+)\"""")
_CSV = re.compile(r"CSV Error on Line: (\d+)$", re.MULTILINE)
_COLUMN = re.compile(r"^Column (.+) is being ", re.MULTILINE)
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

    def names(self, *found: str | None) -> bool:
        """Return whether all that was found stands in its text, and so in no cell alone."""
        return all(each is None or each in self.text for each in found)

    def file(self, path: str) -> str:
        """Return what a file that it reads is called in its text."""
        name = Path(path).name
        return name if self.names(name) else "a file"

    def error(self, problem: str) -> DataError:
        """Make the error that says what is wrong with it."""
        return DataError(problem, path=self.path)


def arrow_of(query: TableQuery) -> Any:  # pyarrow is untyped
    """Return the table that a query gives, as Arrow has it."""
    try:
        import duckdb  # noqa: PLC0415
        import pyarrow as pa  # noqa: F401, PLC0415
    except ImportError:
        raise query.error(
            "a query needs DuckDB: pip install '.[sql]' in cotally's clone (to an image, add duckdb and pyarrow)"
        ) from None
    folder = query.settings.parent.resolve()
    for name in filter(_is_file, map("".join, _QUOTED.findall(query.text))) if not folder.samefile(".") else ():
        # NB: DuckDB would take the file where the command runs
        raise query.error(f"{name} is also a file here: write its whole path, or begin in the folder of the settings")
    config: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "file_search_path": str(folder),
        "temp_directory": "",
    }
    try:
        with duckdb.connect(config=config) as connection:
            connection.execute("SET python_enable_replacements = false")  # a variable of ours is no table
            connection.execute("SET enable_progress_bar = false")  # it would stand in what a command prints
            found = connection.sql(query.text)
            if found is None:
                raise query.error("it gives no table: let it end with a SELECT")
            return found.to_arrow_table()
    except (duckdb.Error, RuntimeError) as error:  # NB: the latter is what an extension raised
        kind = type(error).__name__ if isinstance(error, duckdb.Error) else duckdb.Error.__name__
        raise _failure(query, kind, str(error)) from None


def _is_file(name: str) -> bool:
    """Return whether a relative path, or what it matches, is a file here."""
    with suppress(ValueError):  # no pattern of Python's
        return not Path(name).is_absolute() and any(each.is_file() for each in Path().glob(name))
    return False


def _failure(query: TableQuery, kind: str, text: str) -> DataError:
    """Return what went wrong, without a cell."""
    if line := _CSV.search(text):
        column, file = ([*found.finditer(text)][-1:] for found in (_COLUMN, _FILE))  # cells stand before
        return DataError(
            f"the line, or a cell in it, is not what the query takes it for: {_CAST}",
            path=Path(query.file(file[0][1])) if file else query.path,
            line=int(line[1]),
            column=column[0][1] if column and query.names(column[0][1]) else None,
        )
    return query.error(_problem(query, kind, text) or _kind_of_end(kind))


def _problem(query: TableQuery, kind: str, text: str) -> str | None:
    for pattern, problem in _FILES:
        if found := pattern.search(text):
            return problem.format(query.file(found[1]))
    if kind == "ConversionException":
        return f"a cell cannot be converted to the type that it asks for: {_CAST}"
    for pattern, problem in _EXTENSIONS if kind not in _OF_CELLS else ():
        if found := pattern.search(text):
            return problem.format(found[1])
    if (found := _MISTAKES.match(text)) and query.names(*found.groups()[1:]):
        return f"DuckDB cannot use it: {found[1]}; mend it"
    return None


def _kind_of_end(kind: str) -> str:
    match kind:
        case "OutOfMemoryException":
            return "DuckDB needs more memory than it has: read fewer columns or rows, or SET temp_directory"
        case "HTTPException":
            return "a web address or object store does not give it: look at the address and the rights"
        case "IOException":
            return "DuckDB cannot read a file, or reach a database: look at its path or address, user and rights"
        case "Error":
            return "DuckDB cannot open a database: write its whole path, and see that it is one"
    return f"DuckDB ended with {kind}: run it in DuckDB, which says more and may show cells"
