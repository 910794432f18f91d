"""`cotally status`: list runs, how far each is and what it waits for."""

import argparse

from party.files import is_locked
from party.keys.keystore import load_secret
from party.records.journal import recorded_runs
from party.settings.key_sizes import KEY_FLOOR
from party.settings.party import read_party_config
from party.show.screen import put_json, say_all
from party.show.status import open_run_lines, runs_json


def run(arguments: argparse.Namespace) -> int:
    """Read the journal, whoever writes it meanwhile."""
    config = read_party_config(arguments.party, KEY_FLOOR)
    records = recorded_runs(config.folder, load_secret(config.folder))
    if arguments.json:
        put_json(runs_json(records, ended=arguments.all))
        return 0
    say_all(open_run_lines(records, is_locked(config.folder), ended=arguments.all))
    return 0
