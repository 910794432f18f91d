"""How much a response gives away: the loss of a design, what it shows for certain, a column's odds (DESIGN 10, 14).

The loss under local differential privacy is epsilon, the logarithm of the worst ratio of response chances: no response
changes the odds between two truths by more than `exp(epsilon)`. Where a response rules some truth out, epsilon is
infinite: always for plain columns, for `theta = 1`, and for a related-question group of several attributes taken
together, although each of them alone has a finite one.

Questions that rest on a personal answer (unrelated, crosswise, triangular) have two: against someone who does not know
the respondent's personal answers, and against someone who does. The latter is infinite: a response that differs from a
known personal answer is the truth, for the whole group.

Every response discloses some relations with certainty (DESIGN 7.5). Under the related question all attributes of a
group move by one offset `s`, so `(x_a - x_b) mod gcd(d_a, d_b)` is the same before and after; for binary ones, that is
the XOR. Nothing else is disclosed: differences that agree modulo every pairwise gcd come from one offset (the Chinese
remainder theorem), and any two offsets are linked by a chain of responses that both can have given. Under the unrelated
question with theta below 1 any two truths can give the response of one personal record. In both, attributes whose every
response has one possible truth are disclosed in full: `theta = 1`, and the related question with two offsets and `theta
= 0`.

The odds of a column are how far one response speaks for its own value against any one other: epsilon is their
logarithm. A related question has the same odds in every response; an unrelated one has the strongest in the response
that is rarest as a personal answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import fsum, inf, log, log1p

from protocols.privacy.entry import check_column, check_group, column_transition
from protocols.randomized_response.design import Design


def attribute_loss(design: Design, column: int) -> float:
    """Return epsilon of one attribute, by its own response alone: infinite if plain, 0 if it has one value."""
    check_column(design, column)
    group = design.group_of(column)
    if group is None:
        return inf if design.sizes[column] > 1 else 0.0
    return ratio_loss(design.likelihood_ratio(group, (column,)))


def group_loss(design: Design, group: int) -> float:
    """Return epsilon of all attributes of a group together."""
    check_group(design, group)
    return ratio_loss(design.likelihood_ratio(group, design.groups[group]))


def known_answers_loss(design: Design, group: int) -> float | None:
    """Return epsilon of a group against someone who knows a personal answer; None where there are no such answers.

    Under the unrelated question the response `r` has the chance `theta [r = x] + (1 - theta) [r = y]` where `y` is
    known; so any response but `y` has one possible truth. Whether a harmless statement is true decides what the
    crosswise question makes of the truth, and whether the triangular one sends it.
    """
    check_group(design, group)
    if not design.part(group).asks_personally:
        return None
    return inf if any(design.sizes[column] > 1 for column in design.groups[group]) else 0.0


def record_loss(design: Design) -> float:
    """Return epsilon of the whole record: the sum over groups, which toss their own coins, and plain columns."""
    groups = (group_loss(design, group) for group in range(len(design.groups)))
    return fsum([*groups, *(attribute_loss(design, column) for column in design.plain)])


def ratio_loss(ratio: Fraction | None) -> float:
    """Return the natural logarithm of a ratio of at least 1, accurate near 1 and beyond floats; None means infinite.

    >>> ratio_loss(Fraction(1)), ratio_loss(None)
    (0.0, inf)
    """
    if ratio is None:
        return inf
    if ratio < 2:
        return log1p(ratio - 1)
    return log(ratio.numerator) - log(ratio.denominator)


@dataclass(frozen=True)
class Relation:
    """The difference of columns `first` and `second` modulo `modulus` is disclosed; of two binary ones, the XOR.

    A person who knows one of them is left with `left_of_first` or `left_of_second` values of the other.
    """

    first: int
    second: int
    modulus: int
    left_of_first: int
    left_of_second: int

    def turned(self) -> "Relation":
        """The same with its columns exchanged."""
        return Relation(self.second, self.first, self.modulus, self.left_of_second, self.left_of_first)


def disclosed_columns(design: Design) -> tuple[int, ...]:
    """Return the columns of groups that every response gives away in full; those of one value hide nothing anyway."""
    grouped = sorted(column for group in design.groups for column in group)
    return tuple(
        column
        for column in grouped
        if design.sizes[column] > 1
        if all(sum(chance > 0 for chance in row) <= 1 for row in column_transition(design, column))
    )


def relations(design: Design) -> tuple[Relation, ...]:
    """Return every pair of columns of one group whose relation is disclosed, but not the columns themselves."""
    disclosed = disclosed_columns(design)
    found = []
    for group in design.groups:
        for first, second in combinations(sorted(set(group) - set(disclosed)), 2):
            modulus = design.disclosed_modulus(first, second)
            if modulus > 1:
                one, other = design.sizes[first], design.sizes[second]
                found.append(Relation(first, second, modulus, one // modulus, other // modulus))
    return tuple(found)


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
    """Return the odds of the response that speaks most clearly; 1 to 0 if plain, 1 to 1 if it has one value."""
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
