"""The log of a node, line by line or as JSON; it holds no data, so an unforeseen error shows kind and place alone."""

import json
import logging
import os
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from getpass import getpass
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Final

from party.names import printable
from protocols.errors import InputError

DEBUG = "COTALLY_DEBUG"


def incident(error: Exception) -> str:
    """Say where an unexpected error came from; its own text may hold a record and is not shown."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"internal error: {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}; "
        f"set {DEBUG}=1 to see more, and please report it"
    )


AS_JSON: Final = "json"
_LEVELS: Final = {"ERROR": "error", "WARNING": "warning", "INFO": "info"}
node_log = logging.getLogger("party.node")
node_log.addHandler(logging.NullHandler())  # without a log nobody prints what it would hold


class _Lines(logging.Formatter):
    """A line per event, as text or as a JSON object: time, level, what."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._write = json.dumps if as_json else lambda parts: " ".join(parts.values())

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        text = record.getMessage()
        if record.exc_info and isinstance(record.exc_info[1], Exception):
            text = f"{text}: {incident(record.exc_info[1])}"
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        level, event = _LEVELS.get(record.levelname, "debug"), printable(" ".join(text.split()))
        return self._write({"time": time, "level": level, "event": event})


class _LogFile(WatchedFileHandler):
    """A file of its owner alone, which may be moved away; where it cannot be written the event is lost, and no more."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write an event: without its folder the file cannot even be opened."""
        with suppress(OSError):
            super().emit(record)

    def close(self) -> None:
        """Let go of the file, whatever of it could not be written."""
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        return open(
            self.baseFilename, "a", encoding=self.encoding, opener=lambda path, flags: os.open(path, flags, 0o600)
        )


def start_details() -> logging.Handler:
    return _added(logging.StreamHandler(sys.stderr), logging.DEBUG)


def start_log(target: str) -> logging.Handler:
    if target == AS_JSON:
        return _added(logging.StreamHandler(sys.stderr), logging.INFO, as_json=True)
    try:
        return _added(_LogFile(target, encoding="utf-8"), logging.INFO)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or 'output error'}") from None


def _added(handler: logging.Handler, level: int, *, as_json: bool = False) -> logging.Handler:
    handler.setFormatter(_Lines(as_json=as_json))
    logging.raiseExceptions = False  # a full disk takes the log away, and not the node
    house = logging.getLogger("party")
    handler.setLevel(level)
    house.setLevel(min([level, *(each.level for each in house.handlers if each.level)]))
    house.propagate = False
    house.addHandler(handler)
    return handler


def stop_log(handler: logging.Handler) -> None:
    logging.getLogger("party").removeHandler(handler)
    handler.close()


def session_text(peer: str) -> str:
    return f"a session with {peer} begins"


def finished_text(peer: str, seconds: float, kibibytes: float) -> str:
    return f"the run with {peer} has ended: {seconds:.0f} s, {kibibytes:,.0f} KiB; the model is written"


def ask_passphrase(folder: Path, new: bool) -> str | None:
    """Ask for the passphrase of a sealed folder at the terminal; for a new one twice, until both are the same."""
    if not sys.stdin.isatty():
        return None
    with suppress(EOFError):
        while True:
            phrase = getpass(f"{'New passphrase' if new else 'Passphrase'} for {folder}: ", sys.stderr)
            if not new or getpass("Once more: ", sys.stderr) == phrase:
                return phrase
            sys.stderr.write("These were not the same\n")
    return None
