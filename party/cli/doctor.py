"""Find what keeps two parties from meeting: settings, keys, name, port, TLS, certificates, versions, clocks.

Run it where `cotally train` will run, while the other side serves. The other side is asked for its own view, by a small
call over the same connection; no run begins, and nothing of the data is read.
"""

import argparse
import json
import sys

from party.cli.arguments import add_party
from party.node.doctor import Examination
from party.show.doctor import diagnoses_json, diagnosis_line, unread_line
from party.show.screen import put, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Tell of each layer as it is tried; fail with the first fault.

    Raises:
        CotallyError: The first layer that fails.
    """
    layers = []
    for found in Examination(arguments.config).diagnoses():
        layers.append(found)
        if not arguments.json:
            say(diagnosis_line(found), sys.stdout)
    if arguments.json:
        put(json.dumps(diagnoses_json(layers), indent=1, ensure_ascii=False))
    for found in layers:
        if found.error is not None:
            raise found.error
    if not arguments.json:
        say(unread_line(arguments.config), sys.stdout)
    return 0
