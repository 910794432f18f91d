"""What each command's help says and which arguments it takes: by a function each, in a module per family.

The function's docstring is the help, whose examples stand at the end. No module here imports what the work needs, so
that help and mistakes are answered at once.
"""

import argparse
from pathlib import Path
from typing import Any

from party.settings.place import CONFIG_FILE
from party.show.progress import PROGRESS_STYLES

OF_SETS = ("itemsets", "rules")
"""What is mined of sets of items, not of records."""


def add_party(parser: argparse.ArgumentParser, *, here: bool = False) -> None:
    usual: dict[str, Any] = {"nargs": "?", "default": Path(CONFIG_FILE)} if here else {}
    said = "this party: its folder, its party.toml, or its name" + " (default: the one here)" * here
    parser.add_argument("party", type=Path, metavar="PARTY", help=said, **usual)


def add_work(parser: argparse.ArgumentParser) -> None:
    add_progress(parser)
    parser.add_argument("--workers", type=int, metavar="N", help="compute in N processes here, whatever [compute] says")


def add_progress(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--progress", choices=PROGRESS_STYLES, default="auto", help="how progress is shown")


def add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, help="where the model goes (default: model.json in the party's folder)")
    parser.add_argument("--report", type=Path, help="where the costs of the run go, as JSON")
    add_overwrite(parser)
    add_work(parser)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace an output that is there already")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_each(parser: argparse.ArgumentParser, option: str, said: str, **how: Any) -> None:
    """Add an option that may be repeated."""
    parser.add_argument(option, action="append", default=[], help=f"{said}; may be repeated", **how)


def add_confidence(parser: argparse.ArgumentParser, of: str = "confidence of the intervals") -> None:
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help=f"{of} (default: %(default)s)")


def add_disguised(parser: argparse.ArgumentParser) -> None:
    said = "disguised answers, CSV or Parquet; - for the standard input"
    parser.add_argument("disguised", type=Path, metavar="disguised.csv", help=said)
    add_form(parser)


def add_design(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("design", type=Path, metavar="design.toml", help="what was asked and how it was disguised")


def add_form(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--separator", metavar="C", help="character between columns (default: detected)")
    add("--encoding", metavar="NAME", help="such as cp1252 or utf-16 (default: detected)")
    add("--decimal", metavar="C", help="what begins a fraction, . or ,; then the other groups thousands (default: .)")
    add(
        "--missing",
        action="append",
        metavar="TEXT",
        help="means a missing cell, as an empty cell always does; may be repeated (default: ?, -, NA, NaN, null, ...)",
    )


def add_more_answers(parser: argparse.ArgumentParser, of: str = "") -> None:
    said = f"further answers and their own design, over the same columns, to be combined{of}"
    add_each(parser, "--and", said, dest="more", nargs=2, type=Path, metavar="FILE")
