"""List the runs of a party, how far each has come, and what each waits for.

Examples:
  cotally status bob
  cotally status bob --all --json
"""

import argparse

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser, here=True)
    parser.add_argument("--all", action="store_true", help="list runs that have ended, too")
    add_json(parser)
