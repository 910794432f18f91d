"""Look after a party's keys: renew its certificate.

A renewed certificate is over the same key, so the party stays the same: a node that serves takes it up without being
stopped, and the other side accepts it.
"""

import argparse
from pathlib import Path

from party.keys.renewal import renew
from party.show.parties import renewed_lines
from party.show.screen import say_all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=["renew"], help="renew: make a new certificate over the same key")
    parser.add_argument("folder", type=Path, metavar="D", help="the party's folder")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="renew: DNS name or IP address at which the other party reaches this one; may be repeated (default: as "
        "before)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Do it, and say what holds from now on."""
    say_all(renewed_lines(renew(arguments.folder, arguments.host)))
    return 0
