"""Supports are recovered without bias, and their variances and covariances are what the formulas say."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform, transition
from protocols.association.support import Support, estimate_support, is_recoverable, recovery, variance, weights
from protocols.association.transactions import TransactionDesign
from protocols.errors import InputError
from tests.support.transactions import estimate_covariance, every_form, fractions

FIFTH = Fraction(1, 5)
UNIVERSE = 5
OPERATORS: tuple[Operator, ...] = (
    SelectASize(0, fractions("1"), FIFTH),
    CutAndPaste(1, 2, Fraction(1, 4)),
    Uniform(2, UNIVERSE, Fraction(1, 3)),
    CutAndPaste(3, 3, FIFTH),
)
DESIGN = TransactionDesign(UNIVERSE, OPERATORS)

Cells = dict[int, list[list[int]]]


def outcomes(
    baskets: Sequence[Sequence[int]], first: Sequence[int], rest: Sequence[int]
) -> Iterator[tuple[Cells, Fraction]]:
    """Yield, for all outcomes, how many transactions of each size hold `a` of the first items and `b` of the rest."""
    each = []
    for basket in baskets:
        shown: dict[tuple[int, int, int], Fraction] = {}
        for form, chance in every_form(DESIGN.operator(len(basket)), basket, UNIVERSE).items():
            cell = (len(basket), len(form.intersection(first)), len(form.intersection(rest)))
            shown[cell] = shown.get(cell, Fraction(0)) + chance
        each.append(shown.items())
    for outcome in product(*each):
        cells: Cells = {len(b): [[0] * (len(rest) + 1) for _ in range(len(first) + 1)] for b in baskets}
        for (size, a, b), _ in outcome:
            cells[size][a][b] += 1
        yield cells, prod((chance for _, chance in outcome), start=Fraction(1))


def all_items(cells: Cells) -> dict[int, list[int]]:
    """Return the counts by how many items of both together are held."""
    counts = {}
    for size, table in cells.items():
        counts[size] = [0] * (len(table) + len(table[0]) - 1)
        for a, row in enumerate(table):
            for b, count in enumerate(row):
                counts[size][a + b] += count
    return counts


def first_items(cells: Cells) -> dict[int, list[int]]:
    return {size: [sum(row) for row in table] for size, table in cells.items()}


BASKETS = [([], [2], [0, 1], [0, 1, 4]), ([0, 1], [1, 2], [0, 3]), ([0, 1, 2], [0, 1, 2]), ([3], [4], [])]


@pytest.mark.parametrize("baskets", BASKETS, ids=str)
@pytest.mark.parametrize(("first", "rest"), [([0], [1]), ([1], [0, 2]), ([0, 1], []), ([], [0]), ([0, 1], [2])])
def test_over_all_outcomes_estimates_have_the_truth_for_mean_and_their_variance_for_spread(
    baskets: Sequence[Sequence[int]], first: Sequence[int], rest: Sequence[int]
) -> None:
    """No tolerance: support, its variance, and the covariance with the support of a part, all as exact fractions."""
    union = {*first, *rest}
    n, truth = len(baskets), Fraction(sum(union <= set(b) for b in baskets), len(baskets))
    inner_truth = Fraction(sum(set(first) <= set(b) for b in baskets), n)
    mean = square = mixed = told = told_mixed = inner_mean = Fraction(0)
    for cells, chance in outcomes(baskets, first, rest):
        whole = estimate_support(DESIGN, all_items(cells))
        inner = estimate_support(DESIGN, first_items(cells))
        mean += chance * whole.share
        inner_mean += chance * inner.share
        square += chance * whole.share**2
        mixed += chance * whole.share * inner.share
        told += chance * whole.variance
        told_mixed += chance * estimate_covariance(DESIGN, cells, whole)
    assert (mean, inner_mean) == (truth, inner_truth)
    assert told == square - mean**2
    assert told_mixed == mixed - mean * inner_mean
    assert told == by_formula(baskets, sorted(union))


def by_formula(baskets: Sequence[Sequence[int]], itemset: Sequence[int]) -> Fraction:
    """Return the variance over all sizes by Review equation 9."""
    total = Fraction(0)
    for size in {len(basket) for basket in baskets}:
        own = [set(basket) for basket in baskets if len(basket) == size]
        held = [len(basket.intersection(itemset)) for basket in own]
        partial = [Fraction(held.count(items), len(own)) for items in range(len(itemset) + 1)]
        total += Fraction(len(own), len(baskets)) ** 2 * variance(DESIGN.operator(size), partial, len(own))
    return total


def test_the_known_variance_and_conditions() -> None:
    partial = [Fraction(1, 3)] * 3
    assert variance(CutAndPaste(3, 2, FIFTH), partial, 3) == Fraction(551, 144)
    for m, expected in ((3, (2.4, 5.5, 12.9)), (5, (2.8, 6.9, 17.0)), (10, (4.8, 19.8, 78.5))):
        operator = CutAndPaste(m, 7, Fraction(2, 5))
        found = [np.linalg.cond(np.array(transition(operator, k), dtype=float)) for k in (1, 2, 3)]
        assert [round(float(condition), 1) for condition in found] == list(expected)
    operator = CutAndPaste(5, 3, Fraction(1, 10))
    forth, back = transition(operator, 3), recovery(operator, 3)
    for i, j in product(range(4), repeat=2):
        assert sum(back[i][x] * forth[x][j] for x in range(4)) == (i == j)
    assert not any(weights(OPERATORS[1], 2))
    assert variance(OPERATORS[1], [Fraction(1, 2), Fraction(1, 2), Fraction(0)], 7) == 0
    assert estimate_support(DESIGN, {1: [3, 2, 4]}) == Support(Fraction(0), Fraction(0))
    with pytest.raises(InputError, match="transactions of size 1 hold no set of 2 items"):
        recovery(OPERATORS[1], 2)


def test_what_cannot_be_recovered_is_refused_and_the_largest_size_that_can_is_named() -> None:
    hidden = SelectASize(3, fractions("64/125 48/125 12/125 1/125"), FIFTH)  # own items come as foreign ones do
    one = SelectASize(3, fractions("1/2 1/2 0 0"), Fraction(0))
    with pytest.raises(
        InputError, match=r"sets of 1 items cannot be recovered from transactions of size 3.*no set's can"
    ):
        weights(hidden, 1)
    with pytest.raises(InputError, match=r"sets of 3 items cannot be .*; sets of up to 1 can"):
        weights(one, 3)
    with pytest.raises(InputError, match="sets of up to 1 can"):
        estimate_support(TransactionDesign(5, (one,)), {3: [4, 3, 2]})
    with pytest.raises(InputError, match="sets of up to 2 can"):  # a cut-off of 2 never keeps three as they are
        weights(CutAndPaste(5, 2, FIFTH), 3)
    operators = (one, CutAndPaste(5, 5, FIFTH), SelectASize(0, fractions("1"), FIFTH))
    mixed = TransactionDesign(6, operators)
    assert [k for k in range(1, 6) if is_recoverable(mixed, [3, 5], k)] == [1, 4, 5]
    assert all(is_recoverable(mixed, [5, 0], k) for k in range(1, 6))


def test_estimates_of_nothing_are_refused_and_nothing_is_cut() -> None:
    with pytest.raises(InputError, match="no transactions"):
        estimate_support(DESIGN, {2: [0, 0]})
    with pytest.raises(InputError, match="no transactions"):
        estimate_support(DESIGN, {})
    with pytest.raises(InputError, match="no transactions"):
        variance(OPERATORS[1], fractions("1 0"), 0)
    found = estimate_support(DESIGN, {3: [4, 0, 0]})
    assert found.share != 0
    assert Support(Fraction(-1, 3), Fraction(-1, 9)).standard_error == 0


def test_names_of_items_do_not_matter_to_an_estimate() -> None:
    """Tallies of overlaps are all that an estimate reads, so all itemsets of equal counts have one estimate."""
    baskets = [[0, 1, 2], [1, 2]]
    found = set()
    for first in combinations(range(UNIVERSE), 2):
        held = tuple(len(set(first) & set(b)) for b in baskets)
        if held == (2, 1):
            mean = Fraction(0)
            for cells, chance in outcomes(baskets, first, []):
                mean += chance * estimate_support(DESIGN, all_items(cells)).share
            found.add(mean)
    assert found == {Fraction(1, 2)}
