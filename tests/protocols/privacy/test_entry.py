"""Bayes' rule for one attribute, and what is refused."""

from fractions import Fraction

import pytest

from protocols.errors import InputError
from protocols.privacy.entry import Entry, MatrixRow, check_group, entry_of
from protocols.randomized_response.design import Design
from tests.protocols.privacy.designs import DESIGNS, certain, related, shares, skewed
from tests.support.declaration import joint_transition

HALF = Fraction(1, 2)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_posteriors_are_those_of_bayes(design: Design) -> None:
    for column, size in enumerate(design.sizes):
        matrix = joint_transition(design, (column,))
        for prior in (skewed(size), certain(size)):
            entry = entry_of(design, column, prior)
            assert entry.matrix == matrix
            for response, posterior in enumerate(entry.posteriors):
                total = sum(prior[x] * matrix[response][x] for x in range(size))
                assert entry.responses[response] == total
                assert posterior == (
                    tuple(prior[x] * matrix[response][x] / total for x in range(size)) if total else None
                )
            assert sum(entry.responses) == 1


def test_without_a_prior_all_values_are_equally_likely() -> None:
    assert entry_of(DESIGNS["two groups"], 1).prior == shares("1/3 1/3 1/3")


def test_a_response_that_is_never_given_has_no_posterior() -> None:
    entry = entry_of(DESIGNS["no disguise"], 1, shares("1/4 0 3/4"))
    assert entry.responses == shares("1/4 0 3/4")
    assert entry.posteriors == (shares("1 0 0"), None, shares("0 0 1"))


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        (shares("1/2 1/4"), "a prior must add up to 1 exactly, not 3/4"),
        (shares("3/2 -1/2"), "a prior must hold exact fractions between 0 and 1"),
        ((0.5, 0.5), "a prior must hold exact fractions between 0 and 1"),
        ((float("nan"), HALF), "a prior must hold exact fractions between 0 and 1"),
        (shares("1/2 1/4 1/4"), "a prior needs a chance for each of the 2 values of column 0, not 3"),
        (shares("1"), "a prior needs a chance for each of the 2 values of column 0, not 1"),
        ((), "a prior needs a chance for each of the 2 values of column 0, not 0"),
    ],
)
def test_a_prior_that_is_no_distribution_is_refused(prior: MatrixRow, text: str) -> None:
    with pytest.raises(InputError) as refusal:
        entry_of(DESIGNS["Warner"], 0, prior)
    assert str(refusal.value) == text


@pytest.mark.parametrize("column", [-1, 3])
def test_an_unknown_column_is_refused(column: int) -> None:
    with pytest.raises(InputError, match=f"there is no column {column}: the design has columns 0 to 2"):
        entry_of(DESIGNS["two groups"], column)


@pytest.mark.parametrize("group", [-1, 2])
def test_an_unknown_group_is_refused(group: int) -> None:
    with pytest.raises(InputError, match=f"there is no group {group}: the design has 2, counted from 0"):
        check_group(related([2, 2], [[0], [1]], "9/20"), group)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (((HALF, HALF), (HALF, Fraction(1, 4))), "column 1 of a transition matrix must add up to 1 exactly, not 3/4"),
        (((HALF,), (HALF,)), "a prior of 2 values needs as many chances in every row of the matrix"),
        (((Fraction(2), HALF), (Fraction(-1), HALF)), "column 0 of a transition matrix must hold exact fractions"),
        ((), "column 0 of a transition matrix must add up to 1 exactly, not 0"),
    ],
)
def test_a_matrix_that_is_no_transition_is_refused(matrix: tuple[MatrixRow, ...], text: str) -> None:
    with pytest.raises(InputError) as refusal:
        Entry((HALF, HALF), matrix)
    assert text in str(refusal.value)


def test_an_empty_prior_is_refused() -> None:
    with pytest.raises(InputError, match="a prior must add up to 1 exactly, not 0"):
        Entry((), ())
