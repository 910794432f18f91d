"""How far an estimate may lie from the truth over the coins, and when the coins hide it (FAULTS B6).

Bernstein's inequality bounds the distance. A record contributes `f_i`, a product of one factor per touched group
(DESIGN 5.2). With `u = h q` the factor of a group has the second moment

    s1 = (D + u - u^2 - 2 u D)/D^2   where the true record satisfies the group's part,
    s0 = (u - u^2)/D^2               where it does not,            D = t - q,

`h` the number of offsets that would satisfy it, a divisor of `L`, and `L` only where every record does. Records for
which `h = 0` in some group contribute nothing at all. So the variance is at most `live * max over truths`, `live` the
other records, and `|f_i - E f_i| <= 1 + prod 1/|D|`. Unlike "z standard errors" this holds for few records and for any
theta, so a false alarm has the stated chance.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from math import ceil, isfinite, log, prod, sqrt

from protocols.randomized_response.design import Moments
from protocols.randomized_response.related_question import RelatedDesign

UNTOUCHED: Moments = (Fraction(1), Fraction(0))
NOISE_SHARE = Fraction(1, 2)
"""A count whose standard error may pass this share of all records says nothing."""


def drowns(error: float, records: int) -> bool:
    """Return whether a standard error over the coins hides the counts of this many records altogether (FAULTS B6)."""
    return error > NOISE_SHARE * records


def count_error(moments: Moments, records: int) -> float:
    """Return the largest standard error of a count over the coins, whichever records satisfy what is counted."""
    satisfied, failed = moments
    return sqrt(records * max(satisfied - 1, failed))


def noise(design: RelatedDesign, group: int, records: float) -> float:
    """Return the standard error of the count of one offset of a group that no record has."""
    lie = float(design.lie(group))
    return sqrt(records * lie * (1 - lie)) / abs(float(design.contrast(group)))


@cache
def largest_moments(design: RelatedDesign, group: int) -> Moments:
    """Return the largest `s1` and `s0` over the `h` that occur."""
    order = design.orders[group]
    every = [design.moments_of(group, h) for h in range(1, order + 1) if order % h == 0]
    return max(s1 for s1, _ in every), max((s0 for _, s0 in every[:-1]), default=Fraction(0))


def one_false(fixed: Moments, others: Sequence[Moments], most: int) -> Fraction:
    """Return `max over k of s0_k prod_{j != k} max(s1_j, s0_j)`: the most that a record failing some part adds.

    The group of `fixed` is touched for certain; of `others` `most` are, those that make it largest.
    """
    found = [fixed[1] * _largest_product(others, most)]
    if most:
        rest = ([*others[:k], *others[k + 1 :]] for k in range(len(others)))
        factors = (_largest_product(without, most - 1) for without in rest)
        found += [s0 * max(fixed) * factor for (_, s0), factor in zip(others, factors, strict=True)]
    return max(found)


def _largest_product(moments: Sequence[Moments], most: int) -> Fraction:
    return prod(sorted(map(max, moments), reverse=True)[:most], start=Fraction(1))


@cache
def variance_bound(design: RelatedDesign, groups: tuple[int, ...]) -> float:
    """Return the largest variance that one live record can add, if the expression touches these groups."""
    moments = [largest_moments(design, k) for k in groups]
    all_true = prod((s1 for s1, _ in moments), start=Fraction(1)) - 1
    return float(max(all_true, one_false(UNTOUCHED, moments, len(moments))))


def error_bound(design: RelatedDesign, groups: Iterable[int], live: int, alarm: float) -> float:
    """Return `t` such that `|estimate - truth| > t` has a chance of at most `exp(-alarm)` over the coins.

    `groups` are those that the expression touches, `live` the records that could satisfy it whatever their coins were.
    """
    touched = tuple(groups)
    if not touched:
        return 0.0
    largest = 1 + largest_factor(design, touched)
    deviation = live * variance_bound(design, touched)
    budget = alarm + log(2)
    linear = largest * budget / 3
    return min(live * largest, linear + sqrt(linear * linear + 2 * deviation * budget))


@cache
def largest_factor(design: RelatedDesign, groups: tuple[int, ...]) -> float:
    """Return the most that one record can add to an estimate of an expression that touches these groups."""
    return prod(1 / abs(float(design.contrast(k))) for k in groups)


WIDEST = 0.5
_NORMAL = 1.959964  # of an interval at 95 %, either way


def tells(standard_error: float) -> bool:
    """Return whether the interval of a share at 95 % is at most half as wide as all shares, which are 0 to 1.

    >>> tells(0.127), tells(0.128)
    (True, False)
    """
    return 2 * _NORMAL * standard_error <= WIDEST


def records_to_tell(records: int, standard_error: float) -> int:
    """Return how many records would make the interval narrow enough: errors fall with the root of their number.

    >>> records_to_tell(100, 1.0)
    6147
    """
    return ceil(records * (2 * _NORMAL * standard_error / WIDEST) ** 2) if isfinite(standard_error) else 2


def gain_error(records: int, values: int, classes: int, contrasts: float) -> float:
    """Return about the standard error, in bits, of the estimated gain of a column that says nothing (DESIGN 5.3).

    The gain is then a mean of squares of `(v - 1)(c - 1)` normal errors: its own mean is the bias, which is taken off.
    `contrasts` are of the column's coin times that of the class's, 1 for what is sent as it is.
    """
    free = (values - 1) * (classes - 1)
    return sqrt(2 * free) / (2 * records * log(2) * contrasts**2)
