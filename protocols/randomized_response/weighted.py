"""Shares of a population from records that stand for unequal parts of it: weights per record.

With weights `w_i` that do not depend on the coins, `sum w_i f_i / sum w_i` has the expectation `sum w_i x_i / sum w_i`
over the coins, `x_i` whether record `i` satisfies `E`: the factors of `estimate.py` are unbiased record by record. Its
standard error is that of a ratio under sampling with replacement, by linearization (Särndal, Swensson and Wretman 1992,
section 5.7). With equal weights both are those of `Estimate`, but for `(n - 1)/n` in the variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import quantile, record_factors
from protocols.tables.expression import Expression
from protocols.tables.table import Codes


@dataclass(frozen=True)
class WeightedShare:
    """An unbiased estimate of a weighted share, and its standard error; it may leave `0 .. 1`."""

    share: Fraction
    standard_error: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the normal interval.

        Raises:
            InputError: The confidence is not between 0 and 1, both excluded.
        """
        half = quantile(confidence) * self.standard_error
        return float(self.share) - half, float(self.share) + half


def weighted_share(codes: Codes, expression: Expression, design: Design, weights: Sequence[Fraction]) -> WeightedShare:
    """Estimate the weighted share of `E`.

    Args:
        codes: Disguised records by columns of the design.
        expression: Over the design's columns.
        design: How they were disguised.
        weights: Of each record, 0 or more.

    Raises:
        InputError: A weight is negative, their number is not that of the records, or they add up to nothing.
    """
    total = sum(weights, Fraction(0))
    if len(weights) != len(codes) or min(weights, default=Fraction(0)) < 0 or not total:
        raise InputError("weights must be 0 or more, one per record, and not all 0")
    factors = record_factors(codes, expression, design)
    found = [factors.values[kind] for kind in factors.kinds.tolist()]
    share = sum((weight * factor for weight, factor in zip(weights, found, strict=True)), Fraction(0)) / total
    spread = np.array([float(weight) for weight in weights]) * (np.array(list(map(float, found))) - float(share))
    return WeightedShare(share, sqrt(float(spread @ spread)) / float(total))


def poststratified(codes: Codes, column: int, shares: Sequence[Fraction]) -> list[Fraction]:
    """Return the weights by which a plain column has the shares that it has in the population.

    Args:
        codes: Records.
        column: Sent as it is.
        shares: Of each of its values in the population; they add up to 1.

    Raises:
        InputError: Nobody has some value whose share is not 0, or somebody gave no answer.
    """
    counts = np.bincount(codes[:, column], minlength=len(shares)).tolist()
    if sum(counts[len(shares) :]):
        raise InputError("weights need an answer of everybody in the column that they are of")
    if any(share and not count for share, count in zip(shares, counts, strict=True)):
        raise InputError("nobody stands for a value that the population has: merge values, or leave the weights out")
    weights = [share / count if count else Fraction(0) for share, count in zip(shares, counts, strict=True)]
    return [weights[code] for code in codes[:, column].tolist()]
