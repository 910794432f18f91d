"""`cotally status [PARTY.toml]`: list the runs, how far each has come, and what each waits for."""

import argparse
import json

from party.cli.arguments import add_party
from party.files import is_locked
from party.keys.keystore import load_secret
from party.records.journal import recorded_runs
from party.settings.party import KEY_FLOOR, read_party_config
from party.show.screen import put, say_all
from party.show.status import open_run_lines, runs_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser, here=True)
    parser.add_argument("--all", action="store_true", help="list runs that have ended, too")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Read the journal, whoever writes it meanwhile."""
    config = read_party_config(arguments.config, KEY_FLOOR)
    records = recorded_runs(config.folder, load_secret(config.folder))
    if arguments.json:
        put(json.dumps(runs_json(records, ended=arguments.all), indent=1, ensure_ascii=False))
        return 0
    say_all(open_run_lines(records, is_locked(config.folder), ended=arguments.all))
    return 0
