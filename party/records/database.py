"""A file of SQLite that is its owner's alone, of one kind and no other, and on the disk when a change returns.

Whatever is wrong with such a file is one error of its kind: never a new file in its place, never a part of its content.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from party.files import is_there, write_new
from protocols.errors import InputError

T = TypeVar("T")

_PARTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
_NOT_NOW = frozenset(
    {
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM,
    }
)  # fmt: skip
"""What is wrong with the disk or this moment, and not with the file."""
_DAMAGE = (sqlite3.Error, UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def version_problem(path: Path, what: str, version: int, ours: int) -> str:
    """Say what to do about a file of another version than this program's."""
    if version < ours:
        return f"{path} is {what} of an older release of cotally: run `cotally upgrade {path.parent}`"
    return f"{path} is {what} of a newer release of cotally: install that release, or a later one"


@dataclass(frozen=True)
class DatabaseKind:
    """A kind of file; `application` is its number of four letters, `spoilt` says what to do about one that is wrong."""

    name: str
    application: int
    version: int
    tables: str
    error: Callable[[str], InputError]
    spoilt: Callable[[str], InputError]

    def make(self, path: Path, fill: Callable[[sqlite3.Connection], object] = lambda _: None) -> None:
        """Make a file with these tables: whole and on the disk, or not at all."""
        with self._empty() as connection:
            fill(connection)
            connection.commit()
            data = connection.serialize()
        try:
            write_new(path, data, 0o600)
        except OSError as error:
            raise self.error(f"{path} cannot be written: {error.strerror or 'output error'}") from None

    def open(self, path: Path, mode: str) -> sqlite3.Connection:
        """Open a file to read (`ro`) or write it (`rw`)."""
        if path.is_symlink() or not path.is_file() or path.stat().st_mode & 0o077:
            raise self.error(f"{path} must be a file of its owner alone, with mode 0600")
        if mode == "ro" and is_there(path.with_name(f"{path.name}-journal")):
            self.open(path, "rw").close()  # takes back a change that was cut off, before which SQLite lets nobody read
        connection = None
        try:
            with self.reading(path):
                connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)
                self._check(connection, path)
                if mode == "rw":
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
                return connection
        except BaseException:
            if connection is not None:
                connection.close()
            raise

    def opened(self, path: Path, mode: str, version: int, made: Callable[[sqlite3.Connection], T]) -> T:
        """Return what is made of an open file of this version, which is closed if that fails."""
        connection = replace(self, version=version).open(path, mode)
        try:
            return made(connection)
        except BaseException:
            connection.close()
            raise

    def version_of(self, path: Path) -> int:
        """Return the version of a file, which may be another one than this program's."""
        with self.reading(path), closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            return int(version)

    @contextmanager
    def reading(self, path: Path) -> Iterator[None]:
        """Turn whatever a damaged file does to SQLite, or to who reads its content, into one error."""
        try:
            yield
        except _DAMAGE as error:
            # its code without what is special about it; 0 where Python itself made the error
            if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_NOW:
                raise self.error(
                    f"{path} cannot be used now ({error}): see to space and rights on its disk, then start again"
                ) from None
            raise self.spoilt(f"{path} is damaged, or belongs to another secret.key") from None

    @contextmanager
    def writing(self, connection: sqlite3.Connection, path: Path) -> Iterator[None]:
        """Make several changes as one, which is on the disk at the end."""
        try:
            with connection:
                yield
        except sqlite3.Error as error:
            raise self.error(f"{path} cannot be written: {error}") from None

    @contextmanager
    def _empty(self) -> Iterator[sqlite3.Connection]:
        """Yield a file in memory that holds nothing yet."""
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(
                f"PRAGMA application_id = {self.application}; PRAGMA user_version = {self.version}; {self.tables}"
            )
            yield connection

    def _check(self, connection: sqlite3.Connection, path: Path) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != self.application:
            raise self.spoilt(f"{path} is not a {self.name} of cotally")
        if version != self.version:
            raise self.error(version_problem(path, f"a {self.name}", version, self.version))
        with self._empty() as usual:
            parts = usual.execute(_PARTS).fetchall()
        if connection.execute(_PARTS).fetchmany(len(parts) + 1) != parts:
            raise self.spoilt(f"{path} has other tables than a {self.name}, or more")
