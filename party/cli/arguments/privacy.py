"""Tell what a design discloses: the beliefs that a response leads to, losses, relations that are certain, secret bits.

A short report by default; `--full` tells what every response makes likely, and of every group what its responses do.

The figures depend on what is known beforehand: all values equally likely, or with `--prior` the distribution that
disguised answers suggest (estimated, negative shares set to 0 and the rest rescaled). With `--model`, a tree or naive
Bayes that was mined, what its rules leave of the privacy of the class is told too. How many whole records a collector
reads is shown of a pilot table of true answers (`--pilot`), or estimated from disguised answers (`--prior`).

Examples:
  cotally privacy design.toml
  cotally privacy design.toml --pilot true.csv
  cotally privacy design.toml --prior disguised.csv --model model.json --full
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_design, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument(
        "--prior", type=Path, metavar="disguised.csv", help="estimate from these answers what is likely beforehand"
    )
    parser.add_argument(
        "--pilot", type=Path, metavar="true.csv", help="show how many of these true records a collector would read"
    )
    parser.add_argument("--model", type=Path, metavar="model.json", help="mined: tell the privacy after mining too")
    parser.add_argument("--full", action="store_true", help="print everything that was found")
    add_json(parser)
