"""What the collector's commands do with a design of transactions: the same commands, other data."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction

from party.association import mining
from party.association.estimation import baskets_needed, estimate_itemset, parse_itemset
from party.association.files import read_baskets
from party.association.sent import check_sent_name, disguise_baskets, read_sent, write_sent
from party.cli.outputs import form, fraction, give, settle_copy
from party.keys.coin_secret import new_key
from party.settings.transactions import read_basket_design
from party.show import baskets as words
from party.show.audit import audit_lines, audits_json
from party.show.mining import copy_json
from party.show.progress import Work, shown_candidates, shown_work
from party.show.screen import drawing_width, lay_out, put_json, say_all
from party.survey.mining import CONFIDENCE
from protocols.association.apriori import mine_itemsets
from protocols.association.audit import audit_operators
from protocols.association.findings import find_exceeding, measure_transactions
from protocols.association.rules import MinedRules, mine_rules
from protocols.association.sampling import Words, keyed_words
from protocols.errors import InputError
from protocols.privacy.chernoff import Goal

_FAILED = 1


def baskets_disguise(arguments: argparse.Namespace) -> int:
    if arguments.personal is not None:
        raise InputError("--personal is for answers to the unrelated question: leave it out")
    design = read_basket_design(arguments.design)
    new = settle_copy(arguments, check_sent_name)
    baskets = read_baskets(arguments.data, design, form(arguments))
    say_all(words.repeating_lines(baskets), sys.stderr)
    say_all(words.exceeding_lines(find_exceeding(baskets.transactions, design.supports), design), sys.stderr)
    with shown_work(Work.DRAWING) as watch:
        sent = disguise_baskets(baskets, design, arguments.secret, arguments.dataset, watch=watch)
    write_sent(arguments.output, sent, design)
    content = copy_json(len(sent), arguments.output, (), new)
    return give(arguments, content, words.basket_copy_lines(sent, design, arguments.output, new))


def baskets_estimate(arguments: argparse.Namespace) -> int:
    if arguments.likelihood:
        raise InputError("--likelihood is for answers of a survey: leave it out")
    design = read_basket_design(arguments.design)
    asked = [parse_itemset(text, design) for text in arguments.expressions]
    sent = read_sent(arguments.disguised, design)
    found = [estimate_itemset(sent, itemset, design, arguments.confidence) for itemset in asked]
    content = {"format": "cotally-supports/1", "baskets": len(sent), "confidence": arguments.confidence}
    content |= {"supports": [finding.to_json() for finding in found]}
    return give(arguments, content, words.support_lines(len(sent), design, found, arguments.confidence))


def baskets_mine(arguments: argparse.Namespace) -> int:
    support, wanted = thresholds(arguments)
    design = read_basket_design(arguments.design)
    sent = read_sent(arguments.disguised, design)
    with shown_candidates() as watch:
        mined = mine_itemsets(sent, design.design, support, arguments.max_len, watch)
    rules = mine_rules(mined) if arguments.learner == "rules" else None
    show_found(arguments, mining.sets_of_baskets(mined), rules, design.items, wanted)
    say_beside(arguments, words.cut_short_lines(mined))
    return 0


def thresholds(arguments: argparse.Namespace) -> tuple[Fraction, mining.RuleThreshold]:
    """Read the least support, and what rules must reach; a report has no --metric."""
    least = fraction("--min-threshold", arguments.min_threshold or "4/5")
    metric = getattr(arguments, "metric", None) or "confidence"
    return fraction("--min-support", arguments.min_support), mining.RuleThreshold(metric, least)


def show_found(
    arguments: argparse.Namespace,
    found: mining.FoundSets,
    rules: MinedRules | None,
    items: Sequence[str],
    wanted: mining.RuleThreshold,
) -> None:
    result, as_json, parts = mining.itemset_columns(found, items, CONFIDENCE), words.sets_json, words.itemset_parts
    if rules is not None:
        result = mining.rule_columns(rules, items, CONFIDENCE, wanted)
        as_json, parts = words.rules_json, words.rule_parts
    if arguments.output is not None:
        mining.write_result(arguments.output, result)
    if arguments.json:
        put_json(as_json(result))
        return
    lay_out(parts(result), drawing_width())
    say_all(words.found_lines(found, result, 0 if rules is None else rules.undefined, arguments.output))


def say_beside(arguments: argparse.Namespace, lines: Iterable[str]) -> None:
    say_all(lines, sys.stderr if arguments.json else None)


def baskets_privacy(arguments: argparse.Namespace) -> int:
    if arguments.prior is not None or arguments.full:
        raise InputError(
            "--prior and --full are for surveys: leave them out; the design bounds supports by its key supports"
        )
    design = read_basket_design(arguments.design)
    found = measure_transactions(design.design, design.supports, design.level)
    return give(arguments, words.basket_findings_json(found), words.basket_privacy_parts(found), laid_out=True)


def baskets_audit(arguments: argparse.Namespace) -> int:
    design = read_basket_design(arguments.design)
    goal = Goal(arguments.alarm, arguments.power, fraction("--shift", arguments.shift))
    result = audit_operators(design.design, fresh_words, goal=goal)
    give(arguments, audits_json([(str(arguments.design), result)]), audit_lines(result), laid_out=True)
    return 0 if result.passed else _FAILED


def fresh_words(records: int) -> Words:
    """Return chance for this many baskets from a secret that is forgotten afterwards."""
    return keyed_words(new_key(), "audit", list(map(str, range(records))))


def baskets_size(arguments: argparse.Namespace) -> int:
    width = fraction("--half-width", arguments.half_width)
    design = read_basket_design(arguments.design)
    asked = [len(parse_itemset(text, design)) for text in arguments.expression] or [1, 2, 3]
    needed = {items: baskets_needed(design, items, width, arguments.confidence) for items in sorted(set(asked))}
    lines = (
        words.baskets_needed_lines(by_size, items, width, arguments.confidence) for items, by_size in needed.items()
    )
    content = words.baskets_needed_json(needed, width, arguments.confidence)
    return give(arguments, content, [line for each in lines for line in each])
