"""`cotally estimate`: estimate counts from disguised answers."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from party.cli import baskets
from party.cli.values import form
from party.data import read_frame
from party.settings.survey import Questionnaire
from party.settings.transactions import is_of_baskets
from party.show.estimates import combined_lines, difference_lines, estimate_lines
from party.show.notices import tell
from party.show.screen import put, say_all
from party.survey import read_design, read_disguised
from party.survey.estimation import (
    EstimateOptions,
    Finding,
    combine_findings,
    estimate_expression,
    random_answers,
    random_json,
)
from party.survey.expressions import parse_expression
from protocols.errors import InputError

FORMAT = "cotally-estimate/1"


def run(arguments: argparse.Namespace) -> int:
    """Estimate and print."""
    if is_of_baskets(arguments.design):
        return baskets.run_estimate(arguments)
    asked = EstimateOptions(arguments.confidence, arguments.likelihood)
    questionnaire = read_design(arguments.design)
    expressions = [parse_expression(text, questionnaire) for text in arguments.expressions]
    frame = read_frame(arguments.disguised, form(arguments))
    tell(frame.notices)
    codes = read_disguised(frame, questionnaire)
    findings = [estimate_expression(codes, expression, questionnaire, asked) for expression in expressions]
    if arguments.more:
        return _combined(arguments, questionnaire, findings, asked)
    at_random = random_answers(codes, questionnaire)
    others = _others(arguments, asked) if arguments.against else []
    if arguments.json:
        content: dict[str, object] = {"format": FORMAT, "records": len(codes), "confidence": asked.confidence}
        content |= {} if at_random is None else {"at_random": random_json(at_random)}
        content["estimates"] = [finding.to_json() for finding in findings]
        content |= {"against": [other.to_json() for other in others]} if others else {}
        put(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    say_all(estimate_lines(len(codes), questionnaire, findings, asked, at_random))
    say_all(difference_lines(findings, others, asked))
    return 0


def _combined(
    arguments: argparse.Namespace, questionnaire: Questionnaire, findings: Sequence[Finding], asked: EstimateOptions
) -> int:
    """Estimate from several files together, and print."""
    if arguments.against:
        raise InputError("--against compares two files: combine others by --and, or compare")
    questionnaires, samples = [questionnaire], [findings]
    for answers, design in arguments.more:
        questionnaires.append(read_design(design))
        samples.append(_found(arguments, answers, questionnaires[-1], asked))
    together = [combine_findings(each, questionnaires, asked) for each in zip(*samples, strict=True)]
    if arguments.json:
        content = {"format": FORMAT, "records": together[0].records, "confidence": asked.confidence}
        content |= {"files": len(samples), "estimates": [finding.to_json() for finding in together]}
        put(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    say_all(combined_lines(questionnaires, together, asked))
    return 0


def _others(arguments: argparse.Namespace, asked: EstimateOptions) -> list[Finding]:
    """Return what other respondents say of the same expressions."""
    answers, design = arguments.against
    return _found(arguments, answers, read_design(design), asked)


def _found(
    arguments: argparse.Namespace, answers: Path, questionnaire: Questionnaire, asked: EstimateOptions
) -> list[Finding]:
    codes = read_disguised(read_frame(answers, form(arguments)), questionnaire)
    expressions = [parse_expression(text, questionnaire) for text in arguments.expressions]
    return [estimate_expression(codes, expression, questionnaire, asked) for expression in expressions]
