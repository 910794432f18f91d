"""Make a party: its keys, its certificate, and a settings file to fill in.

Nothing that exists is overwritten, and if something fails, nothing is left behind.

Examples:
  cotally init alice --dir alice --host alice.example.org
  cotally init bob --dir bob --seal passphrase
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json
from party.keys.passphrase import SOURCES
from party.settings.address import DEFAULT_HOSTS
from party.settings.key_sizes import KEY_FLOOR, USUAL_KEY_BITS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", help="the party's name: letters, digits, - and _")
    parser.add_argument("--dir", type=Path, required=True, metavar="D", help="the party's folder")
    parser.add_argument(
        "--host",
        action="append",
        metavar="H",
        help="DNS name or IP address at which the other party reaches this one; may be repeated "
        f"(default: {', '.join(DEFAULT_HOSTS)})",
    )
    parser.add_argument(
        "--seal",
        choices=list(SOURCES),
        help="keep the keys in one file that opens by a passphrase (from the terminal, or the file that "
        "COTALLY_PASSPHRASE_FILE names) or by the system's keyring",
    )
    parser.add_argument(
        "--key-bits",
        type=int,
        default=USUAL_KEY_BITS,
        metavar="N",
        help=f"length of the Paillier key, {KEY_FLOOR} or more (default: %(default)s)",
    )
    add_json(parser)
