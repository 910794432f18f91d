"""List the association rules that two parties have found together, or the frequent itemsets.

Supports and confidences are exact unless they are marked: an estimate has an error, and "(?)" where its interval holds
the threshold.

Examples:
  cotally rules bob/model.json --metric lift --min-threshold 1.2
  cotally rules bob/model.json --itemsets -o itemsets.csv
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_json, add_overwrite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", type=Path, metavar="model.json", help="what a run with learner = rules has written")
    parser.add_argument("--itemsets", action="store_true", help="the frequent itemsets in place of rules")
    parser.add_argument("--metric", default="confidence", metavar="NAME", help="confidence, or lift and others")
    parser.add_argument("--min-threshold", default="4/5", metavar="T", help="of that metric (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, metavar="rules.csv", help="a file for all of them")
    add_overwrite(parser)
    add_json(parser)
