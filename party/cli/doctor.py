"""`cotally doctor`: find what keeps two parties from meeting."""

import argparse
import json
import sys

from party.node.doctor import Examination
from party.show.doctor import diagnoses_json, diagnosis_line, unread_line
from party.show.screen import put, say


def run(arguments: argparse.Namespace) -> int:
    """Tell of each layer as it is tried; fail with the first fault.

    Raises:
        CotallyError: The first layer that fails.
    """
    layers = []
    for found in Examination(arguments.party).diagnoses():
        layers.append(found)
        if not arguments.json:
            say(diagnosis_line(found), sys.stdout)
    if arguments.json:
        put(json.dumps(diagnoses_json(layers), indent=1, ensure_ascii=False))
    for found in layers:
        if found.error is not None:
            raise found.error
    if not arguments.json:
        say(unread_line(arguments.party), sys.stdout)
    return 0
