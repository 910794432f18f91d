"""Disguise a table of true answers as a design declares: what may then be given to a collector.

The secret file is made on first use and belongs to one data set in one disguise: the same call gives the same copy
again, byte for byte; another design or other data under the same secret are refused, since two copies together show
more than either. Keep it, and keep a backup. Columns that the design does not name are left out.

Examples:
  cotally disguise --example survey
  cotally disguise survey/data.csv survey/design.toml -o disguised.csv --secret survey.key
"""

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from party.cli.arguments.common import add_design, add_form, add_json, add_overwrite


class _Example(argparse.Action):
    """Write the example and end, as `--help` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, option_string
        import_module("party.cli.disguise").give_example(Path(str(values)))
        parser.exit()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "data", type=Path, metavar="data.csv", help="true answers, or baskets; - for the standard input"
    )
    add_design(parser)
    add_form(parser)
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="disguised.csv", help="the copy; or .parquet, or .csv.gz"
    )
    add_overwrite(parser)
    parser.add_argument("--secret", type=Path, required=True, metavar="FILE", help="made on first use; keep it secret")
    parser.add_argument("--dataset", metavar="NAME", help="noted in a new secret file (default: the data file's name)")
    parser.add_argument(
        "--personal",
        type=Path,
        metavar="personal.csv",
        help="unrelated question: the personal answers, by the same ids (default: drawn as the design says)",
    )
    parser.add_argument("--example", action=_Example, metavar="DIR", help="write an example to try, and exit")
    add_json(parser)
