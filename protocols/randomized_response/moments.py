"""How far an estimate may lie from the truth: Bernstein's inequality over the coins.

A record contributes `f_i`, a product of one factor a touched group (DESIGN 5.2). With `u = h q` the factor of a group
has the second moment

    s1 = (D + u - u^2 - 2 u D)/D^2   where the true record satisfies the group's part,
    s0 = (u - u^2)/D^2               where it does not,            D = t - q,

`h` the number of offsets that would satisfy it, a divisor of `L`, and `L` only where every record does. Records for
which `h = 0` in some group contribute nothing at all. So the variance is at most `live * max over truths`, `live` the
other records, and `|f_i - E f_i| <= 1 + prod 1/|D|`. Unlike "z standard errors" this holds for few records and for any
theta, so a false alarm has the stated chance.
"""

from collections.abc import Iterable
from functools import cache
from math import log, prod, sqrt

from protocols.randomized_response.related_question import RelatedDesign


@cache
def second_moments(design: RelatedDesign, group: int) -> tuple[float, float]:
    """Return the largest `s1` and `s0` over the `h` that occur."""
    lie, contrast, order = design.lie(group), design.contrast(group), design.orders[group]
    shares = [h * lie for h in range(1, order + 1) if order % h == 0]
    s1 = max((contrast + u - u * u - 2 * u * contrast) / contrast**2 for u in shares)
    s0 = max(((u - u * u) / contrast**2 for u in shares[:-1]), default=0)
    return float(s1), float(s0)


@cache
def variance_bound(design: RelatedDesign, groups: tuple[int, ...]) -> float:
    """Return the largest variance that one live record can add, if the expression touches these groups."""
    moments = [second_moments(design, k) for k in groups]
    if not moments:
        return 0.0
    all_true = prod(s1 for s1, _ in moments) - 1
    one_false = max(
        s0 * prod(max(pair) for j, pair in enumerate(moments) if j != k) for k, (_, s0) in enumerate(moments)
    )
    return max(all_true, one_false, 0.0)


def error_bound(design: RelatedDesign, groups: Iterable[int], live: int, alarm: float) -> float:
    """Return `t` such that `|estimate - truth| > t` has a chance of at most `exp(-alarm)` over the coins.

    Args:
        design: How the copy was disguised.
        groups: Groups that the expression touches; with none the estimate is the truth and `t` is 0.
        live: Records that could satisfy the expression whatever their coins were.
        alarm: Minus the natural logarithm of the chance.
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
