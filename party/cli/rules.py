"""`cotally rules`: list the association rules that two parties have found together."""

import argparse

from party.association.joint import rules_of, sets_of
from party.association.mining import RuleThreshold, result_csv
from party.cli.values import fraction
from party.files import check_target, write_atomically
from party.models.itemset_file import read_itemsets
from party.show.joint_rules import joint_blocks, joint_rule_blocks
from party.show.screen import drawing_width, lay_out, say


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
