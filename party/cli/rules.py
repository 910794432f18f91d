"""List the association rules that two parties have found together, or the frequent itemsets.

Supports and confidences are exact unless they are marked: an estimate has an error, and "(?)" where its interval holds
the threshold.
"""

import argparse
from pathlib import Path

from party.association.joint import rules_of, sets_of
from party.association.mining import RuleThreshold, result_csv
from party.cli.arguments import fraction
from party.files import check_target, write_atomically
from party.models.itemset_file import read_itemsets
from party.show.joint_rules import joint_blocks, joint_rule_blocks
from party.show.screen import drawing_width, lay_out, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="model.json", help="what a run with learner = rules has written")
    parser.add_argument("--itemsets", action="store_true", help="the frequent itemsets in place of rules")
    parser.add_argument("--metric", default="confidence", metavar="NAME", help="confidence, or lift and others")
    parser.add_argument("--min-threshold", default="4/5", metavar="T", help="of that metric (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, metavar="rules.csv", help="a new file for all of them")


def run(arguments: argparse.Namespace) -> int:
    """Print the first ones, and write all."""
    wanted = RuleThreshold(arguments.metric, float(fraction("--min-threshold", arguments.min_threshold)))
    if arguments.output is not None:
        check_target(arguments.output, (arguments.model,))
    found, width = read_itemsets(arguments.model), drawing_width()
    if arguments.itemsets:
        lay_out(joint_blocks(found, width), width)
    else:
        lay_out(joint_rule_blocks(found, wanted, width), width)
    if arguments.output is not None:
        write_atomically(
            arguments.output, result_csv(sets_of(found) if arguments.itemsets else rules_of(found, wanted))
        )
        say(f"Wrote {arguments.output}.")
    return 0
