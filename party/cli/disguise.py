"""Disguise a table of true answers as a design declares: what may then be given to a collector.

The secret file is made on first use and belongs to one data set in one disguise: the same call gives the same copy
again, byte for byte; another design or other data under the same secret are refused, since two copies together show
more than either. Keep it, and keep a backup. Columns that the design does not name are left out.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from party.cli import baskets
from party.cli.arguments import add_design, add_form, form
from party.data import read_frame
from party.demo.survey_example import write_example
from party.errors import ConfigError
from party.files import is_there, resolved
from party.settings.transactions import is_of_baskets
from party.show.copies import copy_lines, example_lines
from party.show.drawing import shown_drawing
from party.show.notices import tell
from party.show.screen import say_all
from party.survey import disguise_table, read_design
from party.survey.output import check_output, write_disguised


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
        data, design = write_example(Path(str(values)))
        say_all(example_lines(data, design))
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
    parser.add_argument("--secret", type=Path, required=True, metavar="FILE", help="made on first use; keep it secret")
    parser.add_argument("--dataset", metavar="NAME", help="noted in a new secret file (default: the data file's name)")
    parser.add_argument(
        "--personal",
        type=Path,
        metavar="personal.csv",
        help="unrelated question: the personal answers, by the same ids (default: drawn as the design says)",
    )
    parser.add_argument("--example", action=_Example, metavar="DIR", help="write an example to try, and exit")


def run(arguments: argparse.Namespace) -> int:
    """Disguise, write, and say what was made."""
    if is_of_baskets(arguments.design):
        return baskets.run_disguise(arguments)
    given = (arguments.data, arguments.design, arguments.personal)
    read = [path for path in given if path is not None]
    if resolved(arguments.secret) in map(resolved, read):
        raise ConfigError(f"{arguments.secret} is another file of this command: name a --secret file of its own")
    questionnaire = read_design(arguments.design)
    check_output(arguments.output, questionnaire, (*read, arguments.secret))
    made = not is_there(arguments.secret)
    if made and is_there(arguments.output):
        raise ConfigError(
            f"{arguments.output} is there and {arguments.secret} is not: a second copy with new coins would undo the "
            "first; name the secret that the first was made with, or another output"
        )
    frame = read_frame(arguments.data, form(arguments))
    tell(frame.notices)
    personal = None if arguments.personal is None else read_frame(arguments.personal, form(arguments))
    with shown_drawing(questionnaire) as watch:
        table = disguise_table(frame, questionnaire, arguments.secret, arguments.dataset, personal, watch)
    write_disguised(arguments.output, table)
    say_all(copy_lines(table, questionnaire, arguments.output, arguments.secret if made else None))
    return 0
