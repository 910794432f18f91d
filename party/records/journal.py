"""The journal: how far each run has come, so that it can go on after it has ended early (DESIGN 12).

`cotally-journal/3` is one SQLite file beside the ledger. The ledger says what was disclosed, and is kept; the journal
has what spares work: the peer's disguised copy, the answers so far. That goes when both sides hold
the model, or the run is given up. To lose a journal costs time and discloses nothing: what is asked again gets the same
answer. Rows bear a digest keyed by the owner's secret, so that a damaged one is found.

A change is on the disk when its method returns (`synchronous=FULL`).
"""

import hmac
import json
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from party.closing import Closing
from party.errors import RunCancelledError
from party.files import is_there
from party.records.database import DatabaseKind
from party.records.json_codec import from_json, to_json
from party.records.ledger import PeerName
from protocols.errors import InputError
from protocols.randomness import keyed_digest
from protocols.role import Part

JOURNAL_FILE: Final = "journal.sqlite"
JOURNAL_VERSION: Final = 3
_LISTED = "see in `cotally status` which have not ended"
_TABLES = """
    CREATE TABLE runs (run TEXT PRIMARY KEY, content TEXT NOT NULL, mac BLOB NOT NULL) STRICT;
    CREATE TABLE kept (run TEXT NOT NULL, part TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL,
        mac BLOB NOT NULL, PRIMARY KEY (run, part, number)) STRICT;
"""


class JournalError(InputError):
    """The journal's file cannot be used."""


def _spoilt(problem: str) -> JournalError:
    return JournalError(
        f"{problem}: put the latest backup back, or move the file away: runs that have not ended then begin again, and "
        "disclose nothing more"
    )


JOURNAL: Final = DatabaseKind("journal", 0x636F746A, JOURNAL_VERSION, _TABLES, JournalError, _spoilt)  # "cotj"


class RunState(StrEnum):
    """What became of a run; one that waits for people of the peer has not begun."""

    WAITING = "waiting"
    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"
    ABORTED = "aborted"


@dataclass(frozen=True)
class RunRecord:
    """A run.

    Its name, 16 hexadecimal digits, is the same at both parties. `job` says what is done on which terms, as JSON has
    it, and `contents` is a digest of all that must be the same when it goes on. It was at last busy with `phase`; once
    it is `settled`, the peer has said that it is done, so that nothing of it is kept.
    """

    run: str
    peer: str
    fingerprint: str
    dataset: str
    job: dict[str, Any]
    contents: str
    initiator: bool
    began: str
    changed: str
    state: RunState = RunState.OPEN
    phase: str = ""
    settled: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it may go on: the peer may need us even if we are done."""
        return self.state is RunState.OPEN or (self.state is RunState.DONE and not self.settled)

    def is_with(self, peer: PeerName, dataset: str) -> bool:
        """Return whether it is one with this peer, over this data set."""
        return (self.peer, self.fingerprint, self.dataset) == (peer.name, peer.fingerprint, dataset)


class Journal(Closing):
    """An open journal. Made by `open_journal`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, secret: bytes) -> None:
        self.path = path
        self._connection, self._key = connection, keyed_digest(secret, b"journal")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def runs(self) -> list[RunRecord]:
        """Return all runs, in the order of their beginning."""
        with JOURNAL.reading(self.path):
            rows = self._connection.execute("SELECT run, content, mac FROM runs ORDER BY rowid").fetchall()
            return [self._read(*row) for row in rows]

    def find(self, run: str) -> RunRecord | None:
        """Return a run by its name."""
        with JOURNAL.reading(self.path):
            row = self._connection.execute("SELECT run, content, mac FROM runs WHERE run = ?", (run,)).fetchone()
            return None if row is None else self._read(*row)

    def check_kept(self) -> None:
        """Read all items of all runs once."""
        with JOURNAL.reading(self.path):
            whole = self._connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            before = ("", "", -1)
            rows = self._connection.execute("SELECT run, part, number, content, mac FROM kept ORDER BY 1, 2, 3")
            for run, part, number, content, mac in rows:
                self._check(mac, self._mac(b"kept", run, part, str(number), content=content))
                whole = whole and number == (before[2] + 1 if before[:2] == (run, part) else 0)
                before = (run, part, number)
        if not whole:
            raise _spoilt(f"{self.path}: a row is missing")

    def begin(self, record: RunRecord) -> None:
        """Write a run that begins."""
        with JOURNAL.writing(self._connection, self.path):
            self._put(record)

    def change(self, run: str, now: str, **changes: object) -> RunRecord:
        """Change fields of a run, and return it; of one that is over, nothing is kept."""
        with JOURNAL.writing(self._connection, self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            record = replace(self.living(run), changed=now, **changes)  # type: ignore[arg-type]  # its fields
            self._put(record)
            if not record.is_open:
                self._connection.execute("DELETE FROM kept WHERE run = ?", (run,))
        return record

    def forget(self, run: str) -> None:
        """Strike a run that has not begun."""
        with JOURNAL.writing(self._connection, self.path):
            self._connection.execute("DELETE FROM runs WHERE run = ?", (run,))

    def keep(self, run: str, part: Part, number: int, content: bytes) -> None:
        """Keep an item of a run; later ones of its part fall away."""
        with JOURNAL.writing(self._connection, self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            self.living(run)
            self._connection.execute(
                "DELETE FROM kept WHERE run = ? AND part = ? AND number >= ?", (run, part.value, number)
            )
            mac = self._mac(b"kept", run, part.value, str(number), content=content)
            self._connection.execute("INSERT INTO kept VALUES (?, ?, ?, ?, ?)", (run, part.value, number, content, mac))

    def become(self, version: int) -> None:
        """Say that the file is of this version."""
        with JOURNAL.writing(self._connection, self.path):
            self._connection.execute(f"PRAGMA user_version = {version}")

    def living(self, run: str) -> RunRecord:
        """Return a run, which nobody may have cancelled."""
        record = self.find(run)
        if record is None or record.state is RunState.CANCELLED:
            raise cancelled_here(run)
        return record

    def recall(self, run: str, part: Part) -> Iterator[bytes]:
        """Yield the items of a part of a run, one at a time."""
        number = 0
        while True:
            with JOURNAL.reading(self.path):
                row = self._connection.execute(
                    "SELECT content, mac FROM kept WHERE run = ? AND part = ? AND number = ?", (run, part.value, number)
                ).fetchone()
                if row is None:
                    return
                content, mac = row
                self._check(mac, self._mac(b"kept", run, part.value, str(number), content=content))
            yield content
            number += 1

    def _put(self, record: RunRecord) -> None:
        text = json.dumps(to_json(record), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._connection.execute(
            "INSERT INTO runs VALUES (?, ?, ?)"
            " ON CONFLICT (run) DO UPDATE SET content = excluded.content, mac = excluded.mac",
            (record.run, text, self._mac(b"run", record.run, content=text.encode())),
        )

    def _read(self, run: str, text: str, mac: bytes) -> RunRecord:
        self._check(mac, self._mac(b"run", run, content=text.encode()))
        return from_json(RunRecord, json.loads(text))

    def _check(self, found: bytes, expected: bytes) -> None:
        if not hmac.compare_digest(found, expected):
            raise _spoilt(f"{self.path}: a row was altered, or belongs to another secret.key")

    def _mac(self, purpose: bytes, *names: str, content: bytes) -> bytes:
        return keyed_digest(self._key, purpose, *(name.encode() for name in names), content)


@dataclass(frozen=True, repr=False)
class KeptRun:
    """What a journal has kept of one run, for a role that goes on with it."""

    journal: Journal
    run: str

    def recall(self, part: Part) -> Iterator[bytes]:
        """Yield the items of a part, the first one first."""
        return self.journal.recall(self.run, part)


def open_journal(folder: Path, secret: bytes, version: int = JOURNAL_VERSION) -> Journal:
    """Open the journal of a folder; made if it is not there. What runs here meanwhile sees what is written."""
    path = folder / JOURNAL_FILE
    if not is_there(path):
        with suppress(FileExistsError):
            JOURNAL.make(path)

    def whole(connection: sqlite3.Connection) -> Journal:
        connection.execute("PRAGMA secure_delete = ON")
        journal = Journal(connection, path, secret)
        journal.runs()
        journal.check_kept()
        return journal

    return JOURNAL.opened(path, "rw", version, whole)


def cancelled_here(run: str) -> RunCancelledError:
    """Return the error of a run that somebody has cancelled."""
    return RunCancelledError(f"run {run} was cancelled here: it may begin again")


def read_journal(folder: Path, secret: bytes, version: int = JOURNAL_VERSION) -> Journal:
    """Open the journal of a folder to read it, while others may write."""
    path = folder / JOURNAL_FILE
    return JOURNAL.opened(path, "ro", version, lambda connection: Journal(connection, path, secret))


def recorded_runs(folder: Path, secret: bytes) -> list[RunRecord]:
    """Return the runs of a folder, while others may write; none where there is no journal yet."""
    if not is_there(folder / JOURNAL_FILE):
        return []
    with read_journal(folder, secret) as journal:
        return journal.runs()


def cancel_run(journal: Journal, run: str, now: str) -> RunRecord:
    """Cancel a run that has not ended; of one that is done here, what is kept for the peer is given up."""
    record = journal.find(run)
    if record is None:
        raise unknown_run(run)
    if record.state is RunState.WAITING:
        journal.forget(run)
        return record
    if record.is_open and record.state is RunState.DONE:
        return journal.change(run, now, settled=True)
    if record.state is not RunState.OPEN:
        raise JournalError(f"run {run} has ended: it is {record.state}; {_LISTED}")
    return journal.change(run, now, state=RunState.CANCELLED)


def unknown_run(run: str) -> JournalError:
    """Return the error of a run that no journal here has."""
    return JournalError(f"run {run} is not known here: {_LISTED}")
