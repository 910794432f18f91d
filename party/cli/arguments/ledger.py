"""Tell what peers have learned from us and we from them, whether that record is whole, or write it as JSON.

`show` says it in words, `--full` with every exact count. `verify` finds any entry that was altered, dropped or put
elsewhere; that a whole ledger was put back from a backup, only the peer can notice, when both meet again.
`export` prints all entries as JSON, or writes them to a file.

Examples:
  cotally ledger show alice
  cotally ledger verify alice
  cotally ledger export alice -o ledger.json
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_overwrite, add_party

ACTIONS = ("show", "verify", "export")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=ACTIONS,
        default="show",
        help="tell it in words (default), check it, or print it as JSON",
    )
    add_party(parser)
    parser.add_argument("--full", action="store_true", help="show every exact count")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where export writes (default: the screen)")
    add_overwrite(parser)
    add_json(parser)
