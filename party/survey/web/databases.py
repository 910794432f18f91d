"""The two databases that a store may be in: a file of SQLite, or PostgreSQL by its URL."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from party.errors import ConfigError, StoreError
from party.files import is_there, write_new
from party.survey.web.store import AnswerStore, Database, new_tables

_APPLICATION: Final = 0x636F7473  # "cots"
_SECONDS_TO_WAIT: Final = 30.0  # for others that read or write


def open_store(place: Path | str, survey: str, *, make: bool = False, older: bool = False) -> AnswerStore:
    """Open a store, with `older` one of the release before, too."""
    database: Database = SqliteDatabase(place, make=make) if isinstance(place, Path) else PostgresDatabase(place, make)
    try:
        return AnswerStore(database, survey, older=older)
    except BaseException:
        database.close()
        raise


class SqliteDatabase(Database):
    """A file of SQLite, for its owner alone, with WAL and `synchronous=FULL`; threads take turns."""

    read_stage = "SELECT stage FROM survey"

    def __init__(self, path: Path, *, make: bool) -> None:
        self.name = str(path)
        if not is_there(path):
            _make_file(path, make)
        if path.is_symlink() or not path.is_file() or path.stat().st_mode & 0o077:
            raise ConfigError(f"{path} must be a file of its owner alone, with mode 0600")
        self._turn = threading.RLock()
        with _told(self.name, sqlite3.Error):
            self._connection = sqlite3.connect(
                path, timeout=_SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False
            )
            if self._connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                self._connection.close()
                raise ConfigError(f"{path} is no store of answers: name another file")
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what is within as one: all of it is on the disk at the end, or nothing."""
        with self._turn, _told(self.name, sqlite3.Error):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def forget(self) -> None:
        """Overwrite what was deleted: in the file, and in the log beside it."""
        with self._turn, _told(self.name, sqlite3.Error):
            self._connection.execute("VACUUM")
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreError(f"{self.name} is read by another process at this moment: try again")


def _make_file(path: Path, make: bool) -> None:
    if not make:
        raise ConfigError(f"{path} does not exist: make it, with the first links, by `cotally survey links`")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        for statement in new_tables("BLOB", " WITHOUT ROWID"):
            connection.execute(statement)
        write_new(path, connection.serialize(), 0o600)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or 'output error'}") from None
    finally:
        connection.close()


@contextmanager
def _told(name: str, errors: type[Exception]) -> Iterator[None]:
    """Turn whatever a database refuses into one error, which holds nothing of what was to be kept."""
    try:
        yield
    except errors as error:
        what = str(error) if isinstance(error, sqlite3.Error) else type(error).__name__
        raise StoreError(f"{name} cannot be used: {what}") from None


class PostgresDatabase(Database):
    """A PostgreSQL database, connected again when lost; `make` makes tables, `PGPASSWORD` may hold the password."""

    read_stage = "SELECT stage FROM survey FOR SHARE"
    name, mark = "the database", "%s"

    def __init__(self, url: str, make: bool) -> None:
        try:
            import psycopg  # noqa: PLC0415  # an extra
        except ImportError:
            how = "a store in PostgreSQL needs psycopg: pip install '.[postgres]' in cotally's clone"
            raise ConfigError(how) from None
        self._psycopg, self._url, self._turn = psycopg, url, threading.RLock()
        with _told(self.name, self._psycopg.Error):
            self._connection = self._connect()
            if self.rows("SELECT 1 FROM information_schema.tables WHERE table_name = 'survey'"):
                return
            if not make:
                raise ConfigError("the database has no store: make it, with the first links, by `cotally survey links`")
            with self.transaction():
                for statement in new_tables("BYTEA"):
                    self.run(statement)

    def _connect(self) -> Any:  # psycopg is optional
        return self._psycopg.connect(self._url, autocommit=True, connect_timeout=10)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run what is within as one: all of it is on the disk at the end, or nothing."""
        with self._turn, _told(self.name, self._psycopg.Error):
            if self._connection.closed:
                self._connection = self._connect()
            with self._connection.transaction():
                yield

    def forget(self) -> None:
        """Let the database take back what was deleted; its own log keeps it for as long as that is kept."""
        with self._turn, _told(self.name, self._psycopg.Error):
            self._connection.execute("VACUUM FULL links")
