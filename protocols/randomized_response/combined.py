"""Estimates from several samples of different designs, and from records that stand for unequal parts of a population.

A record's factor has the expectation 1 or 0 whatever the design (`estimate.py`), so each sample's *share* estimates
that of one population. They are weighted by their precision (DESIGN 5.4): a sample of `n` records whose factors have
the sum of squares `S` about their mean by `n^2/(1 + S)`, where samples of one design are one. The 1 is a record at
distance 1, so that a few equal answers are not taken for certainty. The weights follow from the answers, which moves
the combined share by little beside its error; so no sample makes the others worse, however little it says.

Where the samples are of different populations it is the weighted mean of their shares, and a chi-square says how far
they lie apart.

Records that stand for unequal parts of a population have weights. With weights `w_i` that do not depend on the coins,
`sum w_i f_i / sum w_i` has the expectation `sum w_i x_i / sum w_i` over the coins, `x_i` whether record `i` satisfies
`E`: the factors of `estimate.py` are unbiased record by record. Its standard error is that of a ratio under sampling
with replacement, by linearization (Särndal, Swensson and Wretman 1992, section 5.7). With equal weights both are those
of `Estimate`, but for `(n - 1)/n` in the variance.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TypeVar

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Estimate, normal_interval, record_factors
from protocols.tables import Codes, Expression

Number = TypeVar("Number", Fraction, float)


def precision_weights(
    records: Sequence[int], squares: Sequence[Number], kinds: Sequence[Hashable]
) -> tuple[Number, ...]:
    """Return what the mean of each sample counts for; they add up to 1.

    `squares` are sums of squares about the mean of what a record adds; samples of one kind (design) are equally sure.
    """
    numbers: dict[Hashable, int] = {}
    spreads: dict[Hashable, Number] = {}
    for kind, number, square in zip(kinds, records, squares, strict=True):
        numbers[kind] = numbers.get(kind, 0) + number
        spreads[kind] = spreads[kind] + square if kind in spreads else square + 1
    parts = [number * numbers[kind] / spreads[kind] for kind, number in zip(kinds, records, strict=True)]
    return tuple(part / sum(parts[1:], parts[0]) for part in parts)


@dataclass(frozen=True)
class CombinedEstimate:
    """An estimate from several samples of two records or more; it may leave `0 .. 1`.

    `kinds` say how each was disguised, as far as the expression goes.
    """

    samples: tuple[Estimate, ...]
    kinds: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        if not self.samples or len(self.samples) != len(self.kinds):
            raise InputError("samples are combined by one kind each, and there must be one")
        if min(sample.records for sample in self.samples) < 2:
            raise InputError("a sample of fewer than 2 records has no variance: leave it out")

    @property
    def records(self) -> int:
        """Of all samples."""
        return sum(sample.records for sample in self.samples)

    @property
    def count(self) -> Fraction:
        """How many of all these records satisfy the expression, if the samples are of one population."""
        return self.records * self.proportion

    @property
    def standard_error(self) -> float:
        """Of the count, over the coins."""
        pairs = zip(self.weights, self.samples, strict=True)
        variance = sum((weight / sample.records) ** 2 * sample.variance for weight, sample in pairs)
        return self.records * sqrt(max(float(variance), 0.0))

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """What the share of each sample counts for; they add up to 1."""
        squares = [sample.squares - sample.count**2 / sample.records for sample in self.samples]
        return precision_weights([sample.records for sample in self.samples], squares, self.kinds)

    @property
    def proportion(self) -> Fraction:
        """The share of the population."""
        pairs = zip(self.weights, self.samples, strict=True)
        return sum((weight * sample.proportion for weight, sample in pairs), Fraction(0))

    @property
    def proportion_variance(self) -> Fraction:
        """Of the share, for samples from a population."""
        pairs = zip(self.weights, self.samples, strict=True)
        return sum((w**2 * sample.population_variance / sample.records**2 for w, sample in pairs), Fraction(0))

    @property
    def proportion_error(self) -> float:
        """Standard error of the share."""
        return sqrt(max(float(self.proportion_variance), 0.0))

    @property
    def deviation(self) -> float:
        """Chi-square of the samples' shares about the combined one, of one degree of freedom less than samples."""
        errors = [sample.proportion_error for sample in self.samples]
        gaps = [float(sample.proportion - self.proportion) for sample in self.samples]
        return sum((gap / error) ** 2 for gap, error in zip(gaps, errors, strict=True) if error > 0)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the normal interval for the population's share."""
        return normal_interval(self.proportion, self.proportion_error, confidence)


def combined(
    samples: Sequence[Estimate], designs: Sequence[Design], expressions: Sequence[Expression]
) -> CombinedEstimate:
    """Return the estimate of several samples."""
    pairs = zip(designs, expressions, strict=True)
    return CombinedEstimate(tuple(samples), tuple(_kind(design, expression) for design, expression in pairs))


def _kind(design: Design, expression: Expression) -> Hashable:
    """Return what decides how a record's factor is distributed: the moments of each group, and whether any is plain."""
    plain = bool(expression.restricted(frozenset(design.plain)).terms)
    return plain, tuple(sorted(design.moments(group, part) for group, part in design.touched(expression)))


@dataclass(frozen=True)
class WeightedShare:
    """An unbiased estimate of a weighted share, and its standard error; it may leave `0 .. 1`."""

    share: Fraction
    standard_error: float

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the normal interval."""
        return normal_interval(self.share, self.standard_error, confidence)


def weighted_share(codes: Codes, expression: Expression, design: Design, weights: Sequence[Fraction]) -> WeightedShare:
    """Estimate the weighted share of `E`."""
    total = sum(weights, Fraction(0))
    if len(weights) != len(codes) or min(weights, default=Fraction(0)) < 0 or not total:
        raise InputError("weights must be 0 or more, one per record, and not all 0")
    factors = record_factors(codes, expression, design)
    found = [factors.values[kind] for kind in factors.kinds.tolist()]
    share = sum((weight * factor for weight, factor in zip(weights, found, strict=True)), Fraction(0)) / total
    spread = np.array([float(weight) for weight in weights]) * (np.array(list(map(float, found))) - float(share))
    return WeightedShare(share, sqrt(float(spread @ spread)) / float(total))


def poststratified(codes: Codes, column: int, shares: Sequence[Fraction]) -> list[Fraction]:
    """Return the weights of records by which a plain column has the shares of its values in the population."""
    counts = np.bincount(codes[:, column], minlength=len(shares)).tolist()
    if sum(counts[len(shares) :]):
        raise InputError("weights need an answer of everybody in the column that they are of")
    if any(share and not count for share, count in zip(shares, counts, strict=True)):
        raise InputError("nobody stands for a value that the population has: merge values, or leave the weights out")
    weights = [share / count if count else Fraction(0) for share, count in zip(shares, counts, strict=True)]
    return [weights[code] for code in codes[:, column].tolist()]
