"""Several samples, each with a design of its own, as one estimate: exact over all outcomes of small cases."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod, sqrt

import numpy as np
import pytest

from protocols.errors import InputError
from protocols.randomized_response.combined import CombinedEstimate, combined, factor_variance
from protocols.randomized_response.design import Design
from protocols.randomized_response.estimate import estimate_count
from protocols.randomized_response.related_question import RelatedDesign
from protocols.randomized_response.unrelated_question import UnrelatedDesign
from protocols.simulation.draws import bulk_draw
from protocols.tables.expression import Expression
from tests.support.questions import crosswise, triangular

HALF = Fraction(1, 2)
YES = Expression().child(0, 1)
WEAK = RelatedDesign((2,), ((0,),), Fraction(11, 20))
STRONG = RelatedDesign((2,), ((0,),), Fraction(9, 10))
UNRELATED = UnrelatedDesign((2,), ((0,),), HALF, ((HALF, HALF),))
DIRECT = RelatedDesign((2,), (), Fraction(1))
PAIRS = [
    (WEAK, STRONG),
    (STRONG, UNRELATED),
    (crosswise((2,), [0], "1/6"), triangular((2,), [0], "1/4")),
    (DIRECT, WEAK),
]
NAMES = ["two thetas", "two kinds", "statements", "one asked directly"]
SHARE = Fraction(1, 3)

Outcome = tuple[Fraction, CombinedEstimate]


def chance(design: Design, truth: int, response: int) -> Fraction:
    if not design.groups:
        return Fraction(truth == response)
    return design.transition(0, (0,))[response][truth]


def outcomes(designs: tuple[Design, Design], truths: list[tuple[int, ...]]) -> Iterator[Outcome]:
    """Yield all that the coins can make of two samples of these true records."""
    for responses in product(*(product(range(2), repeat=len(truth)) for truth in truths)):
        each = [
            chance(design, true, said)
            for design, truth, sample in zip(designs, truths, responses, strict=True)
            for true, said in zip(truth, sample, strict=True)
        ]
        tables = [np.array(sample, dtype=np.uint8)[:, None] for sample in responses]
        samples = [estimate_count(table, YES, design) for table, design in zip(tables, designs, strict=True)]
        yield prod(each, start=Fraction(1)), combined(samples, designs, [YES, YES])


@pytest.mark.parametrize("designs", PAIRS, ids=NAMES)
@pytest.mark.parametrize("truths", [[(0, 0), (0, 0)], [(1, 0), (1, 1, 1)], [(1, 1, 0), (0, 0)]])
def test_over_all_coins_the_count_is_that_of_all_records_and_its_variance_the_true_one(
    designs: tuple[Design, Design], truths: list[tuple[int, ...]]
) -> None:
    every = list(outcomes(designs, truths))
    truth = sum(map(sum, truths))
    assert sum(p * found.count for p, found in every) == truth
    spread = sum(p * (found.count - truth) ** 2 for p, found in every)
    assert sum(p * sum(sample.variance for sample in found.samples) for p, found in every) == spread


@pytest.mark.parametrize("designs", PAIRS, ids=NAMES)
def test_over_all_samples_and_coins_the_share_is_the_population_s_and_its_variance_the_true_one(
    designs: tuple[Design, Design],
) -> None:
    mean = square = told = Fraction(0)
    for first, second in product(product(range(2), repeat=2), product(range(2), repeat=3)):
        drawn = prod((SHARE if true else 1 - SHARE for true in (*first, *second)), start=Fraction(1))
        for p, found in outcomes(designs, [first, second]):
            mean += drawn * p * found.proportion
            square += drawn * p * found.proportion**2
            told += drawn * p * found.proportion_variance
    assert mean == SHARE
    assert told == square - mean**2


def test_a_sample_that_tells_little_counts_for_little_and_both_together_tell_more_than_either() -> None:
    """At 11/20 and 9/10, moments by hand: `E f^2 - 1/4` at even odds is `1/4/(2 theta - 1)^2`."""
    assert factor_variance(WEAK, YES) == Fraction(1, 4) * 100
    assert factor_variance(STRONG, YES) == Fraction(1, 4) * Fraction(25, 16)
    table = np.array([[1]] * 60 + [[0]] * 140, dtype=np.uint8)
    samples = [estimate_count(table, YES, design) for design in (WEAK, STRONG)]
    found = combined(samples, [WEAK, STRONG], [YES, YES])
    assert found.weights == (Fraction(1, 65), Fraction(64, 65))
    assert found.proportion_error < min(sample.proportion_error for sample in samples)


def test_intervals_of_simulated_surveys_hold_the_share_as_often_as_they_say() -> None:
    """2,000 surveys of two files: the intervals of 9/10 miss in 200 +- 6 standard deviations of 13.4."""
    missed, chances = 0, np.random.default_rng(3)
    for _ in range(2000):
        samples = []
        for design in (WEAK, UNRELATED):
            truth = (chances.random((400, 1)) < 0.3).astype(np.uint8)
            samples.append(estimate_count(design.randomize(truth, bulk_draw(chances, 400)), YES, design))
        low, high = combined(samples, [WEAK, UNRELATED], [YES, YES]).interval(0.9)
        missed += not low < 0.3 < high
    assert abs(missed - 200) < 6 * sqrt(2000 * 0.9 * 0.1)


def test_samples_that_lie_apart_are_seen_to() -> None:
    tables = [np.array([[1]] * yes + [[0]] * (100 - yes), dtype=np.uint8) for yes in (20, 80)]
    samples = [estimate_count(table, YES, DIRECT) for table in tables]
    assert combined(samples, [DIRECT, DIRECT], [YES, YES]).deviation > 50
    assert combined(samples[:1] * 2, [DIRECT, DIRECT], [YES, YES]).deviation == 0


def test_a_sample_of_one_or_none_is_refused() -> None:
    one = estimate_count(np.zeros((1, 1), dtype=np.uint8), YES, DIRECT)
    with pytest.raises(InputError, match="fewer than 2"):
        combined([one], [DIRECT], [YES])
    with pytest.raises(InputError, match="there must be one"):
        CombinedEstimate((), ())
