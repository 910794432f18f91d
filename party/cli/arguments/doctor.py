"""Find what keeps two parties from meeting: settings, keys, name, port, TLS, certificates, versions, clocks.

Run it where `cotally train` will run, while the other side serves. The other side is asked for its own view, by a small
call over the same connection; no run begins, and nothing of the data is read.

Examples:
  cotally doctor bob
"""

import argparse

from party.cli.arguments.common import add_json, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    add_json(parser)
