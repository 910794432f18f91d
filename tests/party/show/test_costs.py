"""What is said before a run of what it will tell."""

from dataclasses import replace
from fractions import Fraction
from math import hypot, log

import numpy as np
import pytest

from party.forecast.model import Forecast
from party.show.costs import accuracy_outlook, memory_lines, ranking_outlook
from protocols.randomized_response.moments import gain_error
from protocols.randomized_response.related_question import RelatedDesign
from protocols.terms import ALL
from tests.support.cases import correlated
from tests.support.parties import Case, make_local, make_terms


def test_held_out_records_that_are_too_few_are_told_with_how_many_would_do() -> None:
    """Of 400 records sqrt(400 * 0.55 * 0.45) / 0.1 = 99.5 is 0.249, and 3.92 times that above 1/2."""
    design = RelatedDesign((2, 2), ((0,), (1,)), Fraction(11, 20))
    (told,) = accuracy_outlook(design, 400)
    assert told.startswith("Accuracy: 400 held-out records will be too few to estimate it from disguised copies (")
    assert told.endswith("(standard error of about 0.249 or more); it takes about 1,522 or more")
    assert not accuracy_outlook(design, 1_522)
    assert accuracy_outlook(design, 1_521)
    assert not accuracy_outlook(design, 0)


def test_more_memory_than_there_is_is_warned_of() -> None:
    forecast = Forecast(1.0, 1.0, 1e6, 3, 0)
    assert memory_lines(forecast) == []
    (told,) = memory_lines(replace(forecast, memory=1e18))
    assert told.endswith(
        "MiB of memory, the run takes more: lower max_depth, or bring fewer columns, values or records."
    )


def test_a_copy_in_the_clear_tells_an_accuracy_from_few_records() -> None:
    assert not accuracy_outlook(RelatedDesign((2, 2), (), Fraction(1)), 3)


@pytest.mark.parametrize("contrast", [1 / 3, 1 / 2])
def test_the_error_of_a_gain_is_that_of_simulated_columns_that_tell_nothing(contrast: float) -> None:
    """A column of four values as it is, two classes disguised: the variance of 2,000 gains, to second order."""
    rng, records = np.random.default_rng(1), 3000
    gains = []
    for _ in range(2000):
        sizes = rng.multinomial(records, [1 / 4] * 4)
        off = 2 * (rng.binomial(sizes, 1 / 2) - sizes / 2) / contrast  # how far N(v, 1) - N(v, 0) seems from 0
        gains.append(((off - off.sum() * sizes / records) ** 2 / sizes).sum() / (2 * records * log(2)))
    assert np.std(gains) == pytest.approx(gain_error(records, 4, 2, contrast), rel=0.1)


def test_a_ranking_by_noise_is_foretold_and_one_by_many_records_is_not() -> None:
    case = Case(
        sizes={"alice": (8, 2), "bob": (2,)},
        class_owners=("bob",),
        groups={"alice": 2, "bob": 1},
        codes=correlated((8, 2, 2, 2), 40),
        classes=2,
        terms=make_terms(theta=Fraction(2, 3), omega=1, method="hybrid"),
    )
    alice = make_local(case, "alice")
    design = RelatedDesign.of_odds((8, 2), ((0,), (1,)), Fraction(2, 3))
    (line,) = ranking_outlook(alice, design, case.terms, 1000)
    wide = hypot(*(gain_error(1000, 8, 2, each) for each in (float(design.contrast(0)), 1 / 3))) / 2
    assert f"a0 (8 values) may be off by {wide:.2g} of 1 bits" in line, line
    assert not ranking_outlook(alice, design, case.terms, 10**6)
    assert not ranking_outlook(alice, design, replace(case.terms, omega=ALL), 1000)
