"""Bounds on the error of an estimate against the exact distribution of that error."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import exp, log, prod, sqrt

import numpy as np
import pytest

from protocols.randomized_response.coins import keyed_draw
from protocols.randomized_response.estimate import estimate_count, record_factors
from protocols.randomized_response.moments import error_bound, largest_moments, variance_bound
from protocols.randomized_response.related_question import RelatedDesign, disguise
from protocols.tables import Codes, Expression, Term
from tests.support.binomial import lower_tail, upper_tail
from tests.support.cases import correlated
from tests.support.enumeration import coin_outcomes, designs, every_record, expressions, name, true_count


def touched(expression: Expression, design: RelatedDesign) -> tuple[int, ...]:
    return tuple(k for k, group in enumerate(design.groups) if expression.columns.intersection(group))


Contribution = dict[Fraction, Fraction]
"""What one record may add to an estimate, each with its chance over the coins."""


class Enumerated:
    """All that can be sent of some records, whatever is then asked about it."""

    def __init__(self, codes: Codes, design: RelatedDesign) -> None:
        self._design, self._records = design, len(codes)
        outcomes = coin_outcomes(design)
        coins = np.array([c for c, _ in outcomes], dtype=np.uint8).reshape(len(outcomes), -1)
        every = np.tile(coins, (len(codes), 1))
        self._sent = disguise(np.repeat(codes, len(outcomes), axis=0), every, design)
        self._chances = [chance for _, chance in outcomes]

    def contributions(self, expression: Expression) -> list[Contribution]:
        """Return what each record adds to the estimate."""
        factors = record_factors(self._sent, expression, self._design)
        added = []
        for kinds in factors.kinds.reshape(self._records, -1).tolist():
            chances: Contribution = defaultdict(Fraction)
            for kind, chance in zip(kinds, self._chances, strict=True):
                chances[factors.values[kind]] += chance
            added.append(chances)
        return added

    def moments(self, expression: Expression) -> list[tuple[Fraction, Fraction]]:
        """Return the first and second moment of what each record adds, by enumeration."""
        return [
            (sum((p * f for f, p in each.items()), Fraction(0)), sum((p * f * f for f, p in each.items()), Fraction(0)))
            for each in self.contributions(expression)
        ]


ONE_GROUP = [d for d in designs() if len(d.groups) == 1]


@pytest.mark.parametrize("design", ONE_GROUP, ids=name)
def test_second_moments_are_the_largest_that_occur(design: RelatedDesign) -> None:
    """Exactly so where expressions reach every divisor of L, which they do in these designs but "dividing domains"."""
    largest: dict[bool, Fraction] = {True: Fraction(1), False: Fraction(0)}
    every = Enumerated(every_record(design.sizes), design)
    for expression in expressions(design.sizes):
        if touched(expression, design) and expression.columns <= set(design.groups[0]):
            for first, second in every.moments(expression):
                largest[first == 1] = max(largest[first == 1], second)
    assert largest_moments(design, 0) == (largest[True], largest[False])


@pytest.mark.parametrize("design", [d for d in designs() if d.patterns <= 12], ids=name)
def test_no_variance_passes_its_bound_and_dead_records_have_none(design: RelatedDesign) -> None:
    records = every_record(design.sizes)[::3]
    every, patterns = Enumerated(records, design), Patterns(records, design)
    for expression in expressions(design.sizes):
        bound = variance_bound(design, touched(expression, design))
        for (first, second), lives in zip(every.moments(expression), patterns.lives(expression), strict=True):
            variance = second - first**2
            assert float(variance) <= bound * (1 + 1e-12)
            if not lives:
                assert variance == 0


class Patterns:
    """Some records under all coins that there are, possible or not."""

    def __init__(self, codes: Codes, design: RelatedDesign) -> None:
        coins = design.pattern_coins()
        self._shape = len(coins), len(codes)
        self._every = disguise(np.tile(codes, (len(coins), 1)), np.repeat(coins, len(codes), axis=0), design)

    def lives(self, expression: Expression) -> list[bool]:
        """Tell which records satisfy the expression under some coins."""
        lives: list[bool] = np.logical_or.reduce(expression.satisfied_by(self._every).reshape(self._shape)).tolist()
        return lives

    def live(self, expression: Expression) -> int:
        """Count them."""
        return sum(self.lives(expression))


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("theta", [Fraction(1, 4), Fraction(3, 4)])
def test_the_worst_record_reaches_the_bound(groups: int, theta: Fraction) -> None:
    """Binary groups at theta = 3/4 and 1/4: every number is a short binary fraction, so nothing is rounded."""
    design = RelatedDesign((2,) * groups, tuple((c,) for c in range(groups)), theta)
    expression = Expression(tuple(Term(c, 0) for c in range(groups)))
    pairs = Enumerated(every_record(design.sizes), design).moments(expression)
    assert variance_bound(design, tuple(range(groups))) == max(second - first**2 for first, second in pairs)


SMALL = [d for d in designs() if 2 <= d.patterns <= 8 and d.theta not in (0, 1)]


@pytest.mark.parametrize("design", SMALL, ids=name)
def test_over_all_coins_the_error_passes_its_bound_no_more_often_than_stated(design: RelatedDesign) -> None:
    codes = every_record(design.sizes)[[0, -1]]
    every, patterns = Enumerated(codes, design), Patterns(codes, design)
    for expression in expressions(design.sizes):
        if not touched(expression, design):
            continue
        truth, alive = true_count(codes, expression), patterns.live(expression)
        errors: dict[Fraction, Fraction] = defaultdict(Fraction)
        for each in product(*(added.items() for added in every.contributions(expression))):
            errors[abs(sum((f for f, _ in each), Fraction(0)) - truth)] += prod((p for _, p in each), start=Fraction(1))
        for alarm in (0.0, 0.5, 1.0, 2.0, 4.0):
            bound = error_bound(design, touched(expression, design), alive, alarm)
            slack = 1e-9 * (1 + bound)
            assert float(sum(p for error, p in errors.items() if error > bound + slack)) <= exp(-alarm)


@pytest.mark.parametrize("theta", [Fraction(9, 20), Fraction(3, 5), Fraction(9, 10), Fraction(1, 10)])
@pytest.mark.parametrize("records", [1, 10, 1000, 30_000])
@pytest.mark.parametrize("satisfied", [True, False])
def test_for_one_binary_group_the_exact_tail_stays_below_the_stated_chance(
    theta: Fraction, records: int, satisfied: bool
) -> None:
    """The number of sent records that satisfy E is binomial: `N* = k/D - n q/D`, so the tail is known exactly."""
    design = RelatedDesign((2,), ((0,),), theta)
    hit = theta if satisfied else 1 - theta
    for alarm in (0.1, 1.0, 5.0, 20.0, 40.0):
        bound = error_bound(design, (0,), records, alarm) * abs(float(2 * theta - 1))
        mean = float(records * hit)
        outside = 0.0
        if mean + bound < records:
            outside += upper_tail(records, hit, int(mean + bound) + 1)
        if mean - bound > 0:
            outside += lower_tail(records, hit, -int(-(mean - bound) // 1) - 1)
        assert outside <= exp(-alarm)


def test_where_nothing_can_err_the_bound_is_nothing() -> None:
    design = RelatedDesign((2, 2), ((0,),), Fraction(9, 20))
    assert variance_bound(design, ()) == 0
    assert error_bound(design, (), 100, 5.0) == 0
    for design in designs()[:10]:
        assert error_bound(design, (0,), 0, 20.0) == 0
    # At a thousand records it is within a factor of the normal quantile, so it does catch what it should.
    design = RelatedDesign((2,), ((0,),), Fraction(9, 20))
    deviation = sqrt(1000 * float(Fraction(9, 20) * Fraction(11, 20)) * 100)
    assert 5 * deviation < error_bound(design, (0,), 1000, -log(1e-6)) < 7 * deviation


def test_bounds_hold_at_once_on_a_table_of_two_thousand_records() -> None:
    """Every expression of up to three columns, alarm `ln(10^8 * expressions)`: a false alarm in one of 10^8 tables."""
    sizes = (2, 2, 3, 2)
    design = RelatedDesign(sizes, ((0, 1), (2,), (3,)), Fraction(9, 20))
    codes = correlated(sizes, 2000, seed=3)
    coins = design.coins(keyed_draw(bytes(32), "tail", [str(i) for i in range(len(codes))]))
    copy = disguise(codes, coins, design)
    patterns = Patterns(codes, design)
    asked = [e for e in expressions(sizes) if 1 <= len(e.terms) <= 3]
    alarm = log(1e8 * len(asked))
    worst = 0.0
    for expression in asked:
        bound = error_bound(design, touched(expression, design), patterns.live(expression), alarm)
        error = abs(float(estimate_count(copy, expression, design).count) - true_count(codes, expression))
        assert error <= bound
        worst = max(worst, error / bound)
    assert worst > 0.1
