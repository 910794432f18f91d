"""Odds of columns, in words."""

from collections.abc import Iterable

from party.names import odds_words, printable
from party.show.names import listed
from protocols.privacy.loss import Odds, disguised_odds
from protocols.randomized_response.related_question import RelatedDesign
from protocols.two_party.inputs import PartyInputs

_TOGETHER = (
    "Columns that share a coin give each other away, beyond these odds: `cotally check` shows how many records a "
    "receiver reads"
)


def odds_text(found: Iterable[tuple[str, Odds]]) -> str:
    """Return named odds in words, names of equal odds together, and no names where all are equal.

    >>> from fractions import Fraction
    >>> from protocols.privacy.loss import disguised_odds
    >>> from protocols.randomized_response.related_question import RelatedDesign
    >>> design = RelatedDesign.of_odds((2, 4, 2), ((0, 1), (2,)), Fraction(2, 3))
    >>> odds_text(disguised_odds(design, ["smoker", "age", "married"]))
    '3 to 2 (smoker), 2 to 1 (age and married)'
    """
    alike: dict[str, list[str]] = {}
    for name, odds in found:
        alike.setdefault(odds_words(odds.truth, odds.other), []).append(name)
    if len(alike) == 1:
        return next(iter(alike))
    return ", ".join(f"{odds} ({listed(names)})" for odds, names in alike.items())


def own_odds(local: PartyInputs, design: RelatedDesign) -> list[str]:
    """Say the odds of every column that our copy sends in this disguise; nothing where nothing is disguised."""
    sent = local.table.attributes[: len(design.sizes)]
    text = odds_text(disguised_odds(design, [printable(attribute.name) for attribute in sent]))
    told = [f"Odds of a true value in our copy against any one other: {text}"] if text else []
    return [*told, _TOGETHER] if told and any(len(group) > 1 for group in design.groups) else told
