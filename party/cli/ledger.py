"""`cotally ledger`: tell what was disclosed, and to whom."""

import argparse
from collections.abc import Callable

from party.cli.outputs import settle_outputs
from party.files import write_atomically
from party.keys.keystore import load_secret
from party.records.entries import last_head
from party.records.ledger import LEDGER_FILE, LEDGER_VERSION, Ledger, read_ledger
from party.records.tally import dealings, peers
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.show.ledger import dealings_lines, head_line, ledger_written_line, whole_line
from party.show.ledger_json import dealings_json, whole_json
from party.show.screen import json_text, put_json, say, say_all
from protocols.errors import InputError
from protocols.two_party.memory import bare_head


def run(arguments: argparse.Namespace) -> int:
    """Read the ledger, which checks it, and do what was asked for."""
    if arguments.output is not None and arguments.action != "export":
        raise InputError("--output is for export")
    config = read_party_config(arguments.party, KEY_FLOOR)
    folder = config.folder
    settle_outputs([arguments.output], [config.path, folder / LEDGER_FILE], overwrite=arguments.overwrite)
    with read_ledger(folder, load_secret(folder)) as ledger:
        _ACTIONS[arguments.action](ledger, arguments)
    return 0


def _show(ledger: Ledger, arguments: argparse.Namespace) -> None:
    found = dealings(ledger.entries())
    if arguments.json:
        put_json(dealings_json(found))
        return
    for told in found:
        say_all(dealings_lines(told, full=arguments.full))


def _verify(ledger: Ledger, arguments: argparse.Namespace) -> None:
    known = peers(ledger.entries())
    heads = [(peer, bare_head(last_head(ledger.entries(), peer)), ledger.head(peer)) for peer in known]
    if arguments.json:
        put_json(whole_json(len(ledger), heads))
        return
    say(whole_line(ledger.path, len(ledger)))
    for head in heads:
        say(head_line(*head))


def _export(ledger: Ledger, arguments: argparse.Namespace) -> None:
    entries = [{"number": entry.number, **entry.content, "chain": entry.digest.hex()} for entry in ledger.entries()]
    content = {"format": f"cotally-ledger/{LEDGER_VERSION}", "entries": entries}
    if arguments.output is None:
        put_json(content)
    else:
        write_atomically(arguments.output, f"{json_text(content)}\n")
        say(ledger_written_line(arguments.output, len(entries)))


_ACTIONS: dict[str, Callable[[Ledger, argparse.Namespace], None]] = {
    "show": _show,
    "verify": _verify,
    "export": _export,
}
