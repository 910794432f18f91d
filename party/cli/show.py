"""`cotally show`: print a model."""

import argparse
import sys

from party.models.any_file import model_json, read_result
from party.show.joint_rules import joint_blocks
from party.show.model import shown
from party.show.page.tree_svg import tree_svg
from party.show.screen import drawing_width, lay_out
from protocols.association.joint import JointItemsets
from protocols.errors import InputError
from protocols.learning.tree import Tree


def run(arguments: argparse.Namespace) -> int:
    """Print it."""
    if arguments.levels is not None and arguments.levels < 0:
        raise InputError("--levels must be 0 or more")
    model = read_result(arguments.model)
    if arguments.levels is not None and (arguments.json or arguments.dot):
        raise InputError("--levels does not apply to --json and --dot, which hold everything")
    if arguments.json:
        sys.stdout.write(model_json(model))
        return 0
    if not isinstance(model, Tree) and (arguments.dot or arguments.svg or arguments.levels is not None):
        kind = "holds itemsets" if isinstance(model, JointItemsets) else "is naive Bayes"
        raise InputError(f"{arguments.model} {kind}, no tree: --dot, --svg and --levels do not apply")
    if isinstance(model, JointItemsets):
        lay_out(joint_blocks(model, drawing_width()), drawing_width())
        return 0
    how = shown(model)
    if isinstance(model, Tree) and arguments.svg:
        sys.stdout.write(tree_svg(model, arguments.levels))
    elif how.dot is not None and arguments.dot:
        sys.stdout.write(how.dot(model))
    else:
        width = drawing_width()
        lay_out(how.blocks(model, arguments.levels, (), width), width)
    return 0
