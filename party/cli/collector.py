"""One collector's designs and answers: `privacy`, `size`, `audit`, `disguise`, `estimate`."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from party.cli import baskets
from party.cli.outputs import form, fraction, settle_outputs
from party.data import Form, check_table_name, read_frame
from party.demo.survey_example import write_example
from party.errors import ConfigError
from party.files import is_there, resolved
from party.keys.coin_secret import new_key
from party.models.any_file import read_model
from party.names import printable
from party.settings.survey import Questionnaire, need_groups
from party.settings.transactions import is_of_baskets
from party.show.audit import audit_lines, audits_json
from party.show.drawing import shown_drawing
from party.show.estimates import (
    combined_lines,
    difference_lines,
    enough_for,
    enough_for_model,
    enough_for_shares,
    enough_json,
    estimate_lines,
)
from party.show.mining import copy_json, copy_lines, example_lines
from party.show.notices import tell
from party.show.privacy_full import after_mining_lines, report_parts, shown_names
from party.show.privacy_json import after_mining_json, findings_json
from party.show.reading import LIKE_THE_PILOT, LIKE_THESE, reading_json, reading_line
from party.show.screen import columns, lay_out, put_json, say, say_all
from party.survey import disguise_table, read_codes, read_design, read_disguised
from party.survey.estimation import (
    AnswerFile,
    EstimateOptions,
    Finding,
    estimate_together,
    estimated_priors,
    likely_reading,
    mined_privacy,
    parse_expression,
    pilot_reading,
    random_answers,
    random_json,
)
from protocols.errors import InputError
from protocols.privacy.audit import AuditResult, audit
from protocols.privacy.chernoff import Goal
from protocols.privacy.findings import measure_design
from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.design import Draw
from protocols.randomized_response.sample_size import (
    naive_bayes_sample_size,
    sample_size,
    shares_sample_size,
    tree_sample_size,
)

FORMAT = "cotally-estimate/1"


def command_estimate(arguments: argparse.Namespace) -> int:
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
    """Read answers, each by its own design."""
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


PRIVACY_FORMAT = "cotally-privacy/1"


def command_privacy(arguments: argparse.Namespace) -> int:
    if is_of_baskets(arguments.design):
        return baskets.run_privacy(arguments)
    questionnaire = read_design(arguments.design)
    codes = None if arguments.prior is None else read_disguised(arguments.prior, questionnaire)
    priors = None if codes is None else estimated_priors(codes, questionnaire)
    model = None if arguments.model is None else read_model(arguments.model)
    pilot = None if arguments.pilot is None else read_codes(arguments.pilot, questionnaire)
    if pilot is not None:
        read = pilot_reading(pilot, questionnaire)
    else:
        read = None if codes is None else likely_reading(codes, questionnaire)
    mined = None if model is None else mined_privacy(model, questionnaire, codes, priors)
    looked = pilot is not None or codes is not None
    if arguments.json:
        found = measure_design(
            questionnaire.design, questionnaire.names, questionnaire.values, priors, questionnaire.group_names
        )
        content = (
            {"format": PRIVACY_FORMAT}
            | findings_json(found)
            | ({"read": reading_json(read)} if looked else {})
            | ({} if mined is None else {"after_mining": after_mining_json(mined)})
        )
        put_json(content)
        return 0
    shown = shown_names(questionnaire)
    found = measure_design(questionnaire.design, shown.columns, shown.values, priors, shown.groups)
    parts = report_parts(found, questionnaire, full=arguments.full)
    head = [reading_line(read, LIKE_THESE if pilot is None else LIKE_THE_PILOT)] if looked else []
    lay_out([*head, *parts, *([] if mined is None else ["", *after_mining_lines(mined, found)])], columns())
    return 0


SIZE_FORMAT = "cotally-sample-size/1"


def command_size(arguments: argparse.Namespace) -> int:
    width = fraction("--half-width", arguments.half_width)
    if is_of_baskets(arguments.design):
        return baskets.run_size(arguments, width)
    questionnaire = read_design(arguments.design)
    share = None if arguments.share is None else fraction("--share", arguments.share)
    if arguments.expression:
        asked = [parse_expression(text, questionnaire) for text in arguments.expression]
        sizes = [sample_size(questionnaire.design, e, width, arguments.confidence, share) for e in asked]
        if arguments.json:
            told = [enough_json(found, text) for found, text in zip(sizes, arguments.expression, strict=True)]
            put_json({"format": SIZE_FORMAT, "enough": told})
        else:
            say_all([enough_for(found, e, questionnaire) for e, found in zip(asked, sizes, strict=True)])
        return 0
    if questionnaire.class_name is None:
        found = shares_sample_size(questionnaire.design, width, arguments.confidence)
        if arguments.json:
            put_json({"format": SIZE_FORMAT, "enough": [enough_json(found, "any answer")]})
        else:
            say_all(enough_for_shares(found))
        return 0
    label, depth = len(questionnaire.names) - 1, arguments.depth
    bayes = naive_bayes_sample_size(questionnaire.design, label, width, arguments.confidence)
    tree = tree_sample_size(questionnaire.design, label, depth, width, arguments.confidence)
    if arguments.json:
        told = [enough_json(bayes, "naive Bayes"), enough_json(tree, "tree")]
        put_json({"format": SIZE_FORMAT, "depth": depth, "enough": told})
    else:
        say_all([enough_for_model(bayes, None), enough_for_model(tree, depth)])
    return 0


_FAILED = 1


def command_audit(arguments: argparse.Namespace) -> int:
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


def command_disguise(arguments: argparse.Namespace) -> int:
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
    """Write an example to try, and say how."""
    say_all(example_lines(*write_example(folder)))
