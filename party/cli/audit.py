"""`cotally audit`: check that the disguise follows its design."""

import argparse
from dataclasses import replace

from party.cli import baskets
from party.cli.values import fraction
from party.keys.coin_secret import new_key
from party.names import printable
from party.settings.survey import Questionnaire, need_groups
from party.settings.transactions import is_of_baskets
from party.show.audit import audit_lines, audits_json
from party.show.drawing import shown_drawing
from party.show.privacy import shown_names
from party.show.screen import columns, lay_out, put_json, say
from party.survey import read_design
from protocols.privacy.audit import AuditResult, audit
from protocols.privacy.chernoff import Goal
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.design import Draw

_FAILED = 1


def run(arguments: argparse.Namespace) -> int:
    """Audit and tell the verdict."""
    if is_of_baskets(arguments.design):
        return baskets.run_audit(arguments)
    questionnaires = [read_design(path) for path in (arguments.design, *arguments.more)]
    for questionnaire in questionnaires:
        need_groups(questionnaire)
    goal = Goal(arguments.alarm, arguments.power, fraction("--shift", arguments.shift))
    each = replace(goal, alarm=goal.alarm / len(questionnaires))
    results = []
    for questionnaire in questionnaires:
        results.append((str(questionnaire.path), _audited(questionnaire, each)))
        if not arguments.json:
            _tell(questionnaire, results[-1][1], named=len(questionnaires) > 1)
    if arguments.json:
        put_json(audits_json(results))
    return 0 if all(result.passed for _, result in results) else _FAILED


def _audited(questionnaire: Questionnaire, goal: Goal) -> AuditResult:
    with shown_drawing(questionnaire) as watch:
        return audit(questionnaire.design, lambda records: watch(fresh_draw(records)), goal=goal)


def _tell(questionnaire: Questionnaire, result: AuditResult, *, named: bool) -> None:
    """Tell the verdict on one design, under its name."""
    if named:
        say(f"{printable(str(questionnaire.path))}:")
    lay_out(audit_lines(result, shown_names(questionnaire)), columns())


def fresh_draw(records: int) -> Draw:
    """Return draws for this many records from a secret that is forgotten afterwards."""
    return keyed_draw(new_key(), "audit", list(map(str, range(records))))
