"""Learn a decision tree or naive Bayes from disguised answers, and estimate how good it is from disguised answers too.

Counts in brackets are estimates. A split marked "(?)" may be chance, or lead its runner-up by chance:
with other respondents, or other coins, another attribute might stand there.

Examples:
  cotally mine tree disguised.csv design.toml --test 1/5 -o model.json
  cotally mine rules baskets.csv.gz shop.toml --min-support 1/100 -o rules.csv
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_design, add_disguised, add_json, add_more_answers, add_overwrite
from protocols.terms import PRUNING_SHARE, Impurity

OF_SETS = ("itemsets", "rules")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "learner",
        choices=("tree", "bayes", *OF_SETS),
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
    add_overwrite(parser)
    add_more_answers(parser, " (tree and bayes)")
    _add_learning(parser)
    _add_sets(parser)
    parser.add_argument("--levels", type=int, metavar="N", help="print no more than N levels of the tree")
    add_json(parser)


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
