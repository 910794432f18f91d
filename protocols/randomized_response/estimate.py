"""Unbiased estimates of one expression in O(m) a record, m the number of groups it touches (DESIGN 5.2).

With `h` the number of offsets `s` for which `x* - s` satisfies the group's part `e` of the expression,

    factor = [x* satisfies e]/(theta - q) - h q/(theta - q)

has the expectation `[x satisfies e]`, and the factors of a record's groups multiply. Hybrid mentions this ("a much more
efficient solution with cost O(m)") and omits it. Results are exact fractions: no rounding hides a bias.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.randomized_response.design import MultiGroupDesign
from protocols.tables.expression import Expression
from protocols.tables.table import Codes


@dataclass(frozen=True)
class Estimate:
    """An unbiased estimate of a count and an unbiased estimate of its variance over the coins.

    The count may be negative, and the variance too; `standard_error` is 0 then.
    """

    count: Fraction
    variance: Fraction

    @property
    def standard_error(self) -> float:
        """Square root of the estimated variance."""
        return sqrt(max(float(self.variance), 0.0))


def estimate_count(codes: Codes, expression: Expression, design: MultiGroupDesign) -> Estimate:
    """Estimate `N(E)` from a disguised copy: `sum f_i`, with variance `sum f_i^2 - N` since `E f_i` is 0 or 1.

    Args:
        codes: Disguised records by columns of the design; plain columns are taken as they are.
        expression: Over the design's columns.
        design: How the copy was disguised.
    """
    numerators, denominator = record_factors(codes, expression, design)
    values, repeats = np.unique(numerators, return_counts=True)
    pairs = list(zip(values.tolist(), repeats.tolist(), strict=True))
    count = Fraction(sum(value * times for value, times in pairs), denominator)
    squares = Fraction(sum(value * value * times for value, times in pairs), denominator**2)
    return Estimate(count, squares - count)


def record_factors(codes: Codes, expression: Expression, design: MultiGroupDesign) -> tuple[NDArray[np.object_], int]:
    """Return `f_i` of every record as integer numerators and one common denominator.

    NB: the numerators are Python's integers; with theta = 9/20 and nine binary groups they pass 64 bits.
    """
    grouped = [(k, expression.restricted(frozenset(group))) for k, group in enumerate(design.groups)]
    touched = [(k, part) for k, part in grouped if part.terms]
    hidden = frozenset(column for group in design.groups for column in group)
    plain = expression.restricted(frozenset(range(len(design.sizes))) - hidden)
    numerators = plain.satisfied_by(codes).astype(int).astype(object)
    for k, part in touched:
        numerators *= _group_numerators(codes, part, k, design)
    return numerators, prod(_scaled(design, k)[2] for k, _ in touched)


def _group_numerators(codes: Codes, part: Expression, group: int, design: MultiGroupDesign) -> NDArray[np.object_]:
    truth, lie, _ = _scaled(design, group)
    compatible = np.zeros(len(codes), dtype=np.int64)
    for offset in range(design.orders[group]):
        satisfied = np.ones(len(codes), dtype=np.bool_)
        for term in part.terms:
            shifted = (term.value + offset) % design.sizes[term.column]
            satisfied &= codes[:, term.column] == shifted
        compatible += satisfied
    numerators: NDArray[np.object_] = truth * part.satisfied_by(codes).astype(object) - lie * compatible.astype(object)
    return numerators


def _scaled(design: MultiGroupDesign, group: int) -> tuple[int, int, int]:
    """Return `1`, `q` and `theta - q` brought to a common denominator: integers."""
    lie, contrast = design.lie(group), design.contrast(group)
    scale = lie.denominator * contrast.denominator
    return scale, int(lie * scale), int(contrast * scale)
