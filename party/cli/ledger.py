"""Tell what peers have learned from us and we from them, whether that record is whole, or write it as JSON.

`show` says it in words, `--full` with every exact count. `verify` finds any entry that was altered, dropped or put
elsewhere; that a whole ledger was put back from a backup, only the peer can notice, at the start of the next run.
`export` prints all entries as JSON.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from party.keys.keystore import load_secret
from party.records.entries import last_head
from party.records.ledger import LEDGER_VERSION, Ledger, read_ledger
from party.records.tally import dealings, peers
from party.settings.party import KEY_FLOOR, read_party_config
from party.show.ledger import dealings_lines, head_line, whole_line
from party.show.screen import put, say, say_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=list(_ACTIONS),
        default="show",
        help="tell it in words (default), check it, or print it as JSON",
    )
    parser.add_argument("config", type=Path, metavar="PARTY.toml", help="this party's settings, or their folder")
    parser.add_argument("--full", action="store_true", help="show every exact count")


def run(arguments: argparse.Namespace) -> int:
    """Read the ledger, which checks it, and do what was asked for."""
    folder = read_party_config(arguments.config, KEY_FLOOR).folder
    with read_ledger(folder, load_secret(folder)) as ledger:
        _ACTIONS[arguments.action](ledger, arguments.full)
    return 0


def _show(ledger: Ledger, full: bool) -> None:
    for told in dealings(ledger.entries()):
        say_all(dealings_lines(told, full=full))


def _verify(ledger: Ledger, full: bool) -> None:
    del full
    say(whole_line(ledger.path, len(ledger)))
    for peer in peers(ledger.entries()):
        say(head_line(peer, last_head(ledger.entries(), peer), ledger.head(peer)))


def _export(ledger: Ledger, full: bool) -> None:
    del full
    entries = [{"number": entry.number, **entry.content, "chain": entry.digest.hex()} for entry in ledger.entries()]
    content = {"format": f"cotally-ledger/{LEDGER_VERSION}", "entries": entries}
    put(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))


_ACTIONS: dict[str, Callable[[Ledger, bool], None]] = {"show": _show, "verify": _verify, "export": _export}
