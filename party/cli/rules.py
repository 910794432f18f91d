"""`cotally rules`: list the association rules that two parties have found together."""

import argparse

from party.association.mining import RuleThreshold, rules_of, sets_of, write_result
from party.cli.outputs import settle_outputs
from party.cli.values import fraction
from party.data import check_table_name
from party.models.any_file import read_result
from party.show.baskets_json import rules_json, sets_json
from party.show.joint_rules import joint_blocks, joint_rule_blocks
from party.show.screen import drawing_width, lay_out, put_json, say
from protocols.association.joint import JointItemsets
from protocols.errors import InputError


def run(arguments: argparse.Namespace) -> int:
    """Print the first ones, and write all."""
    wanted = RuleThreshold(arguments.metric, fraction("--min-threshold", arguments.min_threshold))
    settle_outputs([arguments.output], [arguments.model], overwrite=arguments.overwrite)
    check_table_name(arguments.output)
    found = read_result(arguments.model)
    if not isinstance(found, JointItemsets):
        raise InputError(f"{arguments.model} holds no itemsets: `cotally show {arguments.model}` prints what it holds")
    columns = sets_of(found) if arguments.itemsets else rules_of(found, wanted)
    if arguments.output is not None:
        write_result(arguments.output, columns)
    if arguments.json:
        put_json(sets_json(columns) if arguments.itemsets else rules_json(columns))
        return 0
    width = drawing_width()
    lay_out(joint_blocks(found, width) if arguments.itemsets else joint_rule_blocks(found, wanted, width), width)
    if arguments.output is not None:
        say(f"Wrote {arguments.output}.")
    return 0
