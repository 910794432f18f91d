"""Trust each other's certificates by a short code that two people tell each other, as by telephone.

The side that listens (its settings have no [node] address) shows a code, which lives for ten minutes and may be tried
once; the side that calls asks for it. Both then trust each other, with no fingerprints to compare.

Examples:
  cotally pair alice
"""

import argparse

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    add_json(parser)
