"""Told numbers with noise agree with what was told above them, as far as noise goes."""

from fractions import Fraction

import numpy as np
import pytest

from protocols.counting.told_sums import ToldSums
from protocols.counts import Answer, Query
from protocols.errors import DeviationError
from protocols.noise.accounting import Spending
from protocols.noise.both import BothNoises
from protocols.noise.own import OwnNoise
from protocols.tables.expression import ROOT, Term
from tests.support.plain import schema_of

SPENDING = Spending(Fraction(1), 1)
FAR = 200
"""Much further than the sum of some numbers' noise, of scale 1, ever goes."""


def told_sums() -> ToldSums:
    """Return the checks of a run with two columns, of whose classes 400 and 600 were told exactly."""
    return ToldSums(schema_of((2, 2), 2), (400, 600), BothNoises(OwnNoise(bytes(32), b"", SPENDING), SPENDING), None)


def answer(more: int) -> list[Answer]:
    return [Answer((np.array([[300 + more, 200], [100, 400]]),))]


@pytest.mark.parametrize(("more", "agree"), [(0, True), (5, True), (-5, True), (FAR, False), (-FAR, False)])
def test_the_root_agrees_with_the_class_counts(more: int, agree: bool) -> None:
    asked = [Query(ROOT, (0,), None)]
    if agree:
        told_sums().check(asked, answer(more))
    else:
        with pytest.raises(DeviationError):
            told_sums().check(asked, answer(more))


@pytest.mark.parametrize(("more", "agree"), [(0, True), (5, True), (-5, True), (FAR, False), (-FAR, False)])
def test_a_node_agrees_with_the_branch_that_was_told_above_it(more: int, agree: bool) -> None:
    sums = told_sums()
    sums.check([Query(ROOT, (0,), None)], answer(0))
    asked, below = [Query(ROOT & Term(0, 0), (1,), None)], [Answer((np.array([[150, 100], [150, 100 + more]]),))]
    if agree:
        sums.check(asked, below)
    else:
        with pytest.raises(DeviationError):
            sums.check(asked, below)
