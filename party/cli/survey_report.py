"""What `cotally report` does with disguised answers and with disguised baskets, and with their designs."""

import argparse
from dataclasses import replace
from fractions import Fraction
from hashlib import file_digest
from pathlib import Path

from party.association import mining
from party.association.estimation import estimate_itemset, parse_itemset
from party.association.sent import read_sent
from party.cli.answers import audited, read_samples
from party.cli.baskets import fresh_words, thresholds
from party.cli.outputs import form, fraction
from party.models.any_file import read_model
from party.names import printable
from party.settings.transactions import is_of_baskets, read_basket_design
from party.show.baskets import cut_short_lines
from party.show.document import Document
from party.show.page import survey_page as pages
from party.show.privacy_full import shown_names
from party.show.progress import shown_candidates
from party.survey import estimation
from protocols.association.apriori import mine_itemsets
from protocols.association.audit import audit_operators
from protocols.association.findings import measure_transactions
from protocols.association.rules import MinedRules, mine_rules
from protocols.errors import InputError
from protocols.learning.model import Model
from protocols.privacy.chernoff import DEFAULT_GOAL, Goal
from protocols.privacy.findings import measure_design
from protocols.survey.inference import RuleSet, association_sets
from protocols.survey.itemsets import column_rules, mine_columns

_CONFIDENCE = 0.95
_SHIFT = Fraction(1, 20)  # 1/100, as `cotally audit` has it, takes 25 times as long: minutes where questions are many


def survey_page(arguments: argparse.Namespace) -> tuple[Document, bool]:
    if arguments.costs is not None:
        raise InputError("--costs is for the report of a run: leave it out")
    if str(arguments.party) == "-":
        raise InputError("a report shows the digests of its files: name a file, not the standard input")
    if arguments.min_support is None and (arguments.max_len is not None or arguments.min_threshold):
        raise InputError("--max-len and --min-threshold bound rules: add --min-support, such as 1/100")
    if arguments.more and arguments.min_support is not None:
        raise InputError("itemsets and rules are of one file: leave --min-support out, or --and")
    if is_of_baskets(arguments.design):
        baskets = baskets_told(arguments)
        return pages.page_of_baskets(baskets), baskets.audited.passed
    asked = survey_told(arguments)
    return pages.page_of_survey(asked), all(each.audited.passed for each in asked.files)


def survey_told(arguments: argparse.Namespace) -> pages.SurveyTold:
    options = estimation.EstimateOptions(_confidence(arguments))
    paths = [(arguments.party, arguments.design), *arguments.more]
    samples = read_samples(paths, form(arguments))
    model = None if arguments.model is None else read_model(arguments.model)
    found, rules = _found(arguments, samples[0])
    goal = _goal(arguments, len(samples))
    asked = [estimation.estimate_together(samples, text, options) for text in arguments.ask]
    return pages.SurveyTold(
        files=[_file(each, a, d, model, rules, goal) for each, (a, d) in zip(samples, paths, strict=True)],
        options=options,
        columns=estimation.column_shares(samples, options),
        asked=asked,
        model=model,
        levels=arguments.levels,
        found=found,
    )


def _file(
    sample: estimation.AnswerFile, answers: Path, design: Path, model: Model | None, rules: list[RuleSet], goal: Goal
) -> pages.AskedFile:
    asked, codes = sample.questionnaire, sample.codes
    priors = estimation.estimated_priors(codes, asked)
    names = shown_names(asked)
    complete = codes[asked.design.answered(codes, range(len(asked.names)))]
    return pages.AskedFile(
        sample=sample,
        answers=_digested(answers),
        design=_digested(design),
        found=measure_design(asked.design, names.columns, names.values, priors, names.groups),
        read=estimation.likely_reading(codes, asked),
        audited=audited(asked, goal),
        at_random=estimation.random_answers(codes, asked),
        mined=None if model is None else estimation.mined_privacy(model, asked, codes, priors),
        ruled=estimation.rules_privacy(rules, asked, complete, priors) if rules else None,
    )


def _found(
    arguments: argparse.Namespace, sample: estimation.AnswerFile
) -> tuple[pages.FoundInColumns | None, list[RuleSet]]:
    """Return itemsets and rules over the columns, and those rules that name a class; none if there is no class."""
    if arguments.min_support is None:
        return None, []
    support, wanted = thresholds(arguments)
    asked = sample.questionnaire
    mined = mine_columns(sample.codes, asked.design, support, arguments.max_len)
    rules = column_rules(mined)
    names = [printable(name) for name in estimation.column_names(asked)]
    reached = rules.reached(wanted.metric, wanted.least).tolist()
    kept = replace(rules, rules=tuple(rule for rule, fits in zip(rules.rules, reached, strict=True) if fits))
    sets = [] if asked.class_name is None else list(association_sets(kept, asked.design))
    return _shown(mining.sets_of_columns(mined), rules, names, wanted, _confidence(arguments)), sets


def _goal(arguments: argparse.Namespace, audits: int) -> Goal:
    """Return what each of this many audits promises: together they have one rate of false alarms."""
    shift = _SHIFT if arguments.shift is None else fraction("--shift", arguments.shift)
    return replace(DEFAULT_GOAL, alarm=DEFAULT_GOAL.alarm / audits, shift=shift)


def _shown(
    found: mining.FoundSets, rules: MinedRules, names: list[str], wanted: mining.RuleThreshold, confidence: float
) -> pages.FoundInColumns:
    columns = mining.rule_columns(rules, names, confidence, wanted)
    return pages.FoundInColumns(found, mining.itemset_columns(found, names, confidence), columns, rules.undefined)


def baskets_told(arguments: argparse.Namespace) -> pages.BasketsTold:
    if arguments.model is not None or arguments.levels is not None or arguments.more:
        raise InputError("--model, --levels and --and are not for baskets: leave them out")
    if arguments.min_support is None and not arguments.ask:
        raise InputError("of baskets, say what to show: --min-support, such as 1/100, or --ask 'bread, milk'")
    declared = read_basket_design(arguments.design)
    asked = [parse_itemset(text, declared) for text in arguments.ask]
    sent, confidence = read_sent(arguments.party, declared), _confidence(arguments)
    found, unsought = None, list[str]()
    if arguments.min_support is not None:
        support, wanted = thresholds(arguments)
        with shown_candidates() as watch:
            mined = mine_itemsets(sent, declared.design, support, arguments.max_len, watch)
        names = list(map(printable, declared.items))
        found = _shown(mining.sets_of_baskets(mined), mine_rules(mined), names, wanted, confidence)
        unsought = list(cut_short_lines(mined))
    return pages.BasketsTold(
        sent=sent,
        baskets=_digested(arguments.party),
        declared=declared,
        design=_digested(arguments.design),
        confidence=confidence,
        asked=[estimate_itemset(sent, itemset, declared, confidence) for itemset in asked],
        found=found,
        unsought=unsought,
        disclosed=measure_transactions(declared.design, declared.supports, declared.level),
        audited=audit_operators(declared.design, fresh_words, goal=_goal(arguments, 1)),
    )


def _confidence(arguments: argparse.Namespace) -> float:
    return _CONFIDENCE if arguments.confidence is None else float(arguments.confidence)


def _digested(path: Path) -> tuple[str, str]:
    with path.open("rb") as file:
        return printable(str(path)), file_digest(file, "sha256").hexdigest()
