"""Check that answers are disguised as the design declares: run the shipped sampler many times, and count.

It needs no data: a few records are disguised again and again, with fresh secret coins made like those of
`cotally disguise`, and the responses are held against their declared chances. Exit code 0 if all fit, 1 if not. Several
designs, whose answers are to be combined, share one false-alarm rate.

Examples:
  cotally audit design.toml
  cotally audit design.toml --shift 1/10 --power 0.9
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_design, add_json
from protocols.privacy.chernoff import DEFAULT_GOAL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument(
        "--and",
        dest="more",
        action="append",
        default=[],
        type=Path,
        metavar="design.toml",
        help="a further design; may be repeated",
    )
    parser.add_argument(
        "--shift",
        default=str(DEFAULT_GOAL.shift),
        metavar="S",
        help="shift of theta, or of the chance to show an item, to be caught (default: %(default)s)",
    )
    parser.add_argument(
        "--alarm", type=float, default=DEFAULT_GOAL.alarm, metavar="P", help="false-alarm rate (default: %(default)s)"
    )
    parser.add_argument(
        "--power", type=float, default=DEFAULT_GOAL.power, metavar="P", help="chance to catch it (default: %(default)s)"
    )
    add_json(parser)
