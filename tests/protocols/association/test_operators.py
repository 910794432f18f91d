"""Parameters that no randomizer can have are refused when it is made."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from protocols.association.design import TransactionDesign
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform
from protocols.errors import InputError
from tests.support.transactions import fractions

FIFTH = Fraction(1, 5)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: SelectASize(-1, (), FIFTH), "size must be 0 or more"),
        (lambda: SelectASize(2, fractions("1/2 1/2"), FIFTH), "size 2 needs 3 chances"),
        (lambda: SelectASize(1, fractions("1/2 1/3"), FIFTH), "add up to 1"),
        (lambda: SelectASize(1, fractions("3/2 -1/2"), FIFTH), "0 or more"),
        (lambda: SelectASize(0, fractions("1"), Fraction(1)), "rho must be at least 0 and below 1"),
        (lambda: SelectASize(0, fractions("1"), Fraction(-1, 2)), "rho must be at least 0"),
        (lambda: CutAndPaste(3, 0, FIFTH), "cutoff must be above 0"),
        (lambda: CutAndPaste(3, 2, Fraction(1)), "rho must be"),
        (lambda: CutAndPaste(3, 2, Fraction(1, 10**9 + 1)), "denominator of at most"),
        (lambda: Uniform(1, 4, Fraction(3, 2)), "replaced must be between 0 and 1"),
        (lambda: Uniform(3, 5, FIFTH), "universe of 5 items is too small: this randomizer needs 6"),
    ],
)
def test_a_randomizer_that_cannot_be_is_refused(make: Callable[[], Operator], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        make()


@pytest.mark.parametrize(
    ("universe", "operators", "problem"),
    [
        (5, (), "at least one size"),
        (5, (CutAndPaste(2, 1, FIFTH), CutAndPaste(2, 3, FIFTH)), "two operators"),
        (2, (CutAndPaste(3, 1, FIFTH),), "too small"),
        (2, (SelectASize(3, fractions("0 0 0 1"), FIFTH),), "too small"),
        (9, (Uniform(2, 8, FIFTH),), "declared for 8 items, there are 9"),
    ],
)
def test_a_design_that_cannot_be_is_refused(universe: int, operators: tuple[Operator, ...], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        TransactionDesign(universe, operators)


def test_a_size_without_parameters_is_refused_and_those_with_are_named() -> None:
    known = TransactionDesign(9, tuple(CutAndPaste(m, 2, FIFTH) for m in (1, 2, 3)))
    with pytest.raises(InputError, match="no parameters for transactions of size 4: it has them for 1 to 3"):
        known.check_sizes([1, 4, 3])
    with pytest.raises(InputError, match="it has them for 1, 3"):
        TransactionDesign(9, (known.operators[0], known.operators[2])).operator(2)


def test_a_declaration_holds_every_parameter_in_the_order_of_sizes() -> None:
    operators = (Uniform(2, 8, FIFTH), CutAndPaste(1, 7, Fraction(1, 10)), SelectASize(0, fractions("1"), FIFTH))
    assert TransactionDesign(8, operators).declaration() == {
        "universe": 8,
        "operators": [
            {"kind": "select-a-size", "size": 0, "chances": ["1"], "rho": "1/5"},
            {"kind": "cut-and-paste", "size": 1, "cutoff": 7, "rho": "1/10"},
            {"kind": "uniform", "size": 2, "replaced": "1/5"},
        ],
    }
