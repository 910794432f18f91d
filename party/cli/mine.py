"""Learn a decision tree or naive Bayes from disguised answers, and estimate how good it is from disguised answers too.

Counts in brackets are estimates. A split marked "(?)" leads its runner-up by no more than chance could explain:
with other respondents, or other coins, another attribute might stand there.
"""

import argparse
from pathlib import Path

from party.cli import baskets
from party.cli.arguments import add_design, add_disguised, add_more_answers, form, fraction
from party.data import read_frame
from party.files import check_target
from party.models.any_file import write_model
from party.settings.transactions import is_of_baskets
from party.show.mining import mined_lines
from party.show.model import shown
from party.show.notices import tell
from party.show.screen import drawing_width, lay_out, say_all
from party.survey import load_survey, read_design
from party.survey.mining import PRUNING_SHARE, hold_out, mine_bayes, mine_tree, pooled
from protocols.errors import InputError
from protocols.terms import NO_SHARE, Growth, Impurity

_MOST_SEED = 2**63 - 1
_OF_SETS = ("itemsets", "rules")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "learner",
        choices=("tree", "bayes", *_OF_SETS),
        help="a decision tree (ID3), naive Bayes, frequent itemsets or association rules; of baskets the last two",
    )
    add_disguised(parser)
    add_design(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="a new file: model.json for `show` and `predict`, or rules.csv",
    )
    add_more_answers(parser, " (tree and bayes)")
    _add_learning(parser)
    _add_sets(parser)
    parser.add_argument("--levels", type=int, metavar="N", help="print no more than N levels of the tree")


def _add_learning(parser: argparse.ArgumentParser) -> None:
    """Declare what trees and naive Bayes take."""
    parser.add_argument("--test", default="0", metavar="SHARE", help="hold out this share, such as 1/5, for testing")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the public split (default: %(default)s)"
    )
    parser.add_argument(
        "--prune", action="store_true", help=f"hold out {PRUNING_SHARE} more and prune the tree by it (tree only)"
    )
    parser.add_argument(
        "--smoothing", type=float, metavar="S", help="added to each estimated count; 1 if not given (bayes only)"
    )
    parser.add_argument("--max-depth", type=int, metavar="D", help="most splits of a path (tree alone)")
    parser.add_argument(
        "--min-leaf", type=int, metavar="N", help="fewest records of a leaf, as estimated, 1 if not given (tree alone)"
    )
    parser.add_argument(
        "--impurity", choices=Impurity.names(), help="what splits are chosen by (tree alone; default: information_gain)"
    )


def _add_sets(parser: argparse.ArgumentParser) -> None:
    """Declare what itemsets and rules take."""
    parser.add_argument("--min-support", metavar="S", help="such as 1/100 (itemsets and rules, and needed)")
    parser.add_argument("--max-len", type=int, metavar="N", help="the most items of a set (itemsets and rules)")
    parser.add_argument("--metric", metavar="NAME", help="of rules, confidence if not given, or lift and others")
    parser.add_argument("--min-threshold", metavar="T", help="of that metric, 0.8 if not given (rules only)")


def run(arguments: argparse.Namespace) -> int:
    """Learn, print and write."""
    of_baskets = is_of_baskets(arguments.design)
    if of_baskets and arguments.learner not in _OF_SETS:
        raise InputError(f"{arguments.learner} is not for baskets: itemsets and rules are")
    _check(arguments)
    if arguments.learner in _OF_SETS:
        return baskets.run_mine(arguments) if of_baskets else baskets.run_mine_columns(arguments)
    questionnaire = read_design(arguments.design)
    frame = read_frame(arguments.disguised, form(arguments))
    tell(frame.notices)
    surveys = [load_survey(frame, questionnaire)]
    surveys += [
        load_survey(read_frame(answers, form(arguments)), read_design(design)) for answers, design in arguments.more
    ]
    share = fraction("--test", arguments.test)
    parts = pooled([hold_out(survey, share, arguments.seed, arguments.prune) for survey in surveys])
    if arguments.learner == "tree":
        mined = mine_tree(parts, _growth(arguments))
    else:
        mined = mine_bayes(parts, 1.0 if arguments.smoothing is None else arguments.smoothing)
    if arguments.output is not None:
        write_model(arguments.output, mined.model)
    width = drawing_width()
    lay_out(shown(mined.model).blocks(mined.model, arguments.levels, mined.doubtful, width), width)
    say_all(mined_lines(mined, parts, questionnaire, arguments.output))
    return 0


def _growth(arguments: argparse.Namespace) -> Growth:
    return Growth(
        max_depth=arguments.max_depth,
        min_leaf=1 if arguments.min_leaf is None else arguments.min_leaf,
        impurity=Impurity(arguments.impurity or Impurity.INFORMATION_GAIN),
        prune=PRUNING_SHARE if arguments.prune else NO_SHARE,
    )


def _check(arguments: argparse.Namespace) -> None:
    """Refuse, before long work, what cannot be done."""
    is_tree = arguments.learner == "tree"
    _check_baskets(arguments)
    given = (arguments.levels, arguments.max_depth, arguments.min_leaf, arguments.impurity)
    if not is_tree and (arguments.prune or any(value is not None for value in given)):
        raise InputError("--prune, --levels, --max-depth, --min-leaf and --impurity are for trees")
    if is_tree and arguments.smoothing is not None:
        raise InputError("--smoothing is for naive Bayes")
    if arguments.levels is not None and arguments.levels < 0:
        raise InputError("--levels must be 0 or more")
    if arguments.more and arguments.learner in _OF_SETS:
        raise InputError("--and is for tree and bayes")
    if not 0 <= arguments.seed <= _MOST_SEED:
        raise InputError(f"--seed must be 0 to {_MOST_SEED}")
    if arguments.output is not None:
        check_target(arguments.output, (arguments.disguised, arguments.design))


def _check_baskets(arguments: argparse.Namespace) -> None:
    is_rules = arguments.learner == "rules"
    if arguments.learner in _OF_SETS and (arguments.min_support is None or arguments.test != "0"):
        raise InputError("itemsets and rules need --min-support, such as 1/100, and hold nothing out by --test")
    if arguments.learner not in _OF_SETS and (arguments.min_support or arguments.max_len is not None):
        raise InputError("--min-support and --max-len are for itemsets and rules")
    if not is_rules and (arguments.metric or arguments.min_threshold):
        raise InputError("--metric and --min-threshold are for rules")
