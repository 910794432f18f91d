"""`cotally ledger`: tell what was disclosed, and to whom."""

import argparse
import json
from collections.abc import Callable

from party.keys.keystore import load_secret
from party.records.entries import last_head
from party.records.ledger import LEDGER_VERSION, Ledger, read_ledger
from party.records.tally import dealings, peers
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.show.ledger import dealings_lines, head_line, whole_line
from party.show.screen import put, say, say_all


def run(arguments: argparse.Namespace) -> int:
    """Read the ledger, which checks it, and do what was asked for."""
    folder = read_party_config(arguments.party, KEY_FLOOR).folder
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
