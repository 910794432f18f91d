"""`cotally doctor`: find what keeps two parties from meeting."""

import argparse
import sys

from party.node.doctor import Examination
from party.settings.place import settings_file
from party.show.doctor import diagnoses_json, diagnosis_line, unread_line
from party.show.screen import put_json, say


def run(arguments: argparse.Namespace) -> int:
    """Tell of each layer as it is tried; fail with the first fault.

    Raises:
        CotallyError: The first layer that fails.
    """
    path, layers = settings_file(arguments.party), []
    for found in Examination(path).diagnoses():
        layers.append(found)
        if not arguments.json:
            say(diagnosis_line(found), sys.stdout)
    if arguments.json:
        put_json(diagnoses_json(layers))
    for found in layers:
        if found.error is not None:
            raise found.error
    if not arguments.json:
        say(unread_line(path), sys.stdout)
    return 0
