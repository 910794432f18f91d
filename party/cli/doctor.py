"""Find what keeps two parties from meeting: settings, keys, name, port, TLS, certificates, versions, clocks.

Run it where `cotally train` will run, while the other side serves. The other side is asked for its own view, by a small
call over the same connection; no run begins, and nothing of the data is read.
"""

import argparse
import sys

from party.cli.arguments import add_party
from party.node.doctor import Examination
from party.show.doctor import diagnosis_line, unread_line
from party.show.screen import say
from protocols.errors import CotallyError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)


def run(arguments: argparse.Namespace) -> int:
    """Tell of each layer as it is tried; fail with the first fault.

    Raises:
        CotallyError: The first layer that fails.
    """
    first: CotallyError | None = None
    for found in Examination(arguments.config).diagnoses():
        say(diagnosis_line(found), sys.stdout)
        first = first or found.error
    if first is not None:
        raise first
    say(unread_line(arguments.config), sys.stdout)
    return 0
