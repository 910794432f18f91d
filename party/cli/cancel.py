"""`cotally cancel`: give up a run that has not ended."""

import argparse
from pathlib import Path

from party.files import is_there
from party.keys.keystore import load_secret
from party.records.entries import date_text, now
from party.records.journal import JOURNAL_FILE, cancel_run, open_journal, unknown_run
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.settings.place import CONFIG_FILE
from party.show.screen import put_json, say
from party.show.status import cancelled_text, runs_json
from protocols.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Mark the run; who works on it sees that."""
    if (Path(arguments.run_name) / CONFIG_FILE).is_file():
        raise InputError(f"{arguments.run_name} is a party: name the run after it, as `cotally status` tells it")
    config = read_party_config(arguments.party, KEY_FLOOR)
    if not is_there(config.folder / JOURNAL_FILE):
        raise unknown_run(arguments.run_name)  # and makes no journal
    with open_journal(config.folder, load_secret(config.folder)) as journal:
        cancelled = cancel_run(journal, arguments.run_name, date_text(now()))
    if arguments.json:
        put_json(runs_json([cancelled], ended=True))
    else:
        say(cancelled_text(cancelled))
    return 0
