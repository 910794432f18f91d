"""What one collector does with a design of answers, and with what was disguised by it."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from party.association.mining import sets_of_columns
from party.cli.arguments import OF_SETS
from party.cli.baskets import say_beside, show_found, thresholds
from party.cli.outputs import form, fraction, give, settle_copy
from party.data import Form, check_table_name, read_frame
from party.keys.coin_secret import new_key
from party.models.any_file import read_model, write_model
from party.names import printable
from party.settings.survey import Questionnaire, need_groups
from party.show import mining
from party.show.audit import audit_lines, audits_json
from party.show.baskets import noisy_lines
from party.show.notices import tell
from party.show.page.drawings import shown
from party.show.privacy_full import after_mining_json, after_mining_lines, findings_json, report_parts, shown_names
from party.show.privacy_short import LIKE_THE_PILOT, LIKE_THESE, Names, certain_lines, reading_json, reading_line
from party.show.progress import shown_drawing
from party.show.screen import columns, drawing_width, lay_out, put_json, say, say_all
from party.survey import disguise_table, estimation, load_survey, read_codes, read_design, read_disguised
from party.survey.mining import Parts, hold_out, mine_bayes, mine_tree, pooled
from protocols.errors import InputError
from protocols.privacy.audit import AuditResult, audit
from protocols.privacy.chernoff import Goal
from protocols.privacy.findings import measure_design
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import keyed_draw
from protocols.randomized_response.sample_size import (
    naive_bayes_sample_size,
    sample_size,
    shares_sample_size,
    tree_sample_size,
)
from protocols.survey.itemsets import column_rules, mine_columns
from protocols.survey.responses import Responses
from protocols.terms import DEPTH, NO_SHARE, PRUNING_SHARE, Growth, Impurity


def answers_estimate(arguments: argparse.Namespace) -> int:
    asked = estimation.EstimateOptions(arguments.confidence, arguments.likelihood)
    samples = read_samples([(arguments.disguised, arguments.design), *arguments.more], form(arguments))
    if arguments.more and arguments.against:
        raise InputError("--against compares two files: combine others by --and, or compare")
    findings = [estimation.estimate_together(samples, text, asked) for text in arguments.expressions]
    content = {"format": "cotally-estimate/1", "records": findings[0].records, "confidence": asked.confidence}
    estimates = [finding.to_json() for finding in findings]
    if arguments.more:
        content |= {"files": len(samples), "estimates": estimates}
        designs = [each.questionnaire for each in samples]
        return give(arguments, content, mining.combined_lines(designs, findings, asked))
    (own,) = samples
    at_random = estimation.random_answers(own.codes, own.questionnaire)
    other = read_samples([arguments.against], form(arguments)) if arguments.against else []
    others = [estimation.estimate_together(other, text, asked) for text in arguments.expressions] if other else []
    content |= {} if at_random is None else {"at_random": estimation.random_json(at_random)}
    content |= {"estimates": estimates}
    content |= {"against": [each.to_json() for each in others]} if others else {}
    lines = mining.estimate_lines(len(own.codes), own.questionnaire, findings, asked, at_random)
    return give(arguments, content, [*lines, *mining.difference_lines(findings, others, asked)])


def read_samples(files: Sequence[tuple[Path, Path]], written: Form) -> list[estimation.AnswerFile]:
    """Read answers, each by its own design; print what may surprise about the first."""
    samples: list[estimation.AnswerFile] = []
    for answers, design in files:
        questionnaire = read_design(design)
        frame = read_frame(answers, written)
        if not samples:
            tell(frame.notices)
        samples.append(estimation.AnswerFile(questionnaire, read_disguised(frame, questionnaire)))
    return samples


def answers_privacy(arguments: argparse.Namespace) -> int:
    questionnaire = read_design(arguments.design)
    codes = None if arguments.prior is None else read_disguised(arguments.prior, questionnaire)
    priors = None if codes is None else estimation.estimated_priors(codes, questionnaire)
    model = None if arguments.model is None else read_model(arguments.model)
    pilot = None if arguments.pilot is None else read_codes(arguments.pilot, questionnaire)
    if pilot is not None:
        read = estimation.pilot_reading(pilot, questionnaire)
    else:
        read = None if codes is None else estimation.likely_reading(codes, questionnaire)
    mined = None if model is None else estimation.mined_privacy(model, questionnaire, codes, priors)
    looked = pilot is not None or codes is not None
    every = Names(questionnaire.names, questionnaire.values, questionnaire.group_names)
    names = every if arguments.json else shown_names(questionnaire)
    found = measure_design(questionnaire.design, names.columns, names.values, priors, names.groups)
    if arguments.json:
        put_json(
            {"format": "cotally-privacy/1"}
            | findings_json(found)
            | ({"read": reading_json(read)} if looked else {})
            | ({} if mined is None else {"after_mining": after_mining_json(mined)})
        )
        return 0
    head = [reading_line(read, LIKE_THESE if pilot is None else LIKE_THE_PILOT)] if looked else []
    after = [] if mined is None else ["", *after_mining_lines(mined, found)]
    lay_out([*head, *report_parts(found, questionnaire, full=arguments.full), *after], columns())
    return 0


def answers_size(arguments: argparse.Namespace) -> int:
    width, confidence = fraction("--half-width", arguments.half_width), arguments.confidence
    questionnaire = read_design(arguments.design)
    design = questionnaire.design
    share = None if arguments.share is None else fraction("--share", arguments.share)
    content: dict[str, object] = {"format": "cotally-sample-size/1"}
    if arguments.expression:
        asked = [estimation.parse_expression(text, questionnaire) for text in arguments.expression]
        sizes = [sample_size(design, each, width, confidence, share) for each in asked]
        enough = [mining.enough_json(found, text) for found, text in zip(sizes, arguments.expression, strict=True)]
        lines = [mining.enough_for(found, each, questionnaire) for each, found in zip(asked, sizes, strict=True)]
    elif questionnaire.class_name is None:
        found = shares_sample_size(design, width, confidence)
        enough, lines = [mining.enough_json(found, "any answer")], mining.enough_for_shares(found)
    else:
        label, depth = len(questionnaire.names) - 1, arguments.depth
        bayes = naive_bayes_sample_size(design, label, width, confidence)
        tree = tree_sample_size(design, label, depth, width, confidence)
        content["depth"] = depth
        enough = [mining.enough_json(bayes, "naive Bayes"), mining.enough_json(tree, "tree")]
        lines = [mining.enough_for_model(bayes, None), mining.enough_for_model(tree, depth)]
    return give(arguments, content | {"enough": enough}, lines)


_FAILED = 1


def answers_audit(arguments: argparse.Namespace) -> int:
    questionnaires = [read_design(path) for path in (arguments.design, *arguments.more)]
    for questionnaire in questionnaires:
        need_groups(questionnaire)
    goal = Goal(arguments.alarm, arguments.power, fraction("--shift", arguments.shift))
    each = replace(goal, alarm=goal.alarm / len(questionnaires))
    results = []
    for questionnaire in questionnaires:
        found = audited(questionnaire, each)
        results.append((str(questionnaire.path), found))
        if not arguments.json:
            if len(questionnaires) > 1:
                say(f"{printable(str(questionnaire.path))}:")
            lay_out(audit_lines(found, shown_names(questionnaire)), columns())
    if arguments.json:
        put_json(audits_json(results))
    return 0 if all(result.passed for _, result in results) else _FAILED


def audited(questionnaire: Questionnaire, goal: Goal) -> AuditResult:
    with shown_drawing(questionnaire.draws) as watch:

        def fresh(records: int) -> Draw:  # from a secret that is forgotten afterwards
            return watch(keyed_draw(new_key(), "audit", list(map(str, range(records)))))

        return audit(questionnaire.design, fresh, goal=goal)


def answers_disguise(arguments: argparse.Namespace) -> int:
    questionnaire = read_design(arguments.design)
    new = settle_copy(arguments, check_table_name)
    frame = read_frame(arguments.data, form(arguments))
    tell(frame.notices)
    personal = None if arguments.personal is None else read_frame(arguments.personal, form(arguments))
    with shown_drawing(questionnaire.draws) as watch:
        table = disguise_table(frame, questionnaire, arguments.secret, arguments.dataset, personal, watch)
    table.write(arguments.output)
    content = mining.copy_json(len(table), arguments.output, table.left_out, new) | {"read": reading_json(table.read)}
    return give(arguments, content, mining.copy_lines(table, questionnaire, arguments.output, new))


def answers_mine(arguments: argparse.Namespace) -> int:
    if arguments.learner in OF_SETS:
        return _mine_columns(arguments)
    questionnaire = read_design(arguments.design)
    frame = read_frame(arguments.disguised, form(arguments))
    tell(frame.notices)
    asked = [questionnaire, *(read_design(design) for _, design in arguments.more)]
    frames = [frame, *(read_frame(answers, form(arguments)) for answers, _ in arguments.more)]
    surveys = list(map(load_survey, frames, asked))
    share = fraction("--test", arguments.test)
    paths = (arguments.disguised, *(answers for answers, _ in arguments.more))
    parts = pooled([_held_out(path, survey, share, arguments) for path, survey in zip(paths, surveys, strict=True)])
    if arguments.learner == "tree":
        mined = mine_tree(parts, _growth(arguments))
    else:
        mined = mine_bayes(parts, 1.0 if arguments.smoothing is None else arguments.smoothing)
    if arguments.output is not None:
        write_model(arguments.output, mined.model)
    each = (estimation.known_answers(survey.codes, design) for survey, design in zip(surveys, asked, strict=True))
    certain = certain_lines([known for found in each for known in found])
    if arguments.json:
        put_json(mining.mined_json(mined, parts, arguments.output))
        say_all(certain, sys.stderr)
        return 0
    lay_out(shown(mined.model).blocks(mined.model, arguments.levels, mined.doubtful), drawing_width())
    say_all([*mining.mined_lines(mined, parts, questionnaire, arguments.output), *certain])
    return 0


def _mine_columns(arguments: argparse.Namespace) -> int:
    support, wanted = thresholds(arguments)
    questionnaire = read_design(arguments.design)
    frame = read_frame(arguments.disguised, form(arguments))
    tell(frame.notices)
    codes = read_disguised(frame, questionnaire)
    mined = mine_columns(codes, questionnaire.design, support, arguments.max_len)
    rules = column_rules(mined) if arguments.learner == "rules" else None
    show_found(arguments, sets_of_columns(mined), rules, estimation.column_names(questionnaire), wanted)
    say_beside(arguments, [*noisy_lines(mined), *certain_lines(estimation.known_answers(codes, questionnaire))])
    return 0


def _held_out(path: Path, survey: Responses, share: Fraction, arguments: argparse.Namespace) -> Parts:
    try:
        return hold_out(survey, share, arguments.seed, arguments.prune)
    except InputError as error:
        if error.field is not None:
            raise
        raise InputError(f"{path}: {error}") from None


def _growth(arguments: argparse.Namespace) -> Growth:
    return Growth(
        max_depth=DEPTH.parse(arguments.max_depth or "any", "max_depth"),
        min_leaf=1 if arguments.min_leaf is None else arguments.min_leaf,
        impurity=Impurity(arguments.impurity or Impurity.INFORMATION_GAIN),
        prune=PRUNING_SHARE if arguments.prune else NO_SHARE,
    )
