"""Which design keeps a receiver's belief below a bound, and how well shares are known by it (DESIGN 5.2, 10).

With odds `g` of a response for its own value against any other, and a share `p` of those who have the value, Bayes:

    belief        b = g p / (g p + 1 - p)          odds          g = b (1 - p) / (p (1 - b))
    related       theta = g / (g + 1); of k values the truth has the chance g / (g + k - 1)
    forced        theta = (g - 1) / (g + 1), where both answers are forced alike often
    triangular    theta = 1 - 1 / g
    coins         c coins are all true with the chance theta**c
"""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, log, sqrt
from typing import Final

from protocols.errors import InputError
from protocols.privacy.entry import entry_of
from protocols.randomized_response.crosswise import ForcedDesign, TriangularDesign
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import quantile
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.sample_size import record_variance
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.tables import ROOT

_ONE: Final = ((0,),)
_ROUNDING: Final = 1e-9  # of logarithms
ASKED: Final = 1
"""The value that a belief is about: the second one, which says that a statement is true."""


def odds_of_belief(belief: Fraction, share: Fraction) -> Fraction:
    """Return the odds that raise a share to this belief.

    >>> odds_of_belief(Fraction(2, 3), Fraction(1, 2)), odds_of_belief(Fraction(1, 3), Fraction(1, 5))
    (Fraction(2, 1), Fraction(2, 1))
    """
    for name, chance in (("share", share), ("belief", belief)):
        if not 0 < chance < 1:
            raise InputError("must lie between 0 and 1, both excluded", field=name)
    if belief <= share:
        raise InputError(f"must be above the share of those who have the value, {share}", field="belief")
    return belief * (1 - share) / (share * (1 - belief))


def odds_of_theta(theta: Fraction) -> Fraction:
    """Return the odds of a value sent by this theta.

    >>> odds_of_theta(Fraction(2, 3))
    Fraction(2, 1)
    """
    if not Fraction(1, 2) < theta < 1:
        raise InputError("must lie between 1/2 and 1, both excluded", field="theta")
    return theta / (1 - theta)


def theta_of_odds(odds: Fraction) -> Fraction:
    """Return the chance that a two-valued column is sent truly.

    >>> theta_of_odds(Fraction(2))
    Fraction(2, 3)
    """
    if odds <= 1:
        raise InputError("must be above 1: at 1 a copy says nothing", field="odds")
    return odds / (odds + 1)


def column_of_odds(odds: Fraction, values: int) -> RelatedDesign:
    """Return the design of one column of this many values."""
    return RelatedDesign.of_odds((values,), _ONE, theta_of_odds(odds))


def questions_of_odds(odds: Fraction) -> Iterator[RelatedDesign | UnrelatedDesign]:
    """Yield one question of each kind, of yes or no, in which a yes has these odds at most."""
    half = Fraction(1, 2)
    yield RelatedDesign((2,), _ONE, theta_of_odds(odds))
    yield ForcedDesign((2,), _ONE, (odds - 1) / (odds + 1), ((half, half),))
    yield TriangularDesign.of_prevalence((2,), _ONE, 1 / odds)


def beliefs(design: Design, share: Fraction) -> tuple[Fraction, Fraction]:
    """Return what any response makes the receiver believe at most: the value asked about, and that it is another."""
    rest = (1 - share) / (design.sizes[0] - 1)
    prior = [share if value == ASKED else rest for value in range(design.sizes[0])]
    after = [each[ASKED] for each in entry_of(design, 0, prior).posteriors if each is not None]
    return max(after), 1 - min(after)


def half_width(design: Design, records: int, share: Fraction, confidence: float) -> float:
    """Return the half-width of the interval of that share, estimated from this many records."""
    if records < 2:
        raise InputError("must be 2 or more", field="records")
    return quantile(confidence) * sqrt(record_variance(design, ROOT.child(0, ASKED), share) / records)


def coins_below(truth: Fraction, chance: Fraction) -> int:
    """Return how many coins make it no likelier than this chance that all of them are true.

    >>> coins_below(Fraction(2, 3), Fraction(1, 100)), coins_below(Fraction(1, 2), Fraction(1, 4))
    (12, 2)
    """
    return max(1, ceil(log(chance) / log(truth) - _ROUNDING))
