"""The odds of a column: how far one response speaks for its own value, against any one other (DESIGN 14).

A response is possible under its own value with one chance and under every other value with another; their ratio is what
it does to the odds between two values, whatever was believed of them, and epsilon is its logarithm. A related question
has the same odds in every response; an unrelated one has the strongest in the response that is rarest as a personal
answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from protocols.privacy.entry import column_transition
from protocols.randomized_response.design import Design


@dataclass(frozen=True)
class Odds:
    """Chance of a response where it is the truth, and where another value is."""

    truth: Fraction
    other: Fraction

    @property
    def strength(self) -> Fraction | None:
        """The ratio of the two, the larger over the smaller; None where it is infinite."""
        low, high = sorted((self.truth, self.other))
        return high / low if low else None


def column_odds(design: Design, column: int) -> Odds:
    """Return the odds of the response that speaks most clearly; 1 to 0 if plain, 1 to 1 if it has one value.

    Raises:
        InputError: There is no such column.
    """
    rows = column_transition(design, column)
    if len(rows) == 1:
        return Odds(Fraction(1), Fraction(1))
    every = [Odds(row[value], row[value - 1]) for value, row in enumerate(rows)]  # all other truths are alike
    return max(every, key=lambda odds: (odds.strength is None, odds.strength or 0))


def disguised_odds(design: Design, names: Sequence[str]) -> list[tuple[str, Odds]]:
    """Return the odds of every disguised column of more than one value, with its name."""
    hidden = (c for group in design.groups for c in group if design.sizes[c] > 1)
    return [(names[column], column_odds(design, column)) for column in sorted(hidden)]


def too_strong(design: Design, names: Sequence[str], most: Fraction) -> tuple[str, Odds] | None:
    """Return the first disguised column whose odds pass a bound, either way; None where all keep to it."""
    found = disguised_odds(design, names)
    return next((each for each in found if each[1].strength is None or each[1].strength > most), None)


def shared_coins(design: Design) -> tuple[int, ...]:
    """Return the groups in which several columns of more than one value share a coin."""
    return tuple(k for k, group in enumerate(design.groups) if sum(design.sizes[column] > 1 for column in group) > 1)
