"""Unbiased estimates of one expression, and what records add to tables of them.

An estimate takes O(m) per record, m the number of groups it touches (DESIGN 5.2).

Every group that `E` touches gives each record a factor whose expectation is 1 if the true record satisfies the group's
part of `E` and 0 otherwise; groups are independent, so factors multiply: `f_i`. Hybrid mentions this ("a much more
efficient solution with cost O(m)") and leaves it out. A factor has two or three values, so records are tallied by the
values of their factors, and results are exact fractions: no rounding hides a bias.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.counts import LEAST_MASS, positive_part
from protocols.errors import InputError
from protocols.randomized_response.design import Design, Factors
from protocols.tables import Codes, Expression, Floats

_LARGEST_FACTOR = 10**100  # its square times any number of records is still a float


@dataclass(frozen=True)
class Estimate:
    """An unbiased estimate of a count: `count = sum f_i` over `records`, with `squares = sum f_i^2`.

    Its `variance` is over the coins, `population_variance` over respondents drawn from a population as well: that of `n
    P(E)`. Both are unbiased and may be negative; the standard error is then 0.
    """

    records: int
    count: Fraction
    squares: Fraction

    @property
    def variance(self) -> Fraction:
        """`sum f_i^2 - N`, since `E f_i` is 0 or 1."""
        return self.squares - self.count

    @property
    def population_variance(self) -> Fraction:
        """`n s^2(f)`, `s^2` the sample variance, which a single record does not have."""
        if self.records < 2:
            raise InputError("a sample of fewer than 2 records has no variance: bring more")
        return (self.squares - self.count**2 / self.records) * self.records / (self.records - 1)

    @property
    def standard_error(self) -> float:
        """Square root of `variance`."""
        return sqrt(max(float(self.variance), 0.0))

    @property
    def proportion(self) -> Fraction:
        """The estimate of `P(E)`."""
        if not self.records:
            raise InputError("there are no records to estimate from")
        return self.count / self.records

    @property
    def proportion_error(self) -> float:
        """Standard error of `proportion` for a sample from a population."""
        return sqrt(max(float(self.population_variance), 0.0)) / self.records

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the normal interval for the population's `P(E)`; not cut to `0 .. 1`, as the estimate is not."""
        error = self.proportion_error
        return normal_interval(self.proportion, error, confidence)


def normal_interval(share: Fraction, error: float, confidence: float) -> tuple[float, float]:
    """Return the normal interval about a share with this standard error."""
    half = quantile(confidence) * error
    return float(share) - half, float(share) + half


def quantile(confidence: float) -> float:
    """Return `z`: a standard normal lies within `-z .. z` with this chance."""
    if not 0 < confidence < 1:
        raise InputError("a confidence must lie between 0 and 1, both excluded")
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def estimate_count(codes: Codes, expression: Expression, design: Design) -> Estimate:
    """Estimate `N(E)` from disguised records, by columns of the design; plain columns are taken as they are."""
    factors = record_factors(codes, expression, design)
    if max(map(abs, factors.values)) > _LARGEST_FACTOR:
        raise InputError(
            "theta hides that many groups altogether: an estimate would be noise; ask about columns of fewer groups"
        )
    return estimate_of(factors)


def estimate_of(factors: Factors) -> Estimate:
    """Return the estimate that the factors of all records make."""
    tally = np.bincount(factors.kinds, minlength=len(factors.values)).tolist()
    pairs = list(zip(tally, factors.values, strict=True))
    return Estimate(
        len(factors.kinds),
        sum((times * value for times, value in pairs), Fraction(0)),
        sum((times * value**2 for times, value in pairs), Fraction(0)),
    )


def record_factors(codes: Codes, expression: Expression, design: Design) -> Factors:
    """Return `f_i` of every record."""
    plain = expression.restricted(frozenset(design.plain)).satisfied_by(codes)
    parts = [design.factors(codes, part, k) for k, part in design.touched(expression)]
    return reduce(_times, parts, Factors(plain.astype(np.intp), (Fraction(0), Fraction(1))))


def _times(left: Factors, right: Factors) -> Factors:
    """Multiply record by record, keeping the values that occur."""
    mixed = left.kinds * len(right.values) + right.kinds
    values = [a * b for a in left.values for b in right.values]
    merged = {value: position for position, value in enumerate(dict.fromkeys(values))}
    positions = np.array([merged[value] for value in values], dtype=np.intp)
    return Factors(positions[mixed], tuple(merged))


@dataclass(frozen=True, eq=False, repr=False)
class Additions:
    """What the records of one sample add to some sums (`distinct records x sums`); records that are not here add 0.

    `values` are of each distinct record, which stands for `repeats` of the sample's `records`.
    """

    values: Floats
    repeats: NDArray[np.int64]
    records: int

    @property
    def sums(self) -> Floats:
        """Over all records."""
        added: Floats = self.repeats @ self.values
        return added

    @property
    def covariance(self) -> Floats:
        """Of the sums, for respondents drawn from a population: `n s^2`; infinite for a sample of one."""
        if self.records < 2:
            return np.full((self.values.shape[1],) * 2, np.inf)
        products = (self.values * self.repeats[:, None]).T @ self.values
        spread: Floats = products - np.outer(self.sums, self.sums) / self.records
        return spread * self.records / (self.records - 1)


def departures(adds: Floats, shares: Floats, classes: Floats) -> Floats:
    """Return how far what each record adds (`records x values x classes`) lies from what its sums make likely."""
    by_value, by_class = adds.sum(axis=2)[:, :, None], adds.sum(axis=1)[:, None, :]
    expected = np.outer(shares, classes)
    apart: Floats = adds - by_value * classes - by_class * shares[:, None] + by_value.sum(axis=1)[:, None] * expected
    return apart


def table_shares(tables: ArrayLike) -> tuple[Floats, Floats]:
    """Return the shares of values and of classes in each table of a stack, negative cells taken as 0."""
    positive = positive_part(np.asarray(tables, dtype=np.float64))
    mass = np.maximum(positive.sum(axis=(1, 2)), LEAST_MASS)[:, None]
    return positive.sum(axis=2) / mass, positive.sum(axis=1) / mass


def squares_of_truth(tables: ArrayLike) -> Floats:
    """Return what true records that make these tables add to the squares of each cell's departure."""
    left, right = (np.eye(each.shape[1]) - each[:, None, :] for each in table_shares(tables))
    return quadratic(np.asarray(tables, dtype=np.float64), left, right)


def quadratic(tables: Floats, left: Floats, right: Floats) -> Floats:
    """Return `sum over a, b of tables[a, b] left[a, v]^2 right[b, c]^2` for each table of a stack."""
    found: Floats = np.matmul(np.matmul((left**2).transpose(0, 2, 1), tables), right**2)
    return found
