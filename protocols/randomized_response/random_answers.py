"""Who answers at random: their share from a control item, and estimates corrected for them (DESIGN 4.11).

Some respondents do not read the question and choose among the answers at random, all alike. A *control* is a disguised
question whose true answer is known of everyone. With `f` a record's factor of that answer (5.2) and `rho` its mean over
random answers, `E f = (1 - tau) + tau rho`, `tau` the share of those who answer at random; so `(1 - f)/(1 - rho)` is an
unbiased estimate of it. Any other `E f_E = (1 - tau) P(E) + tau rho_E` then gives the `P(E)` of who answers by the
rules. This is Atsusaka and Stevenson's correction of the crosswise question, for any question and expression.

Assumed: who answers at random does so throughout, and is like the others in what is asked of. Errors are those of
respondents drawn from a population, that of a corrected share by the delta method, in which both are from one sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt

import numpy as np

from protocols.errors import InputError
from protocols.randomized_response.design import Design, cells
from protocols.randomized_response.estimate import record_factors
from protocols.tables import Codes, Expression, Term


@dataclass(frozen=True)
class RandomAnswers:
    """An estimate with its variance: the share that answers at random, or a share that is corrected for them."""

    records: int
    share: Fraction
    variance: Fraction

    @property
    def standard_error(self) -> float:
        """Square root of the variance."""
        return sqrt(max(float(self.variance), 0.0))


def random_factor(design: Design, expression: Expression) -> Fraction:
    """Return `rho`: the mean factor of an expression over random answers to the groups that it touches."""
    return prod((_mean_factor(design, k, part) for k, part in design.touched(expression)), start=Fraction(1))


def _mean_factor(design: Design, group: int, part: Expression) -> Fraction:
    columns = sorted(part.columns)
    every = cells([design.sizes[column] for column in columns])
    codes = np.zeros((len(every), len(design.sizes)), dtype=np.uint8)
    codes[:, columns] = every
    factors = design.factors(codes, part, group)
    return sum((factors.values[kind] for kind in factors.kinds.tolist()), Fraction(0)) / len(every)


def random_share(codes: Codes, design: Design, controls: Sequence[Term]) -> RandomAnswers:
    """Estimate the share that answers at random: the mean over the controls, and over the records."""
    return _summary([(times, shown) for times, _, shown in _tally(codes, Expression(), design, controls)])


def corrected_share(codes: Codes, expression: Expression, design: Design, controls: Sequence[Term]) -> RandomAnswers:
    """Estimate the share of an expression among those who answer by the rules, from responses with all answers needed.

    `controls` are other, disguised columns, each with the value that is true of everyone.
    """
    if expression.columns & {control.column for control in controls}:
        raise InputError("a control item has a known answer: ask about other columns")
    rows = _tally(codes, expression, design, controls)
    at_random = _summary([(times, shown) for times, _, shown in rows]).share
    if at_random >= 1:
        raise InputError("all seem to answer at random: nothing is left to correct")
    by_chance = random_factor(design, expression)
    plain = expression.restricted(frozenset(design.plain)).satisfied_by(codes).sum()
    drawn = by_chance * Fraction(int(plain), len(codes))
    records = sum(times for times, _, _ in rows)
    whole = sum((times * factor for times, factor, _ in rows), Fraction(0)) / records
    share = (whole - at_random * drawn) / (1 - at_random)
    moved = [(times, (factor + (share - drawn) * shown) / (1 - at_random)) for times, factor, shown in rows]
    return RandomAnswers(records, share, _summary(moved).variance)


def _summary(values: Sequence[tuple[int, Fraction]]) -> RandomAnswers:
    """Return mean and variance of the mean of values that come several times."""
    records = sum(times for times, _ in values)
    if records < 2:
        raise InputError("a sample of fewer than 2 records has no variance: bring more")
    mean = sum((times * value for times, value in values), Fraction(0)) / records
    spread = sum((times * (value - mean) ** 2 for times, value in values), Fraction(0)) / (records - 1)
    return RandomAnswers(records, mean, spread / records)


def _tally(
    codes: Codes, expression: Expression, design: Design, controls: Sequence[Term]
) -> list[tuple[int, Fraction, Fraction]]:
    """Return how many records add what to the expression, and what they show of random answers."""
    if not controls:
        raise InputError("there is no control item")
    asked = [expression, *(Expression((control,)) for control in controls)]
    by_chance = [random_factor(design, each) for each in asked[1:]]
    if 1 in by_chance:
        raise InputError("random answers to a control item look like true ones: choose another chance for it")
    factors = [record_factors(codes, each, design) for each in asked]
    kinds, times = np.unique(np.stack([each.kinds for each in factors], axis=1), axis=0, return_counts=True)
    rows = []
    for row, number in zip(kinds.tolist(), times.tolist(), strict=True):
        factor, *known = (each.values[kind] for each, kind in zip(factors, row, strict=True))
        shown = [(1 - value) / (1 - chance) for value, chance in zip(known, by_chance, strict=True)]
        rows.append((number, factor, sum(shown, Fraction(0)) / len(shown)))
    return rows
