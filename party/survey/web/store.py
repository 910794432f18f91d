"""What the collector keeps: digests of codes, and responses. Nothing else, no time and no address.

While the survey is open a response stands beside the digest of its code, so that a repeated submission replaces it.
Closing it cuts that link for good: responses go into a table of their own, in the order of their values, and what the
file held before is overwritten. The same statements run on SQLite and PostgreSQL (`databases.py`).

A response is on the disk when `submit` returns.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Final, Protocol

from party.closing import Closing
from party.errors import ConfigError

STORE_VERSION: Final = 1


class SurveyStage(IntEnum):
    """How far a survey is."""

    OPEN = 0
    CLOSED = 1


class Reception(Enum):
    """What became of a submission."""

    TAKEN = "taken"
    UNKNOWN_CODE = "unknown_code"
    CLOSED = "closed"
    TOO_OFTEN = "too_often"


@dataclass(frozen=True)
class StoreStatus:
    """How many links there are while it is open, how many answers, and how far it is."""

    links: int
    answered: int
    stage: SurveyStage


class Database(Protocol):
    """A connection, with `?` for parameters whatever the database writes."""

    name: str
    """As errors name it."""

    read_stage: str
    """The statement that reads the stage, which nobody may change before the transaction ends."""

    def transaction(self) -> AbstractContextManager[None]:
        """Run what is within as one, and keep others from writing."""
        ...

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement; return how many rows it changed."""
        ...

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a statement selects."""
        ...

    def forget(self) -> None:
        """Overwrite what was deleted, as far as the database can."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class AnswerStore(Closing):
    """The store of one survey.

    Args:
        database: Open, with its tables.
        survey: The digest of the survey's design: noted if the store is new.

    Raises:
        ConfigError: It is that of another survey, or of another version.
    """

    def __init__(self, database: Database, survey: str) -> None:
        self._database = database
        with database.transaction():
            rows = database.rows("SELECT version, survey FROM survey")
            if not rows:
                database.run("INSERT INTO survey VALUES (1, ?, ?, 0)", (STORE_VERSION, survey))
        if rows and rows[0][0] != STORE_VERSION:
            raise ConfigError(f"{database.name} is a store of version {rows[0][0]}, this program reads {STORE_VERSION}")
        if rows and rows[0][1] != survey:
            raise ConfigError(
                f"{database.name} holds the answers to another design: put the design back, or name another store"
            )

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    def add_codes(self, digests: Iterable[bytes]) -> None:
        """Let these codes answer.

        Raises:
            ConfigError: The survey is closed.
        """
        with self._database.transaction():
            if self._stage() is not SurveyStage.OPEN:
                raise ConfigError("the survey is closed: it takes no further links")
            for digest in digests:
                self._database.run("INSERT INTO links VALUES (?, NULL, 0)", (digest,))

    def submit(self, digest: bytes, response: bytes, most: int) -> Reception:
        """Take a response in place of an earlier one.

        Args:
            digest: Of the code.
            response: One byte per column.
            most: Submissions that one code may make.
        """
        with self._database.transaction():
            if self._stage() is not SurveyStage.OPEN:
                return Reception.CLOSED
            changed = self._database.run(
                "UPDATE links SET response = ?, submissions = submissions + 1 WHERE code = ? AND submissions < ?",
                (response, digest, most),
            )
            return Reception.TAKEN if changed else self._why_not(digest)

    def _why_not(self, digest: bytes) -> Reception:
        known = self._database.rows("SELECT 1 FROM links WHERE code = ?", (digest,))
        return Reception.TOO_OFTEN if known else Reception.UNKNOWN_CODE

    def close_survey(self) -> None:
        """End it, unless it has ended: cut the responses from the codes that they came with, for good."""
        database = self._database
        with database.transaction():
            closed = database.run("UPDATE survey SET stage = ? WHERE stage = ?", (SurveyStage.CLOSED, SurveyStage.OPEN))
            if closed:
                database.run(
                    "INSERT INTO responses SELECT response FROM links WHERE response IS NOT NULL ORDER BY response"
                )
                database.run("DELETE FROM links")
        if closed:
            database.forget()

    def responses(self) -> list[bytes]:
        """Return all responses, in the order of their values."""
        with self._database.transaction():
            rows = self._database.rows(
                "SELECT response FROM responses UNION ALL SELECT response FROM links WHERE response IS NOT NULL"
            )
        return sorted(bytes(response) for (response,) in rows)

    def status(self) -> StoreStatus:
        """Return how far it is."""
        with self._database.transaction():
            (links,) = self._one("SELECT count(*) FROM links")
            (open_ones,) = self._one("SELECT count(*) FROM links WHERE response IS NOT NULL")
            (cut_ones,) = self._one("SELECT count(*) FROM responses")
            return StoreStatus(links, open_ones + cut_ones, self._stage())

    def _stage(self) -> SurveyStage:
        return SurveyStage(self._one(self._database.read_stage)[0])

    def _one(self, statement: str) -> tuple[Any, ...]:
        return self._database.rows(statement)[0]


def new_tables(binary: str, ending: str = "") -> Iterator[str]:
    """Yield the statements that make the tables.

    Args:
        binary: What the database calls a column of bytes.
        ending: Of the table of links, whose order shall be that of the digests.
    """
    yield (
        "CREATE TABLE survey (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, "
        "survey TEXT NOT NULL, stage INTEGER NOT NULL)"
    )
    yield (f"CREATE TABLE links (code {binary} PRIMARY KEY, response {binary}, submissions INTEGER NOT NULL){ending}")
    yield f"CREATE TABLE responses (response {binary} NOT NULL)"
