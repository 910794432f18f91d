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
_CUTS: Final = {
    0: (
        "INSERT INTO responses SELECT response FROM links WHERE response IS NOT NULL ORDER BY response",
        "UPDATE links SET response = NULL",
    ),
    1: (
        "INSERT INTO verdicts SELECT verdict FROM links WHERE verdict IS NOT NULL ORDER BY verdict",
        "DELETE FROM links",
    ),
    2: (),
}
"""What the end of each stage does."""


class SurveyStage(IntEnum):
    """How far a survey is."""

    OPEN = 0
    ANSWERED = 1
    FINISHED = 2


class Reception(Enum):
    """What became of a submission."""

    TAKEN = "taken"
    UNKNOWN_CODE = "unknown_code"
    CLOSED = "closed"
    TOO_OFTEN = "too_often"


@dataclass(frozen=True)
class StoreStatus:
    """How many links there are, how many were answered, how many bits of round two came, and how far it all is."""

    links: int
    answered: int
    verdicts: int
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
                self._database.run("INSERT INTO links VALUES (?, NULL, 0, NULL)", (digest,))

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

    def submit_verdict(self, digest: bytes, right: bool) -> Reception:
        """Take the one bit of round two, in place of an earlier one; it opens when the survey has closed."""
        with self._database.transaction():
            if self._stage() is not SurveyStage.ANSWERED:
                return Reception.CLOSED
            changed = self._database.run("UPDATE links SET verdict = ? WHERE code = ?", (int(right), digest))
            return Reception.TAKEN if changed else Reception.UNKNOWN_CODE

    def _why_not(self, digest: bytes) -> Reception:
        known = self._database.rows("SELECT 1 FROM links WHERE code = ?", (digest,))
        return Reception.TOO_OFTEN if known else Reception.UNKNOWN_CODE

    def advance(self, stage: SurveyStage) -> SurveyStage:
        """End this stage, unless it has ended: cut what arrived from the codes that it came with, for good.

        Args:
            stage: Open, whose end closes the survey, or answered, whose end closes round two.
        """
        following = SurveyStage(min(stage + 1, SurveyStage.FINISHED))
        with self._database.transaction():
            changed = self._database.run("UPDATE survey SET stage = ? WHERE stage = ?", (following, stage))
            for statement in _CUTS[stage] if changed else ():
                self._database.run(statement)
        if changed:
            self._database.forget()
        return following

    def responses(self) -> list[bytes]:
        """Return all responses, in the order of their values."""
        with self._database.transaction():
            rows = self._database.rows(
                "SELECT response FROM responses UNION ALL SELECT response FROM links WHERE response IS NOT NULL"
            )
        return sorted(bytes(response) for (response,) in rows)

    def verdicts(self) -> tuple[int, int]:
        """Return how many bits of round two came, and how many say that the model is right."""
        with self._database.transaction():
            rows = self._database.rows(
                "SELECT verdict FROM verdicts UNION ALL SELECT verdict FROM links WHERE verdict IS NOT NULL"
            )
        return len(rows), sum(right for (right,) in rows)

    def status(self) -> StoreStatus:
        """Return how far it is."""
        with self._database.transaction():
            (links,) = self._one("SELECT count(*) FROM links")
            (open_ones,) = self._one("SELECT count(*) FROM links WHERE response IS NOT NULL")
            (cut_ones,) = self._one("SELECT count(*) FROM responses")
            (bits,) = self._one("SELECT count(*) FROM links WHERE verdict IS NOT NULL")
            (cut_bits,) = self._one("SELECT count(*) FROM verdicts")
            return StoreStatus(links, open_ones + cut_ones, bits + cut_bits, self._stage())

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
    yield (
        f"CREATE TABLE links (code {binary} PRIMARY KEY, response {binary}, submissions INTEGER NOT NULL, "
        f"verdict INTEGER){ending}"
    )
    yield f"CREATE TABLE responses (response {binary} NOT NULL)"
    yield "CREATE TABLE verdicts (verdict INTEGER NOT NULL)"
