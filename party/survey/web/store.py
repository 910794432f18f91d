"""What the collector keeps: digests of codes and responses, no time and no address.

Until the survey is closed a response stands beside the digest of its code, so that a repeated submission replaces it.
Closing it cuts that link for good: responses go into a table of their own, in the order of their values, and what the
file held before is overwritten (flash storage and backups may keep it); only then is it reported as closed.
Two counts of the bits that test a model are kept, and for each code whether it has sent one. The same statements run on
SQLite and PostgreSQL (`databases.py`).

A response is on the disk when `submit` returns.
"""

import base64
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum, IntEnum
from hashlib import sha256
from typing import Any, Final

import numpy as np

from party.closing import Closing
from party.errors import ConfigError
from party.settings.survey import Questionnaire
from party.survey.disguise import DisguisedTable
from party.survey.table import answer_cells, answers_given
from protocols.errors import InputError
from protocols.randomness import canonical
from protocols.tables import Codes

STORE_VERSION: Final = 3
_BEFORE: Final = 2  # of 0.2.0
_NO_MORE: Final = 2**31 - 1


class SurveyStage(IntEnum):
    """How far a survey is; `CUT` is closed, while the file may still hold what it held before."""

    OPEN = 0
    TESTING = 1
    CUT = 2
    CLOSED = 3


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


@dataclass(frozen=True, repr=False)
class PublishedModel:
    """A model that respondents test, once in a survey, on their personal answers, and how it was learned."""

    text: str
    truth: str
    test: str
    seed: int


@dataclass(frozen=True)
class BitCount:
    """How many bits came, and how many of them say that the model is right."""

    bits: int
    right: int


class Database(Closing, ABC):
    """A connection, with `?` for parameters whatever the database writes."""

    name: str
    """As errors name it."""
    read_stage: str
    """The statement that reads the stage, which nobody may change before the transaction ends."""
    mark = "?"
    _connection: Any  # of either library, of which one is optional

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Run what is within as one: all of it is on the disk at the end, or nothing; others do not write meanwhile."""

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run a statement; return how many rows it changed."""
        return int(self._connection.execute(statement.replace("?", self.mark), parameters).rowcount)

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a statement selects."""
        return list(self._connection.execute(statement.replace("?", self.mark), parameters).fetchall())

    @abstractmethod
    def forget(self) -> None:
        """Overwrite what was deleted, as far as the database can."""

    def close(self) -> None:
        """Let go of it."""
        self._connection.close()


class AnswerStore(Closing):
    """The store of one survey."""

    def __init__(self, database: Database, survey: str, *, older: bool = False) -> None:
        self._database = database
        with database.transaction():
            rows = database.rows("SELECT version, survey FROM survey")
            if not rows:
                database.run("INSERT INTO survey VALUES (1, ?, ?, 0)", (STORE_VERSION, survey))
        self.version = rows[0][0] if rows else STORE_VERSION
        if self.version > STORE_VERSION or self.version < _BEFORE:
            raise ConfigError(f"{database.name} is a store of another release of cotally: install that one")
        if self.version < STORE_VERSION and not older:
            told = f"{database.name} is a store of an older release of cotally"
            raise ConfigError(f"{told}: run `cotally upgrade` on its survey's folder")
        if rows and rows[0][1] != survey:
            raise ConfigError(
                f"{database.name} holds the answers to another design: put the design back, or name another store"
            )

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    def upgrade(self) -> None:
        """Go on with a store of 0.2.0: who has answered would toss other coins now, and so answers no more."""
        with self._database.transaction():
            self._database.run("UPDATE links SET submissions = ? WHERE response IS NOT NULL", (_NO_MORE,))
            self._database.run("UPDATE survey SET version = ?", (STORE_VERSION,))

    def add_codes(self, digests: Iterable[bytes]) -> None:
        """Let these codes answer."""
        with self._database.transaction():
            if self._stage() is not SurveyStage.OPEN:
                raise ConfigError("the survey takes no further answers, and no further links: make another")
            for digest in digests:
                self._database.run("INSERT INTO links VALUES (?, NULL, 0, 0)", (digest,))

    def submit(self, digest: bytes, response: bytes, most: int) -> Reception:
        """Take a response in place of an earlier one."""
        with self._database.transaction():
            if self._stage() is not SurveyStage.OPEN:
                return Reception.CLOSED
            changed = self._database.run(
                "UPDATE links SET response = ?, submissions = submissions + 1 WHERE code = ? AND submissions < ?",
                (response, digest, most),
            )
            known = changed or self._database.rows("SELECT 1 FROM links WHERE code = ?", (digest,))
            return Reception.TAKEN if changed else Reception.TOO_OFTEN if known else Reception.UNKNOWN_CODE

    def publish(self, model: PublishedModel, learned_from: Sequence[bytes]) -> None:
        """Take no further answers, and let respondents test this model."""
        with self._database.transaction():
            if self._stage() is not SurveyStage.OPEN:
                raise ConfigError("a model is published once, and before the survey is closed")
            self._database.run("UPDATE survey SET stage = ?", (SurveyStage.TESTING,))  # from here on no answer comes
            if self._responses() != learned_from:
                raise ConfigError("an answer came at this moment: export the answers, and mine the model again")
            self._database.run(
                "INSERT INTO model VALUES (1, ?, ?, ?, ?, 0, 0)", (model.text, model.truth, model.test, model.seed)
            )

    def published(self) -> PublishedModel | None:
        """Return the model that was published, if one was."""
        with self._database.transaction():
            rows = self._database.rows("SELECT content, truth, test, seed FROM model")
        return PublishedModel(*rows[0]) if rows else None

    def count_bit(self, digest: bytes, *, right: bool) -> Reception:
        """Count the bit of a code that has answered: its first one alone, however often it is sent."""
        with self._database.transaction():
            if self._stage() is not SurveyStage.TESTING:
                return Reception.CLOSED
            new = self._database.run(
                "UPDATE links SET tested = 1 WHERE code = ? AND tested = 0 AND response IS NOT NULL", (digest,)
            )
            if new:
                self._database.run("UPDATE model SET bits = bits + 1, says_right = says_right + ?", (int(right),))
            known = new or self._database.rows("SELECT 1 FROM links WHERE code = ? AND tested = 1", (digest,))
            return Reception.TAKEN if known else Reception.UNKNOWN_CODE

    def bits(self) -> BitCount:
        """Return what the bits say so far."""
        with self._database.transaction():
            rows = self._database.rows("SELECT bits, says_right FROM model")
        return BitCount(*rows[0]) if rows else BitCount(0, 0)

    def close_survey(self) -> None:
        """End it for good, or finish a closing that was cut short: cut the responses from their codes."""
        database = self._database
        with database.transaction():
            if database.run("UPDATE survey SET stage = ? WHERE stage < ?", (SurveyStage.CUT,) * 2):
                database.run(
                    "INSERT INTO responses SELECT response FROM links WHERE response IS NOT NULL ORDER BY response"
                )
                database.run("DELETE FROM links")
            cut = self._stage() is SurveyStage.CUT
        if cut:
            database.forget()
            with database.transaction():
                database.run("UPDATE survey SET stage = ?", (SurveyStage.CLOSED,))

    def stage(self) -> SurveyStage:
        """Return how far it is."""
        with self._database.transaction():
            return self._stage()

    def responses(self) -> list[bytes]:
        """Return all responses, in the order of their values."""
        with self._database.transaction():
            return self._responses()

    def _responses(self) -> list[bytes]:
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
    """Yield the statements that make the tables."""
    yield (
        "CREATE TABLE survey (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, "
        "survey TEXT NOT NULL, stage INTEGER NOT NULL)"
    )
    yield (
        f"CREATE TABLE links (code {binary} PRIMARY KEY, response {binary}, submissions INTEGER NOT NULL, "
        f"tested INTEGER NOT NULL){ending}"
    )
    yield (
        "CREATE TABLE model (one INTEGER PRIMARY KEY CHECK (one = 1), content TEXT NOT NULL, truth TEXT NOT NULL, "
        "test TEXT NOT NULL, seed BIGINT NOT NULL, bits INTEGER NOT NULL, says_right INTEGER NOT NULL)"
    )
    yield f"CREATE TABLE responses (response {binary} NOT NULL)"


CODE_BYTES = 15
CODE_LENGTH = 24
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_BREAKS = str.maketrans("", "", " -\t")


def code_of(secret: bytes) -> str:
    """Return the code that 120 secret bits make: 24 letters and digits, none of which is taken for another.

    >>> code_of(bytes(15))
    'AAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.b32encode(secret).decode()


def typed_code(text: str) -> str | None:
    """Return a code as people type it, without blanks and hyphens, in capitals; None if it is no code."""
    bare = text[: 4 * CODE_LENGTH].translate(_BREAKS).upper()
    return bare if len(bare) == CODE_LENGTH and _ALPHABET.issuperset(bare) else None


def code_digest(code: str) -> bytes:
    """Return what the store keeps of a code."""
    return sha256(canonical(b"cotally code", code.encode())).digest()


def spaced(code: str) -> str:
    """Return a code as it is printed, in blocks of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def link_rows(address: str, codes: Iterable[str]) -> list[list[str]]:
    """Return of each code the link, its code behind `#`, which a browser keeps to itself, and the code."""
    return [[f"{address}#{code}", spaced(code)] for code in codes]


def response_codes(responses: Sequence[bytes], questionnaire: Questionnaire) -> Codes:
    """Return the codes of responses, `records x columns`."""
    return np.frombuffer(b"".join(responses), dtype=np.uint8).reshape(len(responses), len(questionnaire.names))


def disguised_answers(responses: Sequence[bytes], questionnaire: Questionnaire) -> DisguisedTable:
    """Return responses as a table."""
    if not responses:
        raise InputError("nobody has answered yet: see `cotally survey status`")
    codes = response_codes(responses, questionnaire)
    cells = answer_cells(codes, questionnaire)
    return DisguisedTable(questionnaire.names, cells, (), answers_given(codes, questionnaire))
