"""One estimate from several samples, each disguised by a design of its own: other theta, other groups, other kinds.

A record's factor has the expectation 1 or 0 whatever the design (`estimate.py`), so counts of several samples add up,
and so do their variances over the coins. Their *shares* are means of samples of one population; each is weighted by its
records over the variance that its design gives a factor at even odds. The weights are known before there are answers,
so the combined share is unbiased, and its variance is the sum of the weighted ones, since samples are independent.
Where the samples are of different populations it is the weighted mean of their shares, and a chi-square tells how far
they lie apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

from protocols.errors import InputError
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import Estimate, quantile
from protocols.tables.expression import Expression


def factor_variance(design: Design, expression: Expression) -> Fraction:
    """Return the variance of a record's factor where every touched group, or what is plain, is true of one half."""
    moments = [design.moments(group, part) for group, part in design.touched(expression)]
    half = Fraction(1, 2)
    plain = bool(expression.restricted(frozenset(design.plain)).terms)
    square = prod(((true + false) * half for true, false in moments), start=half if plain else Fraction(1))
    return square - half ** (2 * (len(moments) + plain))


@dataclass(frozen=True)
class CombinedEstimate:
    """An estimate from several samples; it may leave `0 .. 1`.

    Args:
        samples: The estimate of each, of two records or more.
        variances: By `factor_variance`, of the design of each.

    Raises:
        InputError: There is no sample, or one of fewer than two records.
    """

    samples: tuple[Estimate, ...]
    variances: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.samples or len(self.samples) != len(self.variances):
            raise InputError("samples are combined by one variance each, and there must be one")
        if min(sample.records for sample in self.samples) < 2:
            raise InputError("a sample of fewer than 2 records has no variance: leave it out")

    @property
    def records(self) -> int:
        """Of all samples."""
        return sum(sample.records for sample in self.samples)

    @property
    def count(self) -> Fraction:
        """How many of all these records satisfy the expression."""
        return sum((sample.count for sample in self.samples), Fraction(0))

    @property
    def standard_error(self) -> float:
        """Of the count, over the coins."""
        return sqrt(max(float(sum(sample.variance for sample in self.samples)), 0.0))

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """What the share of each sample counts for; they add up to 1."""
        parts = [sample.records / each for sample, each in zip(self.samples, self.variances, strict=True)]
        return tuple(part / sum(parts) for part in parts)

    @property
    def proportion(self) -> Fraction:
        """The share of the population."""
        pairs = zip(self.weights, self.samples, strict=True)
        return sum((weight * sample.proportion for weight, sample in pairs), Fraction(0))

    @property
    def proportion_variance(self) -> Fraction:
        """Of the share, for samples from a population; an unbiased estimate."""
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
        """Return the normal interval for the population's share.

        Raises:
            InputError: The confidence is not between 0 and 1, both excluded.
        """
        half = quantile(confidence) * self.proportion_error
        return float(self.proportion) - half, float(self.proportion) + half


def combined(
    samples: Sequence[Estimate], designs: Sequence[Design], expressions: Sequence[Expression]
) -> CombinedEstimate:
    """Return the estimate of several samples.

    Args:
        samples: Of each its own estimate.
        designs: How each was disguised.
        expressions: What was counted, by the columns of each design.

    Raises:
        InputError: As for the class.
    """
    pairs = zip(designs, expressions, strict=True)
    return CombinedEstimate(tuple(samples), tuple(factor_variance(design, each) for design, each in pairs))
