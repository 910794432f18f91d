"""The ledger: what each peer has learned of us, and we of it, kept for the life of our data (DESIGN 12).

`cotally-ledger/3` is one SQLite file in the party's folder. Its entries (`ledger_entries`) are JSON texts, numbered
from 1; each has a digest, keyed by the owner's secret, over its number, its content and the digest of the entry before.
How many there are stands apart under that key, in an empty ledger too. So an entry that was altered, dropped or put
elsewhere, be it the last one or all of them, is found by the holder of the secret. What that cannot show, a whole file
put back from a backup, the peer notices (`protocols.two_party.memory`). A file that holds anything else than the two
tables, such as a view in the place of one, is refused before a row of it is read.

An entry is on the disk when `append` returns (`synchronous=FULL`). Who serves holds the folder, and others may add what
people have decided meanwhile (`join_ledger`): what they have added is read, and checked, before the next entry follows.
"""

import hmac
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

from party.closing import Closing
from party.files import FolderLock, is_there
from party.records.database import DatabaseKind
from party.records.json_codec import from_json, to_json
from party.records.ledger_entries import BYGONE, ENTRY_KINDS, EntryOfData, LearnedEntry, Noted
from protocols.errors import InputError
from protocols.messages import SignedHead
from protocols.randomness import keyed_digest
from protocols.two_party.memory import NO_HEAD, NOTHING_SIGNED, LedgerHead

LEDGER_FILE: Final = "ledger.sqlite"
LEDGER_VERSION: Final = 3
_START: Final = bytes(32)
_TABLES = """
    CREATE TABLE entries (number INTEGER PRIMARY KEY, content TEXT NOT NULL, digest BLOB NOT NULL) STRICT;
    CREATE TABLE last (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, mac BLOB NOT NULL) STRICT;
"""
_BESIDE: Final = ("journal.sqlite", "alignments.json")
"""What is only made where there is a ledger."""
_SHOWN: Final = "shown"
_PUT_LAST = "INSERT OR REPLACE INTO last VALUES (1, ?, ?)"

N = TypeVar("N", bound=EntryOfData)
Calendar = Callable[[], datetime]
_NAMES: Final = {kind: name for name, kind in ENTRY_KINDS.items()}
_READ: Final = {**ENTRY_KINDS, **dict.fromkeys(BYGONE, LearnedEntry)}


def date_text(moment: datetime) -> str:
    """Return a time of day as records have it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def now() -> datetime:
    """Return the time of day."""
    return datetime.now(UTC)


class LedgerError(InputError):
    """The ledger's file cannot be used."""


def _spoilt(problem: str) -> LedgerError:
    return LedgerError(f"{problem}: restore the latest backup; it must not be lost")


LEDGER: Final = DatabaseKind("ledger", 0x636F7461, LEDGER_VERSION, _TABLES, LedgerError, _spoilt)  # "cota"


@dataclass(frozen=True)
class PeerName:
    """A peer, by its name and the fingerprint of its key."""

    name: str
    fingerprint: str


@dataclass(frozen=True, repr=False)
class LedgerEntry:
    """One entry, as JSON has it: `time`, `peer`, `fingerprint` and `kind`, then the fields of its kind, and `shown`."""

    number: int
    content: dict[str, Any]
    digest: bytes

    @cached_property
    def peer(self) -> PeerName:
        """Whom it is about."""
        return PeerName(self.content["peer"], self.content["fingerprint"])

    @property
    def time(self) -> str:
        """When it was made."""
        return str(self.content["time"])

    @cached_property
    def noted(self) -> Noted:
        """What it says."""
        if self.content["kind"] == _NAMES[SignedHead] and (head := self.head) is not None:
            return head
        return from_json(_READ[self.content["kind"]], self.content)

    @property
    def head(self) -> SignedHead | None:
        """The end of the peer's ledger about us, if it has one, or is one; 0.2.0 kept some that were not signed."""
        shown = self.content if self.content["kind"] == _NAMES[SignedHead] else self.content.get(_SHOWN)
        return None if shown is None else from_json(SignedHead, {**shown, "signature": shown.get("signature") or ""})


class Ledger(Closing):
    """An open ledger, found whole. Made by `open_ledger` and `read_ledger`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, secret: bytes) -> None:
        self.path = path
        self._connection, self._key = connection, _ledger_key(secret)
        self._number, self._digest = 0, _START
        self._heads: dict[PeerName, list[bytes]] = {}
        with LEDGER.reading(path):
            connection.execute("BEGIN")  # NB: both tables as they are at one moment, while others write
        self._follow()
        connection.rollback()

    def __len__(self) -> int:
        return self._number

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def entries(self) -> Iterator[LedgerEntry]:
        """Yield all entries, the first one first."""
        return self._after(0, _START)

    def _after(self, last: int, before: bytes) -> Iterator[LedgerEntry]:
        query = "SELECT number, content, digest FROM entries WHERE number > ? ORDER BY number"
        with LEDGER.reading(self.path):
            rows = self._connection.execute(query, (last,))
            for expected, (number, content, digest) in enumerate(rows, start=last + 1):
                if number != expected or not hmac.compare_digest(self._chained(before, expected, content), digest):
                    raise _spoilt(f"{self.path}: entry {expected} was altered, dropped or put elsewhere")
                yield LedgerEntry(number, json.loads(content), digest)
                before = digest

    def _follow(self) -> None:
        """Take up what was added since we looked, within a transaction; it must be whole."""
        for entry in self._after(self._number, self._digest):
            self._take(entry)
        with LEDGER.reading(self.path):
            last = self._connection.execute("SELECT number, mac FROM last").fetchone()
        if last != _last(self._key, self._number, self._digest):
            raise _spoilt(f"{self.path}: entries after number {self._number} are missing")

    def _take(self, entry: LedgerEntry) -> None:
        self._number, self._digest = entry.number, entry.digest
        self._heads.setdefault(entry.peer, []).append(entry.digest)

    def append(self, content: dict[str, Any]) -> None:
        """Add an entry; it is on the disk when this returns."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        with LEDGER.writing(self._connection, self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            self._follow()
            number = self._number + 1
            digest = self._chained(self._digest, number, text)
            self._connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, digest))
            self._connection.execute(_PUT_LAST, _last(self._key, number, digest))
        self._take(LedgerEntry(number, content, digest))

    def become(self, version: int) -> None:
        """Say that the file is of this version, whose readers understand its entries."""
        with LEDGER.writing(self._connection, self.path):
            self._connection.execute(f"PRAGMA user_version = {version}")

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


def noted(entries: Iterable[LedgerEntry], kind: type[N], dataset: str, peer: PeerName | None = None) -> Iterator[N]:
    """Yield what the entries of a kind say, about a data set, and about one peer or any."""
    name = _NAMES[kind]
    for entry in entries:
        if entry.content["kind"] == name and peer in (None, entry.peer):
            said = entry.noted
            if isinstance(said, kind) and said.dataset == dataset:
                yield said


def last_head(entries: Iterable[LedgerEntry], peer: PeerName) -> SignedHead:
    """Return the last head of this peer's ledger that is on record."""
    heads = [entry.head for entry in entries if entry.peer == peer]
    return next((head for head in reversed(heads) if head is not None), NOTHING_SIGNED)


@dataclass(frozen=True, repr=False)
class PeerEntries:
    """The part of a ledger that is about one peer; `shown` says how far that one's about us leads, by its messages."""

    ledger: Ledger
    peer: PeerName
    clock: Calendar = now
    shown: Callable[[], SignedHead | None] = lambda: None

    def write(self, said: Noted) -> None:
        """Add an entry, and with it how far the peer's ledger was when it sent what the entry is about."""
        head = {"time": self.date(), "peer": self.peer.name, "fingerprint": self.peer.fingerprint}
        end = self.shown()
        shown = {} if end is None else {_SHOWN: to_json(end)}
        self.ledger.append({**head, "kind": _NAMES[type(said)], **to_json(said), **shown})

    def noted(self, kind: type[N], dataset: str) -> Iterator[N]:
        """Yield what the entries of a kind say about a data set."""
        return noted(self.ledger.entries(), kind, dataset, self.peer)

    def date(self) -> str:
        """Return the time of day as records have it."""
        return date_text(self.clock())

    def head(self) -> LedgerHead:
        """Return the end of these entries."""
        return self.ledger.head(self.peer)

    def holds(self, head: LedgerHead) -> bool:
        """Return whether these entries led through this head."""
        return self.ledger.holds(self.peer, head)

    def known(self) -> SignedHead:
        """Return the end of the peer's entries about us, as it was last shown."""
        return last_head(self.ledger.entries(), self.peer)


def open_ledger(held: FolderLock, secret: bytes, version: int = LEDGER_VERSION) -> Ledger:
    """Open the ledger of a folder to add to it; made if it is not there."""
    path = held.folder / LEDGER_FILE
    if not has_ledger(held.folder):
        LEDGER.make(path, lambda empty: empty.execute(_PUT_LAST, _last(_ledger_key(secret), 0, _START)))
    return LEDGER.opened(path, "rw", version, lambda connection: Ledger(connection, path, secret))


def read_ledger(folder: Path, secret: bytes, version: int = LEDGER_VERSION) -> Ledger:
    """Open the ledger of a folder to read it, while others may write."""
    path = _ledger_in(folder)
    return LEDGER.opened(path, "ro", version, lambda connection: Ledger(connection, path, secret))


def join_ledger(folder: Path, secret: bytes) -> Ledger:
    """Open the ledger of a folder to add what people decide, while another process may hold the folder and write."""
    path = _ledger_in(folder)
    return LEDGER.opened(path, "rw", LEDGER_VERSION, lambda connection: Ledger(connection, path, secret))


def _ledger_in(folder: Path) -> Path:
    path = folder / LEDGER_FILE
    if not has_ledger(folder):
        raise LedgerError(f"{path} does not exist: no run has revealed anything yet; start one by `cotally train`")
    return path


def has_ledger(folder: Path) -> bool:
    """Return whether a folder has a ledger; in one that has none, nothing was released."""
    path = folder / LEDGER_FILE
    if is_there(path):
        return True
    left = next((name for name in _BESIDE if is_there(folder / name)), None)
    if left is not None:
        raise _spoilt(f"{path} is missing, and was there before {left}")
    return False


def entries_said(folder: Path) -> int:
    """Return how many entries the ledger of a folder says that it has, unverified and without reading them."""
    path = folder / LEDGER_FILE
    if not has_ledger(folder):
        return 0
    with closing(LEDGER.open(path, "ro")) as connection, LEDGER.reading(path):
        return int(connection.execute("SELECT number FROM last").fetchone()[0])


def _ledger_key(secret: bytes) -> bytes:
    return keyed_digest(secret, b"ledger")


def _last(key: bytes, number: int, digest: bytes) -> tuple[int, bytes]:
    """Return what table `last` holds where this is the last entry; nobody can set it to another without the key."""
    return number, keyed_digest(key, b"last", number.to_bytes(8, "big"), digest)
