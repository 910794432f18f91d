"""`cotally cancel [PARTY.toml] RUN`: give up a run that has not ended, here and, when both meet, at the peer.

A process that is at work on it stops within a step. The job may be started again, and then begins anew; what was told
stays told.
"""

import argparse

from party.cli.arguments import add_party
from party.keys.keystore import load_secret
from party.records.entries import date_text, now
from party.records.journal import cancel_run, open_journal
from party.settings.party import KEY_FLOOR, read_party_config
from party.show.screen import say
from party.show.status import cancelled_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser, here=True)
    parser.add_argument("run_name", metavar="RUN", help="its name, as `cotally status` tells it")


def run(arguments: argparse.Namespace) -> int:
    """Mark the run; who works on it sees that."""
    config = read_party_config(arguments.config, KEY_FLOOR)
    with open_journal(config.folder, load_secret(config.folder)) as journal:
        say(cancelled_text(cancel_run(journal, arguments.run_name, date_text(now()))))
    return 0
