"""Asking for a passphrase at the terminal: what is typed is not shown."""

import sys
from contextlib import suppress
from getpass import getpass
from pathlib import Path


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
