"""Estimate counts and shares from disguised answers, with standard errors and intervals.

An expression is a conjunction: `smoker = yes and age = "> 40"`. The error of a count is that of the coins, the
respondents being who they are; the error and the interval of a share are those of respondents drawn from a population.
Several files of answers, each with a design of its own, are combined by `--and`: counts add up, shares are weighted.
Of baskets one asks for itemsets; the errors of their supports are those of the coins.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from party.cli import baskets
from party.cli.arguments import add_design, add_disguised, add_more_answers, form
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_disguised(parser)
    add_design(parser)
    parser.add_argument(
        "expressions",
        nargs="+",
        metavar="EXPRESSION",
        help="such as 'smoker = yes and sex = f'; of baskets, items: 'bread, milk'",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="C", help="confidence of the intervals (default: %(default)s)"
    )
    parser.add_argument(
        "--likelihood",
        action="store_true",
        help="also show the most likely joint distribution of an expression's columns",
    )
    add_more_answers(parser)
    parser.add_argument(
        "--against",
        nargs=2,
        type=Path,
        metavar="FILE",
        help="answers of other respondents and their design, such as an arm that was asked directly: tell differences",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


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
