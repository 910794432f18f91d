"""Print a model: as text, as a drawing for Graphviz, or as JSON.

The numbers in brackets are the records of each class, in the order of the first line.
"""

import argparse
import sys
from pathlib import Path

from party.model import read_model, to_json
from party.tree_text import to_dot, tree_lines
from protocols.errors import InputError

SUMMARY = "print a model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="model.json")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="for Graphviz: cotally show model.json --dot | dot -Tsvg")
    form.add_argument("--json", action="store_true", help="as JSON, checked and in its usual layout")
    form.add_argument("--levels", type=int, metavar="N", help="leave out what is deeper than N splits")


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    if arguments.levels is not None and arguments.levels < 0:
        raise InputError("--levels must be 0 or more")
    tree = read_model(arguments.model)
    if arguments.dot:
        sys.stdout.write(to_dot(tree))
    elif arguments.json:
        sys.stdout.write(to_json(tree))
    else:
        for line in tree_lines(tree, arguments.levels):
            print(line)
    return 0
