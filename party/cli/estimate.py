"""`cotally estimate`: estimate counts from disguised answers."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from party.cli import baskets
from party.cli.values import form
from party.data import Form, read_frame
from party.settings.transactions import is_of_baskets
from party.show.estimates import combined_lines, difference_lines, estimate_lines
from party.show.notices import tell
from party.show.screen import put_json, say_all
from party.survey import read_design, read_disguised
from party.survey.estimation import AnswerFile, EstimateOptions, Finding, estimate_together, random_answers, random_json
from protocols.errors import InputError

FORMAT = "cotally-estimate/1"


def run(arguments: argparse.Namespace) -> int:
    """Estimate and print."""
    if is_of_baskets(arguments.design):
        return baskets.run_estimate(arguments)
    asked = EstimateOptions(arguments.confidence, arguments.likelihood)
    samples = read_samples([(arguments.disguised, arguments.design), *arguments.more], form(arguments))
    findings = [estimate_together(samples, text, asked) for text in arguments.expressions]
    if arguments.more:
        return _combined(arguments, samples, findings, asked)
    (own,) = samples
    at_random = random_answers(own.codes, own.questionnaire)
    others = _others(arguments, asked) if arguments.against else []
    if arguments.json:
        content: dict[str, object] = {"format": FORMAT, "records": len(own.codes), "confidence": asked.confidence}
        content |= {} if at_random is None else {"at_random": random_json(at_random)}
        content["estimates"] = [finding.to_json() for finding in findings]
        content |= {"against": [other.to_json() for other in others]} if others else {}
        put_json(content)
        return 0
    say_all(estimate_lines(len(own.codes), own.questionnaire, findings, asked, at_random))
    say_all(difference_lines(findings, others, asked))
    return 0


def read_samples(files: Sequence[tuple[Path, Path]], written: Form) -> list[AnswerFile]:
    """Read answers, each by its own design.

    Args:
        files: Of answers and of their design; what may surprise is told of the first.
        written: How those of answers are.

    Raises:
        InputError: A file cannot be read, or its answers do not fit its design.
    """
    samples: list[AnswerFile] = []
    for answers, design in files:
        questionnaire = read_design(design)
        frame = read_frame(answers, written)
        if not samples:
            tell(frame.notices)
        samples.append(AnswerFile(questionnaire, read_disguised(frame, questionnaire)))
    return samples


def _combined(
    arguments: argparse.Namespace, samples: Sequence[AnswerFile], together: Sequence[Finding], asked: EstimateOptions
) -> int:
    """Print what several files say together."""
    if arguments.against:
        raise InputError("--against compares two files: combine others by --and, or compare")
    if arguments.json:
        content = {"format": FORMAT, "records": together[0].records, "confidence": asked.confidence}
        content |= {"files": len(samples), "estimates": [finding.to_json() for finding in together]}
        put_json(content)
        return 0
    say_all(combined_lines([each.questionnaire for each in samples], together, asked))
    return 0


def _others(arguments: argparse.Namespace, asked: EstimateOptions) -> list[Finding]:
    """Return what other respondents say of the same expressions."""
    other = read_samples([arguments.against], form(arguments))
    return [estimate_together(other, text, asked) for text in arguments.expressions]
