"""What one collector does, with answers or with baskets, as the design says; and `advise`, which needs neither."""

import argparse
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path

from party.cli.arguments import OF_SETS
from party.cli.outputs import fraction, give, need_least, settle_outputs
from party.data import check_table_name
from party.demo.survey_example import write_example
from party.settings.transactions import is_of_baskets
from party.show.mining import example_lines
from party.show.screen import say_all
from party.show.wanted import FittingDesign, choice_blocks, choices_json
from protocols.errors import InputError
from protocols.privacy import wanted
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.sample_size import sample_size
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import ROOT

_MOST_SEED = 2**63 - 1


def _run(verb: str, arguments: argparse.Namespace) -> int:
    """Do this with answers or with baskets, as the design says which they are."""
    what = "baskets" if is_of_baskets(arguments.design) else "answers"
    run: Callable[[argparse.Namespace], int] = getattr(import_module(f"party.cli.{what}"), f"{what}_{verb}")
    return run(arguments)


command_privacy, command_size, command_audit, command_disguise, command_estimate = (
    partial(_run, verb) for verb in ("privacy", "size", "audit", "disguise", "estimate")
)


def command_mine(arguments: argparse.Namespace) -> int:
    if is_of_baskets(arguments.design) and arguments.learner not in OF_SETS:
        raise InputError(f"{arguments.learner} is not for baskets: mine itemsets or rules")
    is_tree = arguments.learner == "tree"
    if arguments.learner in OF_SETS and (arguments.min_support is None or arguments.test != "0"):
        raise InputError("itemsets and rules hold nothing out: give --min-support, such as 1/100, and no --test")
    if arguments.learner not in OF_SETS and (arguments.min_support or arguments.max_len is not None):
        raise InputError("--min-support and --max-len are for itemsets and rules: leave them out")
    if arguments.learner != "rules" and (arguments.metric or arguments.min_threshold):
        raise InputError("--metric and --min-threshold are for rules: leave them out, or mine rules")
    given = (arguments.levels, arguments.max_depth, arguments.min_leaf, arguments.impurity)
    if not is_tree and (arguments.prune or any(value is not None for value in given)):
        raise InputError("--prune, --levels, --max-depth, --min-leaf and --impurity are for trees: leave them out")
    if is_tree and arguments.smoothing is not None:
        raise InputError("--smoothing is for naive Bayes: leave it out")
    need_least("--levels", arguments.levels, 0)
    if arguments.more and arguments.learner in OF_SETS:
        raise InputError("--and is for tree and bayes: leave it out")
    if not 0 <= arguments.seed <= _MOST_SEED:
        raise InputError(f"--seed must be 0 to {_MOST_SEED}")
    reads = [arguments.disguised, arguments.design, *(path for pair in arguments.more for path in pair)]
    settle_outputs([arguments.output], reads, overwrite=arguments.overwrite)
    if arguments.learner in OF_SETS:
        check_table_name(arguments.output)
    return _run("mine", arguments)


def give_example(folder: Path) -> None:
    say_all(example_lines(*write_example(folder)))


_SIZES = (2, 3, 4, 8, 16)
_RARELY = Fraction(1, 100)


def command_advise(arguments: argparse.Namespace) -> int:
    share = fraction("--share", arguments.share)
    if not 0 < share < 1:
        raise InputError("--share must lie between 0 and 1, both excluded")
    if arguments.belief is not None:
        odds = wanted.odds_of_belief(fraction("--belief", arguments.belief), share)
    elif arguments.odds is not None:
        odds = fraction("--odds", arguments.odds)
    else:
        odds = wanted.odds_of_theta(fraction("--theta", arguments.theta))
    wanted.theta_of_odds(odds)
    of_survey = arguments.what == "survey"
    designs = (
        list(wanted.questions_of_odds(odds)) if of_survey else [wanted.column_of_odds(odds, size) for size in _SIZES]
    )
    found = [_choice(each, share, arguments, of_survey=of_survey) for each in designs]
    return give(arguments, choices_json(odds, share, found), choice_blocks(odds, share, found), laid_out=True)


def _choice(
    design: RelatedDesign | UnrelatedDesign, share: Fraction, arguments: argparse.Namespace, *, of_survey: bool
) -> FittingDesign:
    truth = design.truth(0) if isinstance(design, RelatedDesign) else design.theta
    records, width = arguments.records, None
    if arguments.half_width is not None:
        least = fraction("--half-width", arguments.half_width)
        records = sample_size(design, ROOT.child(0, wanted.ASKED), least, arguments.confidence, share).records
    if records is not None:
        width = wanted.half_width(design, records, share, arguments.confidence)
    of, coins = (design.kind, None) if of_survey else (design.sizes[0], wanted.coins_below(truth, _RARELY))
    return FittingDesign(of, truth, wanted.beliefs(design, share), coins, records, width)
