"""Estimate counts and shares from disguised answers, with standard errors and intervals.

An expression is a conjunction: `smoker = yes and age = "> 40"`. The error of a count is that of the coins, the
respondents being who they are; the error and the interval of a share are those of respondents drawn from a population.
Several files of answers, each with a design of its own, are combined by `--and`, each weighed by its precision.
Of baskets one asks for itemsets; the errors of their supports are those of the coins.

Examples:
  cotally estimate disguised.csv design.toml 'smoker = yes' 'smoker = yes and sex = f'
  cotally estimate baskets.csv.gz shop.toml 'bread, milk'
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_design, add_disguised, add_json, add_more_answers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_disguised(parser)
    add_design(parser)
    parser.add_argument(
        "expressions",
        nargs="+",
        metavar="EXPRESSION",
        help="such as 'smoker = yes and sex = f'; of baskets, items: 'bread, milk'",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="confidence of the intervals (default: %(default)s)"
    )
    parser.add_argument(
        "--likelihood",
        action="store_true",
        help="also show the most likely joint distribution of an expression's columns",
    )
    add_more_answers(parser)
    parser.add_argument(
        "--against",
        nargs=2,
        type=Path,
        metavar="FILE",
        help="answers of other respondents and their design, such as an arm that was asked directly: tell differences",
    )
    add_json(parser)
