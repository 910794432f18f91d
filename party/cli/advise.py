"""`cotally advise`: which theta a wanted belief needs, and how well shares are then known, by formulas alone."""

import argparse
from fractions import Fraction

from party.cli.outputs import fraction, give
from party.show.wanted import FittingDesign, choice_blocks, choices_json
from protocols.errors import InputError
from protocols.privacy import wanted
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.sample_size import sample_size
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import ROOT

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
