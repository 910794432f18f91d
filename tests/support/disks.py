"""Disks that are full, and backups that are put back."""

import contextlib
import itertools
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from party.records.database import DatabaseKind
from party.records.journal import JOURNAL_FILE
from party.records.ledger import LEDGER_FILE


@contextlib.contextmanager
def full_disk(folder: Path, writes: int) -> Iterator[None]:
    """Let nothing be written in a folder after this many changes of its ledger and journal."""
    left, writing = itertools.count(writes, -1), DatabaseKind.writing

    @contextlib.contextmanager
    def limited(kind: DatabaseKind, connection: Any, path: Path) -> Iterator[None]:
        if path.parent == folder and next(left) <= 0:
            raise kind.error(f"{path} cannot be written: database or disk is full")
        with writing(kind, connection, path):
            yield

    with patch.object(DatabaseKind, "writing", limited):
        yield


@contextlib.contextmanager
def no_space() -> Iterator[None]:
    """Let this process make no file longer, which SQLite meets as it does a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def put_back(folder: Path, backup: Path) -> None:
    """Put a backup of a ledger and a journal in the place of those in a folder."""
    names = [name + end for name in (LEDGER_FILE, JOURNAL_FILE) for end in ("", "-wal")]
    for name in names:
        (folder / name).unlink(missing_ok=True)
        if (backup / name).exists():
            shutil.copy(backup / name, folder / name)
