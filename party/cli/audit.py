"""`cotally audit`: check that the disguise follows its design."""

import argparse
from dataclasses import replace

from party.cli import baskets
from party.cli.values import fraction
from party.keys.coin_secret import new_key
from party.names import printable
from party.settings.survey import Questionnaire
from party.settings.transactions import is_of_baskets
from party.show.audit import audit_lines
from party.show.drawing import shown_drawing
from party.show.privacy import shown_names
from party.show.screen import columns, lay_out, say
from party.survey import read_design
from protocols.privacy.audit import audit
from protocols.privacy.goal import Goal
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.design import Draw

_FAILED = 1


def run(arguments: argparse.Namespace) -> int:
    """Audit and tell the verdict."""
    if is_of_baskets(arguments.design):
        return baskets.run_audit(arguments)
    questionnaires = [read_design(path) for path in (arguments.design, *arguments.more)]
    goal = Goal(arguments.alarm, arguments.power, fraction("--shift", arguments.shift))
    each = replace(goal, alarm=goal.alarm / len(questionnaires))
    passed = [_passes(questionnaire, each, named=len(questionnaires) > 1) for questionnaire in questionnaires]
    return 0 if all(passed) else _FAILED


def _passes(questionnaire: Questionnaire, goal: Goal, *, named: bool) -> bool:
    """Audit one design, and tell the verdict under its name."""
    with shown_drawing(questionnaire) as watch:
        result = audit(questionnaire.design, lambda records: watch(fresh_draw(records)), goal=goal)
    if named:
        say(f"{printable(str(questionnaire.path))}:")
    lay_out(audit_lines(result, shown_names(questionnaire)), columns())
    return result.passed


def fresh_draw(records: int) -> Draw:
    """Return draws for this many records from a secret that is forgotten afterwards."""
    return keyed_draw(new_key(), "audit", list(map(str, range(records))))
