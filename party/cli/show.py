"""Print a model: as text, as a drawing for Graphviz, or as JSON.

Of a tree the numbers in brackets are the records of each class, in the order of the first line; of naive Bayes the
tables are the chances of each value, given the class.
"""

import argparse
import sys
from pathlib import Path

from party.models.any_file import read_any, to_json
from party.show.bayes import bayes_lines
from party.show.tree import to_dot, tree_lines
from protocols.errors import InputError
from protocols.learning.tree import Tree

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
    model = read_any(arguments.model)
    if arguments.json:
        sys.stdout.write(to_json(model))
        return 0
    if not isinstance(model, Tree):
        if arguments.dot or arguments.levels is not None:
            raise InputError(f"{arguments.model} is naive Bayes, no tree: --dot and --levels do not apply")
        lines = bayes_lines(model)
    elif arguments.dot:
        sys.stdout.write(to_dot(model))
        return 0
    else:
        lines = tree_lines(model, arguments.levels)
    for line in lines:
        print(line)
    return 0
