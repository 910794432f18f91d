"""Write a finished run, a survey or disguised baskets as one HTML file, or as Markdown if its name ends in .md.

Of a run: the model drawn, what it is worth, what each side learned, how to compare it; what `show`, `ledger show` and
`privacy` print of this party's side, and no cell of a table. The costs of the run are in it if `--costs` names the
report that `train --report` wrote, or if that is report.json beside the settings.

Of a survey: shares of all columns with intervals, what was learned, what a response discloses, before and after mining
and to who knows personal answers, and an audit of the sampler. Of baskets: supports with intervals, itemsets and rules,
breaches, the audit. The HTML file asks for no other and runs no script.

Examples:
  cotally report bob -o report.html
  cotally report bob --levels 3 -o report.md
  cotally report disguised.csv design.toml -o survey.html --ask 'smoker = yes and sex = f'
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_form, add_more_answers, add_overwrite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "party",
        type=Path,
        metavar="PARTY|disguised.csv",
        help="of a run, this party: its folder, its party.toml, or its name; of a survey, the disguised answers",
    )
    parser.add_argument(
        "design", type=Path, nargs="?", metavar="design.toml", help="what was asked and how it was disguised"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="report.html", help="where the page goes; .md for Markdown"
    )
    parser.add_argument("--model", type=Path, help="the model (default: model.json of the party), or what was mined")
    parser.add_argument(
        "--costs", type=Path, metavar="report.json", help="what the run cost, as `train --report` wrote it (runs only)"
    )
    parser.add_argument("--levels", type=int, metavar="N", help="draw N levels of a tree, or sets of N items at most")
    add_overwrite(parser)
    _add_survey(parser)


def _add_survey(parser: argparse.ArgumentParser) -> None:
    """Declare what there is to say of answers and baskets."""
    parser.add_argument(
        "--ask",
        action="append",
        default=[],
        metavar="EXPRESSION",
        help="estimate this too, such as 'smoker = yes and sex = f'; of baskets, items: 'bread, milk'; may be repeated",
    )
    parser.add_argument("--confidence", type=float, metavar="C", help="confidence of the intervals, 0.95 if not given")
    parser.add_argument("--min-support", metavar="S", help="look for itemsets and rules of this support, such as 1/100")
    parser.add_argument("--max-len", type=int, metavar="N", help="the most items of a set")
    parser.add_argument("--min-threshold", metavar="T", help="least confidence of a rule, 4/5 if not given")
    parser.add_argument(
        "--shift", metavar="S", help="shift of theta that the audit must catch, 1/20 if not given; larger is faster"
    )
    add_more_answers(parser)
    add_form(parser)
