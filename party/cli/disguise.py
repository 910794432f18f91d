"""`cotally disguise`: disguise a table of answers, or baskets, for a collector."""

import argparse
from pathlib import Path

from party.cli import baskets
from party.cli.outputs import settle_outputs
from party.cli.values import form
from party.data import check_table_name, read_frame
from party.demo.survey_example import write_example
from party.errors import ConfigError
from party.files import is_there, resolved
from party.settings.transactions import is_of_baskets
from party.show.copies import copy_json, copy_lines, example_lines
from party.show.drawing import shown_drawing
from party.show.notices import tell
from party.show.reading import reading_json
from party.show.screen import put_json, say_all
from party.survey import disguise_table, read_design


def run(arguments: argparse.Namespace) -> int:
    """Disguise, write, and say what was made."""
    if is_of_baskets(arguments.design):
        return baskets.run_disguise(arguments)
    given = (arguments.data, arguments.design, arguments.personal)
    read = [path for path in given if path is not None]
    if resolved(arguments.secret) in map(resolved, read):
        raise ConfigError(f"{arguments.secret} is another file of this command: name a --secret file of its own")
    questionnaire = read_design(arguments.design)
    made = not is_there(arguments.secret)
    if made and is_there(arguments.output):
        raise ConfigError(
            f"{arguments.output} is there and {arguments.secret} is not: a second copy with new coins would undo the "
            "first; name the secret that the first was made with, or another output"
        )
    settle_outputs([arguments.output], [*read, arguments.secret], overwrite=arguments.overwrite)
    check_table_name(arguments.output)
    frame = read_frame(arguments.data, form(arguments))
    tell(frame.notices)
    personal = None if arguments.personal is None else read_frame(arguments.personal, form(arguments))
    with shown_drawing(questionnaire) as watch:
        table = disguise_table(frame, questionnaire, arguments.secret, arguments.dataset, personal, watch)
    table.write(arguments.output)
    new = arguments.secret if made else None
    if arguments.json:
        made_json = copy_json(len(table), arguments.output, table.left_out, new)
        put_json({**made_json, "read": reading_json(table.read)})
    else:
        say_all(copy_lines(table, questionnaire, arguments.output, new))
    return 0


def give_example(folder: Path) -> None:
    """Write an example to try, and say how.

    Raises:
        InputError: It cannot be written.
    """
    say_all(example_lines(*write_example(folder)))
