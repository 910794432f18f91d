"""Check that answers are disguised as the design declares: run the shipped sampler many times, and count.

It needs no data: a few records are disguised again and again, with fresh secret coins made like those of
`cotally disguise`, and the responses are held against their declared chances. Exit code 0 if all fit, 1 if not.
"""

import argparse

from party.cli import baskets
from party.cli.arguments import add_design, fraction
from party.keys.coin_secret import new_key
from party.settings.transactions import is_of_baskets
from party.show.audit import audit_lines
from party.show.drawing import shown_drawing
from party.show.privacy import shown_names
from party.show.screen import columns, lay_out
from party.survey import read_design
from protocols.privacy.audit import DEFAULT_GOAL, Goal, audit
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.design import Draw

_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_design(parser)
    parser.add_argument(
        "--shift",
        default=str(DEFAULT_GOAL.shift),
        metavar="S",
        help="shift of theta, or of the chance to show an item, to be caught (default: %(default)s)",
    )
    parser.add_argument(
        "--alarm", type=float, default=DEFAULT_GOAL.alarm, metavar="P", help="false-alarm rate (default: %(default)s)"
    )
    parser.add_argument(
        "--power", type=float, default=DEFAULT_GOAL.power, metavar="P", help="chance to catch it (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Audit and tell the verdict."""
    if is_of_baskets(arguments.design):
        return baskets.run_audit(arguments)
    questionnaire = read_design(arguments.design)
    goal = Goal(arguments.alarm, arguments.power, fraction("--shift", arguments.shift))
    with shown_drawing(questionnaire) as watch:
        result = audit(questionnaire.design, lambda records: watch(fresh_draw(records)), goal=goal)
    lay_out(audit_lines(result, shown_names(questionnaire)), columns())
    return 0 if result.passed else _FAILED


def fresh_draw(records: int) -> Draw:
    """Return draws for this many records from a secret that is forgotten afterwards."""
    return keyed_draw(new_key(), "audit", list(map(str, range(records))))
