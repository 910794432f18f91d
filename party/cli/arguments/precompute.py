"""Make random factors while the machine is idle, so that a run encrypts with one multiplication each.

They are kept in the party's folder, sealed, and each is used at most once: `train` and `serve` take them by
themselves. They last until the machine is restarted, and are discarded if the folder is copied or restored.
Stop with Ctrl-C at any time: what was made is kept. At most 127 more than asked for are made.

Without an amount, as many are made as one run over this party's data (engine encrypted_coins) still needs.

Examples:
  cotally precompute bob --status
  cotally precompute bob --cipher paillier --seconds 600
"""

import argparse

from party.cli.arguments.common import add_json, add_party, add_progress
from protocols.terms import Cipher


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--count", type=_positive, metavar="N", help="make N more")
    amount.add_argument("--for-rows", type=_positive, metavar="N", help="have enough for a run over N records")
    amount.add_argument("--seconds", type=_positive, metavar="S", help="make factors for S seconds")
    amount.add_argument("--status", action="store_true", help="only say how many there are and how far they go")
    parser.add_argument(
        "--cipher",
        type=Cipher,
        choices=list(Cipher),
        metavar="{paillier,curve}",
        help="whose factors (default: the first of [agree] ciphers)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="use N processes, whatever [compute] says")
    add_progress(parser)
    add_json(parser)


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value
