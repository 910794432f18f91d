"""Write a finished run as one HTML file: the tree drawn, what it is worth, what each side learned, how to compare it.

A file whose name ends in .md is written as Markdown, for a ticket, with the tree as text. The HTML file asks for no
other and runs no script. Both hold what `show`, `ledger show` and `privacy` print of this party's side, and no cell of
a table; the costs of the run are in them if `--costs` names the report that `train --report` wrote, or if that is
report.json beside the settings.
"""

import argparse
from pathlib import Path

from party.cli.arguments.common import add_overwrite, add_party


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_party(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="report.html", help="where the page goes; .md for Markdown"
    )
    parser.add_argument("--model", type=Path, help="the tree (default: model.json beside party.toml)")
    parser.add_argument(
        "--costs", type=Path, metavar="report.json", help="what the run cost, as `train --report` wrote it"
    )
    parser.add_argument("--levels", type=int, metavar="N", help="draw N levels of the tree (default: as many as fit)")
    add_overwrite(parser)
