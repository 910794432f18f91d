"""The ledger: what each peer has learned of us, and we of it, kept for the life of our data (DESIGN 12).

`cotally-ledger/3` is one SQLite file in the party's folder. Its entries are JSON texts, numbered from 1; each has a
digest, keyed by the owner's secret, over its number, its content and the digest of the entry before. How many there are
stands apart under that key, in an empty ledger too. So an entry that was altered, dropped or put elsewhere, be it the
last one or all of them, is found by the holder of the secret. What that cannot show, a whole file put back from a
backup, the peer notices (`protocols.two_party.memory`). A file that holds anything else than the two tables, such as a
view in the place of one, is refused before a row of it is read.

An entry is on the disk when `append` returns (`synchronous=FULL`).
"""

import hmac
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from party.closing import Closing
from party.files import FolderLock, is_there
from party.records.database import DatabaseKind
from protocols.errors import InputError
from protocols.randomness import keyed_digest
from protocols.two_party.memory import NO_HEAD, LedgerHead

LEDGER_FILE: Final = "ledger.sqlite"
LEDGER_VERSION: Final = 3
_START: Final = bytes(32)
_TABLES = """
    CREATE TABLE entries (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest BLOB NOT NULL) STRICT;
    CREATE TABLE last (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, mac BLOB NOT NULL) STRICT;
"""
_BESIDE: Final = ("journal.sqlite", "alignments.json")
"""What is only made where there is a ledger."""
_PUT_LAST = "INSERT OR REPLACE INTO last VALUES (1, ?, ?)"

Content = Mapping[str, object]


class LedgerError(InputError):
    """The ledger's file cannot be used."""


def _spoilt(problem: str) -> LedgerError:
    return LedgerError(f"{problem}: restore the latest backup; it must not be lost")


_KIND = DatabaseKind("ledger", 0x636F7461, LEDGER_VERSION, _TABLES, LedgerError, _spoilt)  # "cota"


@dataclass(frozen=True)
class PeerName:
    """A peer, by its name and the fingerprint of its key."""

    name: str
    fingerprint: str


@dataclass(frozen=True, repr=False)
class LedgerEntry:
    """One entry; `content` holds at least `time`, `peer`, `fingerprint` and `kind`."""

    number: int
    content: Content
    digest: bytes

    @property
    def peer(self) -> PeerName:
        """Whom it is about."""
        return PeerName(str(self.content["peer"]), str(self.content["fingerprint"]))


class Ledger(Closing):
    """An open ledger, found whole. Made by `open_ledger` and `read_ledger`.

    Args:
        connection: To the file.
        path: Of the file.
        secret: The owner's.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, secret: bytes) -> None:
        self.path = path
        self._connection, self._key = connection, _ledger_key(secret)
        self._number, self._digest = 0, _START
        self._heads: dict[PeerName, list[bytes]] = {}
        with _KIND.reading(path):
            connection.execute("BEGIN")  # NB: both tables as they are at one moment, while others write
        for entry in self.entries():
            self._number, self._digest = entry.number, entry.digest
            self._heads.setdefault(entry.peer, []).append(entry.digest)
        with _KIND.reading(path):
            last = connection.execute("SELECT number, mac FROM last").fetchone()
            connection.rollback()
        if last != _last(self._key, self._number, self._digest):
            raise _spoilt(f"{path}: entries after number {self._number} are missing")

    def __len__(self) -> int:
        return self._number

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def entries(self) -> Iterator[LedgerEntry]:
        """Yield all entries, the first one first."""
        with _KIND.reading(self.path):
            before = _START
            rows = self._connection.execute("SELECT number, content, digest FROM entries ORDER BY number")
            for expected, (number, content, digest) in enumerate(rows, start=1):
                if number != expected or not hmac.compare_digest(self._chained(before, expected, content), digest):
                    raise _spoilt(f"{self.path}: entry {expected} was altered, dropped or put elsewhere")
                yield LedgerEntry(number, json.loads(content), digest)
                before = digest

    def append(self, content: Content) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        number = self._number + 1
        digest = self._chained(self._digest, number, text)
        with _KIND.writing(self._connection, self.path):
            self._connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, digest))
            self._connection.execute(_PUT_LAST, _last(self._key, number, digest))
        entry = LedgerEntry(number, content, digest)
        self._number, self._digest = number, digest
        self._heads.setdefault(entry.peer, []).append(digest)

    def head(self, peer: PeerName) -> LedgerHead:
        """Return the end of the entries about a peer."""
        digests = self._heads.get(peer)
        return LedgerHead(len(digests), digests[-1]) if digests else NO_HEAD

    def holds(self, peer: PeerName, head: LedgerHead) -> bool:
        """Return whether the entries about a peer led through this head."""
        digests = self._heads.get(peer, [])
        return head == NO_HEAD or (0 < head.entries <= len(digests) and digests[head.entries - 1] == head.digest)

    def _chained(self, before: bytes, number: int, content: str) -> bytes:
        return keyed_digest(self._key, before, number.to_bytes(8, "big"), content.encode())


def open_ledger(held: FolderLock, secret: bytes) -> Ledger:
    """Open the ledger of a folder to add to it; made if it is not there."""
    path = held.folder / LEDGER_FILE
    if not has_ledger(held.folder):
        _KIND.make(path, lambda empty: empty.execute(_PUT_LAST, _last(_ledger_key(secret), 0, _START)))
    return _opened(path, secret, "rw")


def read_ledger(folder: Path, secret: bytes) -> Ledger:
    """Open the ledger of a folder to read it, while others may write."""
    path = folder / LEDGER_FILE
    if not has_ledger(folder):
        raise LedgerError(f"{path} does not exist: no run has revealed anything yet; start one by `cotally train`")
    return _opened(path, secret, "ro")


def has_ledger(folder: Path) -> bool:
    """Return whether a folder has a ledger; in one that has none, nothing was released."""
    path = folder / LEDGER_FILE
    if is_there(path):
        return True
    left = next((name for name in _BESIDE if is_there(folder / name)), None)
    if left is not None:
        raise _spoilt(f"{path} is missing, and was there before {left}")
    return False


def _ledger_key(secret: bytes) -> bytes:
    return keyed_digest(secret, b"ledger")


def _last(key: bytes, number: int, digest: bytes) -> tuple[int, bytes]:
    """Return what table `last` holds where this is the last entry; nobody can set it to another without the key."""
    return number, keyed_digest(key, b"last", number.to_bytes(8, "big"), digest)


def _opened(path: Path, secret: bytes, mode: str) -> Ledger:
    connection = _KIND.open(path, mode)
    try:
        return Ledger(connection, path, secret)
    except BaseException:
        connection.close()
        raise
