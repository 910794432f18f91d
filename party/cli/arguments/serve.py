"""Listen, and take part in the runs that the peer opens, one after another, until it is stopped.

What this party agrees to stands in its settings, under `[agree]`.

Examples:
  cotally serve alice
  cotally serve alice --log node.log
"""

import argparse

from party.cli.arguments.common import add_party, add_results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("--once", action="store_true", help="exit after one run, with its exit code")
    parser.add_argument(
        "--log",
        metavar="FILE|json",
        help="keep a log with times and levels, without data: in a file, or as JSON lines on the standard error",
    )
    add_results(parser)
