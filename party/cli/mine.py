"""`cotally mine`: learn a tree, naive Bayes or association rules from what was disguised."""

import argparse
import sys
from fractions import Fraction
from pathlib import Path

from party.cli import baskets
from party.cli.arguments.collector import OF_SETS
from party.cli.outputs import form, fraction, settle_outputs
from party.data import read_frame
from party.models.any_file import write_model
from party.settings.transactions import is_of_baskets
from party.show.mining import mined_json, mined_lines
from party.show.model import shown
from party.show.notices import tell
from party.show.privacy_short import certain_lines
from party.show.screen import drawing_width, lay_out, put_json, say_all
from party.survey import load_survey, read_design
from party.survey.estimation import known_answers
from party.survey.mining import Parts, hold_out, mine_bayes, mine_tree, pooled
from protocols.errors import InputError
from protocols.survey.responses import Responses
from protocols.terms import NO_SHARE, PRUNING_SHARE, Growth, Impurity

_MOST_SEED = 2**63 - 1


def command_mine(arguments: argparse.Namespace) -> int:
    of_baskets = is_of_baskets(arguments.design)
    if of_baskets and arguments.learner not in OF_SETS:
        raise InputError(f"{arguments.learner} is not for baskets: mine itemsets or rules")
    _check(arguments)
    if arguments.learner in OF_SETS:
        return baskets.run_mine(arguments) if of_baskets else baskets.run_mine_columns(arguments)
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
    each = (known_answers(survey.codes, design) for survey, design in zip(surveys, asked, strict=True))
    certain = certain_lines([known for found in each for known in found])
    if arguments.json:
        put_json(mined_json(mined, parts, arguments.output))
        say_all(certain, sys.stderr)
        return 0
    lay_out(shown(mined.model).blocks(mined.model, arguments.levels, mined.doubtful), drawing_width())
    say_all([*mined_lines(mined, parts, questionnaire, arguments.output), *certain])
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
        max_depth=arguments.max_depth,
        min_leaf=1 if arguments.min_leaf is None else arguments.min_leaf,
        impurity=Impurity(arguments.impurity or Impurity.INFORMATION_GAIN),
        prune=PRUNING_SHARE if arguments.prune else NO_SHARE,
    )


def _check(arguments: argparse.Namespace) -> None:
    """Refuse, before long work, what cannot be done."""
    is_tree = arguments.learner == "tree"
    _check_baskets(arguments)
    given = (arguments.levels, arguments.max_depth, arguments.min_leaf, arguments.impurity)
    if not is_tree and (arguments.prune or any(value is not None for value in given)):
        raise InputError("--prune, --levels, --max-depth, --min-leaf and --impurity are for trees: leave them out")
    if is_tree and arguments.smoothing is not None:
        raise InputError("--smoothing is for naive Bayes: leave it out")
    if arguments.levels is not None and arguments.levels < 0:
        raise InputError("--levels must be 0 or more")
    if arguments.more and arguments.learner in OF_SETS:
        raise InputError("--and is for tree and bayes: leave it out")
    if not 0 <= arguments.seed <= _MOST_SEED:
        raise InputError(f"--seed must be 0 to {_MOST_SEED}")
    reads = [arguments.disguised, arguments.design, *(path for pair in arguments.more for path in pair)]
    settle_outputs([arguments.output], reads, overwrite=arguments.overwrite)


def _check_baskets(arguments: argparse.Namespace) -> None:
    is_rules = arguments.learner == "rules"
    if arguments.learner in OF_SETS and (arguments.min_support is None or arguments.test != "0"):
        raise InputError("itemsets and rules hold nothing out: give --min-support, such as 1/100, and no --test")
    if arguments.learner not in OF_SETS and (arguments.min_support or arguments.max_len is not None):
        raise InputError("--min-support and --max-len are for itemsets and rules: leave them out")
    if not is_rules and (arguments.metric or arguments.min_threshold):
        raise InputError("--metric and --min-threshold are for rules: leave them out, or mine rules")
