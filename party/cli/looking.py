"""What one side looks at: `check`, `status`, `cancel`, `ledger`."""

import argparse
from collections.abc import Callable
from pathlib import Path

from party.cli.outputs import give, settle_outputs
from party.data import Notice
from party.files import is_locked, is_there, write_atomically
from party.keys.keystore import load_secret
from party.names import printable
from party.node.aligning import load_common
from party.node.check import check_party
from party.node.inputs import ReleasedBefore
from party.records.journal import JOURNAL_FILE, cancel_run, open_journal, recorded_runs, unknown_run
from party.records.ledger import LEDGER_FILE, LEDGER_VERSION, Ledger, date_text, last_head, now, read_ledger
from party.records.tally import dealings, peers
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.place import CONFIG_FILE
from party.show.check import check_json, check_parts
from party.show.ledger import dealings_json, dealings_lines, head_line, ledger_written_line, whole_json, whole_line
from party.show.screen import json_text, put_json, say
from party.show.status import cancelled_text, open_run_lines, runs_json
from protocols.errors import InputError
from protocols.terms import KEY_FLOOR
from protocols.two_party.memory import bare_head


def command_check(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party)
    notices: list[Notice | ReleasedBefore] = []
    local = load_common(config, KEY_FLOOR, notices.extend)
    terms = None if arguments.job is None else read_job(arguments.job, people=local.listed).terms
    peer_columns = len(local.attributes) or 1 if arguments.peer_columns is None else arguments.peer_columns
    if peer_columns < 1:
        raise InputError("--peer-columns must be 1 or more")
    found = check_party(local, config, terms, peer_columns, str if arguments.json else printable)
    parts = check_parts(found, config.agree, notices, full=arguments.full)
    give(arguments, check_json(found, config.agree, notices), parts, laid_out=True)
    if not found.is_usual and found.run.flaw is not None:
        raise found.run.flaw
    return 0


def command_status(arguments: argparse.Namespace) -> int:
    config = read_party_config(arguments.party, KEY_FLOOR)
    records = recorded_runs(config.folder, load_secret(config.folder))
    lines = open_run_lines(records, is_locked(config.folder), ended=arguments.all)
    return give(arguments, runs_json(records, ended=arguments.all), lines)


def command_cancel(arguments: argparse.Namespace) -> int:
    if (Path(arguments.run_name) / CONFIG_FILE).is_file():
        raise InputError(f"{arguments.run_name} is a party: name the run after it, as `cotally status` shows it")
    config = read_party_config(arguments.party, KEY_FLOOR)
    if not is_there(config.folder / JOURNAL_FILE):
        raise unknown_run(arguments.run_name)  # and makes no journal
    with open_journal(config.folder, load_secret(config.folder)) as journal:
        cancelled = cancel_run(journal, arguments.run_name, date_text(now()))
    return give(arguments, runs_json([cancelled], ended=True), [cancelled_text(cancelled)])


def command_ledger(arguments: argparse.Namespace) -> int:
    if arguments.output is not None and arguments.action != "export":
        raise InputError("--output is for export: leave it out")
    config = read_party_config(arguments.party, KEY_FLOOR)
    folder = config.folder
    settle_outputs([arguments.output], [config.path, folder / LEDGER_FILE], overwrite=arguments.overwrite)
    with read_ledger(folder, load_secret(folder)) as ledger:
        _ACTIONS[arguments.action](ledger, arguments)
    return 0


def _show(ledger: Ledger, arguments: argparse.Namespace) -> None:
    found = dealings(ledger.entries())
    give(
        arguments, dealings_json(found), (line for told in found for line in dealings_lines(told, full=arguments.full))
    )


def _verify(ledger: Ledger, arguments: argparse.Namespace) -> None:
    known = peers(ledger.entries())
    heads = [(peer, bare_head(last_head(ledger.entries(), peer)), ledger.head(peer)) for peer in known]
    lines = [whole_line(ledger.path, len(ledger)), *(head_line(*head) for head in heads)]
    give(arguments, whole_json(len(ledger), heads), lines)


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
