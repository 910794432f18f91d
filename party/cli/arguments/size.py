"""Tell how many respondents a survey needs, before there are any: for intervals of a wanted half-width.

With --expression it plans for that share's interval. Without it, for every share that naive Bayes, or a tree of the
given depth, may use; of a design without a class, for the share of any answer. The number is always sufficient, and may
be generous.

Examples:
  cotally size design.toml --half-width 0.02
  cotally size design.toml --expression 'smoker = yes' --half-width 0.02 --share 0.3
"""

import argparse

from party.cli.arguments.common import add_design, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument(
        "--expression",
        action="append",
        default=[],
        metavar="EXPRESSION",
        help="such as 'smoker = yes and sex = f', of baskets 'bread, milk'; may be repeated",
    )
    parser.add_argument("--half-width", required=True, metavar="W", help="half-width of the intervals, such as 0.02")
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        metavar="C",
        help="confidence that all intervals hold (default: %(default)s)",
    )
    parser.add_argument("--share", metavar="P", help="rough share of an expression, if known (default: the worst case)")
    parser.add_argument("--depth", type=int, default=3, metavar="N", help="depth of the tree (default: %(default)s)")
    add_json(parser)
