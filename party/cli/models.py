"""Models: `show`, `rules`."""

import argparse
import sys

from party.association.mining import rules_of, sets_of, threshold_of, write_result
from party.cli.outputs import fraction, settle_outputs
from party.data import check_table_name
from party.models.any_file import model_json, read_result
from party.show.baskets import rules_json, sets_json
from party.show.joint_rules import joint_parts, joint_rule_parts, worth_lines
from party.show.model import shown, telling_lines
from party.show.page.parts import png_of
from party.show.screen import drawing_width, lay_out, put_json, say, say_all
from protocols.association.joint import JointItemsets
from protocols.errors import InputError


def command_show(arguments: argparse.Namespace) -> int:
    levels = arguments.levels
    if levels is not None and levels < 0:
        raise InputError("--levels must be 0 or more")
    if levels is not None and arguments.json:
        raise InputError("--json holds every level: leave --levels out")
    if arguments.png and sys.stdout.isatty():
        raise InputError("an image is not for a terminal: cotally show model.json --png > model.png")
    model = read_result(arguments.model)
    how = shown(model)
    if levels is not None and not how.levels:
        raise InputError(f"{arguments.model} is naive Bayes, which has no levels: leave --levels out")
    if arguments.json:
        sys.stdout.write(model_json(model))
    elif arguments.svg:
        sys.stdout.write(how.svg(model, levels))
    elif arguments.png:
        sys.stdout.buffer.write(png_of(how.svg(model, levels)))
    elif arguments.dot:
        if how.dot is None:
            raise InputError(f"{arguments.model} holds no tree: draw it by --svg or --png, not by --dot")
        sys.stdout.write(how.dot(model, levels))
    else:
        lay_out(how.blocks(model, levels, ()), drawing_width())
        worth = [] if isinstance(model, JointItemsets) else worth_lines(model)
        say_all([*telling_lines(model), *worth])
    return 0


def command_rules(arguments: argparse.Namespace) -> int:
    least = arguments.min_threshold
    wanted = threshold_of(arguments.metric, None if least is None else fraction("--min-threshold", least))
    settle_outputs([arguments.output], [arguments.model], overwrite=arguments.overwrite)
    check_table_name(arguments.output)
    found = read_result(arguments.model)
    if not isinstance(found, JointItemsets):
        raise InputError(
            f"{arguments.model} holds no itemsets: print what it holds by `cotally show {arguments.model}`"
        )
    columns = sets_of(found) if arguments.itemsets else rules_of(found, wanted)
    if arguments.output is not None:
        write_result(arguments.output, columns)
    if arguments.json:
        put_json(sets_json(columns) if arguments.itemsets else rules_json(columns))
        return 0
    lay_out(joint_parts(found) if arguments.itemsets else joint_rule_parts(found, wanted), drawing_width())
    if arguments.output is not None:
        say(f"Wrote {arguments.output}.")
    return 0
