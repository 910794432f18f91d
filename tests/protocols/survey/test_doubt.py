"""Standard errors of gains: the derivative against differences, the error against repeated surveys."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.learning.impurity import merit, merit_gradient
from protocols.learning.tree import Leaf, Split, Tree
from protocols.randomized_response.design import Design
from protocols.randomized_response.related_question import RelatedDesign
from protocols.simulation.draws import bulk_draw
from protocols.survey.doubt import Doubt, split_doubts
from protocols.survey.responses import Responses
from protocols.tables.expression import ROOT, Term
from protocols.tables.table import Codes
from protocols.terms import Impurity
from tests.support.surveys import sampled, schema_for, unrelated

SIZES = (2, 2, 2)
SCHEMA = schema_for(SIZES)
GROUPS = ((0, 2), (1,))
STUMP = Tree(SCHEMA, Split((1, 1), 0, (Leaf((1, 0), 0), Leaf((0, 1), 1))))

CELLS = st.lists(st.integers(1, 50), min_size=6, max_size=6)


@pytest.mark.parametrize("impurity", Impurity)
@given(cells=CELLS)
def test_the_gradient_is_the_derivative(impurity: Impurity, cells: list[int]) -> None:
    table = np.array(cells, dtype=np.float64).reshape(3, 2)
    gradient = merit_gradient(table, impurity)
    step = 1e-5
    for index in np.ndindex(3, 2):
        moved = table.copy()
        moved[index] += step
        other = table.copy()
        other[index] -= step
        assert gradient[index] == pytest.approx(
            float(merit(moved, impurity) - merit(other, impurity)) / (2 * step), abs=1e-6
        )


@pytest.mark.parametrize("impurity", Impurity)
def test_the_gradient_ends_at_cells_without_a_count(impurity: Impurity) -> None:
    assert merit_gradient([[0.0, 3.0], [-2.0, 4.0]], impurity)[:, 0].tolist() == [0.0, 0.0]
    assert merit_gradient(np.zeros((2, 2)), impurity).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert merit_gradient([[2.0, 3.0], [0.0, 0.0]], impurity)[1].tolist() == [0.0, 0.0]


def population(records: int, generator: np.random.Generator) -> Codes:
    """The class follows x0 in four of five records, x1 in seven of ten."""
    label = generator.integers(2, size=records)
    first = np.where(generator.random(records) < 0.2, 1 - label, label)
    second = np.where(generator.random(records) < 0.3, 1 - label, label)
    return np.column_stack([first, second, label]).astype(np.uint8)


DESIGNS: list[Design] = [RelatedDesign(SIZES, GROUPS, Fraction(4, 5)), unrelated(SIZES, GROUPS, Fraction(7, 10))]


@pytest.mark.parametrize("design", DESIGNS, ids=["related", "unrelated"])
def test_errors_are_those_of_repeated_surveys(design: Design) -> None:
    """600 surveys: the spread of the lead against the errors told.

    The ratio of a sample variance to the true one has a standard deviation of `sqrt(2/599)` = 0.06: a quarter is four
    of them, and the seed is fixed.
    """
    generator = np.random.default_rng(17)
    found = []
    for _ in range(600):
        truth = population(4_000, generator)
        survey = Responses(SCHEMA, design.randomize(truth, bulk_draw(generator, len(truth))), design)
        found.append(split_doubts(STUMP, survey)[ROOT])
    leads = np.array([d.lead for d in found])
    assert np.mean([d.lead_error**2 for d in found]) == pytest.approx(leads.var(ddof=1), rel=0.25)


def test_of_twins_neither_leads_clearly() -> None:
    generator = np.random.default_rng(1)
    label = generator.integers(2, size=3_000)
    twin = np.where(generator.random(3_000) < 0.2, 1 - label, label)
    codes = np.column_stack([twin, twin, label]).astype(np.uint8)
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], codes))[ROOT]
    assert doubt.runner_up == 1
    assert not doubt.is_clear(0.999)


def test_a_strong_attribute_leads_clearly() -> None:
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], population(20_000, np.random.default_rng(2))))[ROOT]
    assert doubt.runner_up == 1
    assert doubt.is_clear(0.999)


def test_where_nothing_competes_a_split_is_clear() -> None:
    deep = Tree(SCHEMA, Split((1, 1), 0, (STUMP_BELOW, Leaf((0, 1), 1))))
    doubts = split_doubts(deep, sampled(DESIGNS[1], population(500, np.random.default_rng(3))))
    below = doubts[ROOT & Term(0, 0)]
    assert (below.attribute, below.runner_up) == (1, None)
    assert below.is_clear(0.95)


STUMP_BELOW = Split((1, 1), 1, (Leaf((1, 0), 0), Leaf((0, 1), 1)))


@pytest.mark.parametrize(("lead", "clear"), [(1.97, True), (1.95, False), (-3.0, False)])
def test_a_lead_is_clear_beyond_its_error_times_z(lead: float, clear: bool) -> None:
    assert Doubt(0, 1.0, 1, lead, 1.0).is_clear(0.95) is clear


def test_one_record_knows_no_error() -> None:
    doubt = split_doubts(STUMP, sampled(DESIGNS[0], np.zeros((1, 3), dtype=np.uint8)))[ROOT]
    assert doubt.lead_error == float("inf")
    assert not doubt.is_clear(0.5)
