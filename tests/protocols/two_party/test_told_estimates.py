"""Estimates that a class holder tells are believed only if so many records can have them."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.answers import KeptAnswers
from protocols.counts import Correct, Query
from protocols.errors import PeerError
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import EstimatedCorrect, EstimatedCounts
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import run_alone
from protocols.tables.expression import ROOT
from protocols.two_party.told_estimates import HearingEstimates
from tests.support.duel import replay
from tests.support.plain import schema_of

SCHEMA = schema_of((2, 3), 2, alice=2)
RECORDS, TESTS, STEP = 100, 10, 4
DESIGN = RelatedDesign.of_odds((2, 3), ((0,), (1,)), Fraction(3, 4))
MOST = TESTS * 2 * 5 // 2
"""What a record may add is doubled by the group of two offsets, and two and a half times as much by that of three."""
QUERY = Query(ROOT, (0, 1), (60.0, 40.0))
FIRST, SECOND = (30, 20, 30, 20), (20, 10, 20, 10, 20, 20)
MODEL = NaiveBayes(SCHEMA, np.zeros(2), tuple(np.zeros((a.size, 2)) for a in SCHEMA.attributes))


def hearing(tests: int = TESTS) -> HearingEstimates:
    return HearingEstimates(SCHEMA, (RECORDS, tests), DESIGN, STEP, KeptAnswers())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (FIRST, SECOND),
        ((30 + 4 * STEP, *FIRST[1:]), (20 - 6 * STEP, *SECOND[1:])),
        ((0,) * 4, SECOND),
    ],
    ids=["exact", "as far off as rounding takes them", "estimated away"],
)
def test_estimates_that_so_many_records_can_have_are_taken(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    end = replay(hearing().count([QUERY]), [EstimatedCounts((*first, *second))])
    assert end.result is not None
    assert [tuple(table.ravel().tolist()) for table in end.result[0].tables] == [first, second]


@pytest.mark.parametrize(
    "values",
    [
        (*FIRST, *SECOND[:-1]),
        (*FIRST, *SECOND, 0),
        (30 + 4 * STEP + 1, *FIRST[1:], *SECOND),
        (*FIRST, 20 - 6 * STEP - 1, *SECOND[1:]),
    ],
    ids=["one missing", "one too many", "too many records", "too few records"],
)
def test_estimates_that_so_many_records_cannot_have_are_the_peers_fault(values: tuple[int, ...]) -> None:
    end = replay(hearing().count([QUERY]), [EstimatedCounts(values)])
    assert type(end.error) is PeerError


@pytest.mark.parametrize("correct", [-MOST, MOST])
@pytest.mark.parametrize("error", [0, 2 * MOST])
def test_an_accuracy_that_the_test_records_can_have_is_taken(correct: int, error: int) -> None:
    end = replay(hearing().count_correct(MODEL), [EstimatedCorrect(correct, error)])
    assert end.result == Correct(correct, error)


@pytest.mark.parametrize(("correct", "error"), [(MOST + 1, 0), (-MOST - 1, 0), (0, 2 * MOST + 1)])
def test_an_accuracy_or_an_error_beyond_any_estimate_is_the_peers_fault(correct: int, error: int) -> None:
    end = replay(hearing().count_correct(MODEL), [EstimatedCorrect(correct, error)])
    assert type(end.error) is PeerError


def test_without_test_records_no_accuracy_is_waited_for() -> None:
    assert run_alone(hearing(tests=0).count_correct(MODEL)) == Correct(0.0)
