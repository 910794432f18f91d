"""Loss under local differential privacy: epsilon, the logarithm of the worst ratio of response chances (DESIGN 10).

Whatever the receiver believed, no response changes the odds between two truths by more than `exp(epsilon)`. Where a
response rules some truth out, epsilon is infinite and reported so: always for plain columns, for `theta = 1`, and for a
related-question group of several attributes taken together, although each of them alone has a finite one.

Questions that rest on a personal answer (unrelated, crosswise, triangular) have two: against someone who does not know
the respondent's personal answers, and against someone who does. The latter is infinite: a response that differs from a
known personal answer is the truth, for the whole group.
"""

from fractions import Fraction
from math import fsum, inf, log, log1p

from protocols.privacy.entry import check_column, check_group
from protocols.randomized_response.design import Design


def attribute_loss(design: Design, column: int) -> float:
    """Return epsilon of one attribute, by its own response alone: infinite if plain, 0 if it has one value.

    Raises:
        InputError: There is no such column.
    """
    check_column(design, column)
    group = design.group_of(column)
    if group is None:
        return inf if design.sizes[column] > 1 else 0.0
    return ratio_loss(design.likelihood_ratio(group, (column,)))


def group_loss(design: Design, group: int) -> float:
    """Return epsilon of all attributes of a group together.

    Raises:
        InputError: There is no such group.
    """
    check_group(design, group)
    return ratio_loss(design.likelihood_ratio(group, design.groups[group]))


def known_answers_loss(design: Design, group: int) -> float | None:
    """Return epsilon of a group against someone who knows a personal answer; None where there are no such answers.

    Under the unrelated question the response `r` has the chance `theta [r = x] + (1 - theta) [r = y]` where `y` is
    known; so any response but `y` has one possible truth. Whether a harmless statement is true decides what the
    crosswise question makes of the truth, and whether the triangular one tells it.

    Raises:
        InputError: There is no such group.
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
