"""Odds of columns, in words."""

from collections.abc import Iterable

from party.show.names import listed
from protocols.privacy.odds import Odds

_SMALL = 100


def odds_words(odds: Odds) -> str:
    """Return odds as people say them.

    >>> odds_words(Odds(Fraction(9, 20), Fraction(11, 20))), odds_words(Odds(Fraction(1), Fraction(0)))
    ('9 to 11', '1 to 0')
    >>> odds_words(Odds(Fraction(1001, 3000), Fraction(1999, 3000)))
    '0.501 to 1'
    """
    if not odds.other:
        return "1 to 0"
    ratio = odds.truth / odds.other
    if max(ratio.numerator, ratio.denominator) <= _SMALL:
        return f"{ratio.numerator} to {ratio.denominator}"
    return f"{float(ratio):.3g} to 1"


def odds_text(found: Iterable[tuple[str, Odds]]) -> str:
    """Return named odds in words, names of equal odds together, and no names where all are equal.

    >>> from protocols.privacy.odds import disguised_odds
    >>> from protocols.randomized_response.related_question import RelatedDesign
    >>> design = RelatedDesign.of_contrast((2, 4, 2), ((0, 1), (2,)), Fraction(9, 20))
    >>> odds_text(disguised_odds(design, ["smoker", "age", "married"]))
    '9 to 11 (smoker and married), 7 to 11 (age)'
    """
    alike: dict[str, list[str]] = {}
    for name, odds in found:
        alike.setdefault(odds_words(odds), []).append(name)
    if len(alike) == 1:
        return next(iter(alike))
    return ", ".join(f"{odds} ({listed(names)})" for odds, names in alike.items())
