"""Randomizers, transactions and their audit: what cannot be is refused, and a sampler that departs is caught."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from protocols.association.audit import OperatorAudit, audit_operators
from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform, transition
from protocols.association.sampling import Words, keyed_words, randomize
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.privacy.chernoff import Goal
from tests.support.transactions import OPERATORS, every_form, fractions, label, overlaps

FIFTH = Fraction(1, 5)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: SelectASize(-1, (), FIFTH), "size must be 0 or more"),
        (lambda: SelectASize(2, fractions("1/2 1/2"), FIFTH), "size 2 must have 3 chances"),
        (lambda: SelectASize(1, fractions("1/2 1/3"), FIFTH), "add up to 1"),
        (lambda: SelectASize(1, fractions("3/2 -1/2"), FIFTH), "0 or more"),
        (lambda: SelectASize(0, fractions("1"), Fraction(1)), "rho must be at least 0 and below 1"),
        (lambda: SelectASize(0, fractions("1"), Fraction(-1, 2)), "rho must be at least 0"),
        (lambda: CutAndPaste(3, 0, FIFTH), "cutoff must be above 0"),
        (lambda: CutAndPaste(3, 2, Fraction(1)), "rho must be"),
        (lambda: CutAndPaste(3, 2, Fraction(1, 10**9 + 1)), "denominator of at most"),
        (lambda: Uniform(1, 4, Fraction(3, 2)), "replaced must be between 0 and 1"),
        (lambda: Uniform(3, 5, FIFTH), "universe of 5 items is too small: list 6"),
    ],
)
def test_a_randomizer_that_cannot_be_is_refused(make: Callable[[], Operator], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        make()


def test_a_design_that_cannot_be_is_refused() -> None:
    for universe, operators, problem in [
        (5, (), "at least one size"),
        (5, (CutAndPaste(2, 1, FIFTH), CutAndPaste(2, 3, FIFTH)), "two operators"),
        (2, (CutAndPaste(3, 1, FIFTH),), "too small"),
        (2, (SelectASize(3, fractions("0 0 0 1"), FIFTH),), "too small"),
        (9, (Uniform(2, 8, FIFTH),), "declared for 8 items, there are 9"),
    ]:
        with pytest.raises(InputError, match=problem):
            TransactionDesign(universe, operators)


def column(operator: Operator, k: int, held: int) -> tuple[Fraction, ...]:
    return tuple(row[held] for row in transition(operator, k))


def test_a_frequent_triple_that_is_shown_under_uniform_randomization_is_almost_surely_true() -> None:
    """Review section 3.1: ten items of ten thousand, each replaced with chance 4/5."""
    shown = transition(Uniform(10, 10_000, Fraction(4, 5)), 3)[3]
    assert shown[3] == Fraction(8, 1000)
    assert float(shown[0]) == pytest.approx(3.70e-10, rel=2e-3)
    assert float(Fraction(comb(9_997, 7), comb(10_000, 10))) == pytest.approx(7.2e-10, rel=2e-3)
    share = Fraction(1, 100)
    posterior = share * shown[3] / (share * shown[3] + (1 - share) * shown[0])
    assert float(posterior) == pytest.approx(0.9999954, abs=1e-7)


@pytest.mark.parametrize(("operator", "universe"), OPERATORS, ids=label)
def test_every_set_of_every_transaction_is_shown_as_often_as_declared(operator: Operator, universe: int) -> None:
    transaction = range(universe - operator.size, universe)
    forms = every_form(operator, transaction, universe)
    assert sum(forms.values()) == 1
    for k in range(min(universe, 4) + 1):
        for itemset in combinations(range(universe), k):
            held = len(set(itemset).intersection(transaction))
            assert tuple(overlaps(forms, itemset)) == column(operator, k, held)


@pytest.mark.parametrize(("operator", "universe"), OPERATORS, ids=label)
def test_own_items_stay_as_often_as_declared_whatever_enters(operator: Operator, universe: int) -> None:
    own = set(range(operator.size))
    forms = every_form(operator, sorted(own), universe)
    foreign = universe - operator.size
    for j in (j for j in range(operator.size + 1) if operator.kept[j]):
        for f in range(foreign + 1):
            joint = sum(p for sent, p in forms.items() if len(sent & own) == j and len(sent - own) == f)
            assert joint == operator.kept[j] * operator.entering(j, foreign)[f]


def test_known_answers_of_both_operators_hold_and_chances_of_two_hundred_names_add_up() -> None:
    for m, n, k, held, p, expected in (
        (3, 8, 2, 1, "4/5", "48/125 69/125 8/125"),
        (3, 8, 3, 2, "1/3", "8/135 17/45 8/15 4/135"),
        (3, 7, 3, 3, "4/5", "64/125 48/125 12/125 1/125"),
    ):
        assert column(Uniform(m, n, Fraction(p)), k, held) == fractions(expected)
    for m, k, held, expected in (
        (5, 2, 0, "81/100 18/100 1/100"),
        (5, 2, 1, "567/1000 99/250 37/1000"),
        (5, 2, 2, "81/200 9/20 29/200"),
        (3, 3, 3, "729/4000 1053/4000 1107/4000 1111/4000"),
    ):
        assert column(CutAndPaste(m, 3, Fraction(1, 10)), k, held) == fractions(expected)
    for m, cutoff in ((3, 2), (2, 3), (3, 3), (3, 5), (1, 7)):
        cut = CutAndPaste(m, cutoff, Fraction(1, 5))
        assert sum(cut.kept.fractions) == 1
        same = SelectASize(m, cut.kept.fractions, cut.rho)
        assert every_form(cut, range(m), m + 2) == every_form(same, range(m), m + 2)
    for operator, universe in OPERATORS:
        renamed = [(item * 2 + 1) % universe if universe % 2 else universe - 1 - item for item in range(universe)]
        transaction = range(operator.size)
        forms = every_form(operator, transaction, universe)
        other = every_form(operator, sorted(renamed[item] for item in transaction), universe)
        assert other == {frozenset(renamed[item] for item in sent): p for sent, p in forms.items()}
    with pytest.raises(InputError, match="0 or more items"):
        transition(CutAndPaste(2, 1, Fraction(1, 5)), -1)
    matrix = transition(CutAndPaste(200, 7, Fraction(1, 20)), 3)
    assert [sum(part) for part in zip(*matrix, strict=True)] == [1, 1, 1, 1]


def test_an_item_twice_or_outside_the_universe_is_refused() -> None:
    for baskets, problem in [
        ([[0], [1, 2, 1]], "transaction 1 must hold each item once"),
        ([[0], [], [4]], "transaction 2 holds an item outside the universe of 4"),
        ([[0], [-1]], "transaction 1 holds an item outside"),
        ([[2**40]], "transaction 0 holds an item outside"),
    ]:
        with pytest.raises(InputError, match=problem):
            Transactions.of(baskets, 4)


def test_arrays_that_do_not_fit_are_refused() -> None:
    for starts, items, problem in [
        ([0, 2], [1, 0], "transaction 0 must hold each item once, and its items must rise"),
        ([0, 1, 1, 3], [3, 2, 2], "transaction 2 must hold each item once"),
        ([0, 3], [0, 1], "starts"),
        ([1, 2], [0, 1], "starts"),
        ([], [], "starts"),
        ([0, 2, 1, 2], [0, 1], "must not fall"),
        ([0, 1, 2], [0, 9], "transaction 1 holds an item outside"),
    ]:
        with pytest.raises(InputError, match=problem):
            Transactions(4, np.array(starts, dtype=np.int64), np.array(items, dtype=np.int32))


def test_a_size_has_declared_parameters_in_order_and_transactions_are_kept_as_given() -> None:
    known = TransactionDesign(9, tuple(CutAndPaste(m, 2, FIFTH) for m in (1, 2, 3)))
    with pytest.raises(InputError, match="no parameters for transactions of size 4: it has them for 1 to 3"):
        known.check_sizes([1, 4, 3])
    with pytest.raises(InputError, match="it has them for 1, 3"):
        TransactionDesign(9, (known.operators[0], known.operators[2])).operator(2)
    operators = (Uniform(2, 8, FIFTH), CutAndPaste(1, 7, Fraction(1, 10)), SelectASize(0, fractions("1"), FIFTH))
    assert TransactionDesign(8, operators).declaration() == {
        "universe": 8,
        "operators": [
            {"kind": "select-a-size", "size": 0, "chances": ["1"], "rho": "1/5"},
            {"kind": "cut-and-paste", "size": 1, "cutoff": 7, "rho": "1/10"},
            {"kind": "uniform", "size": 2, "replaced": "1/5"},
        ],
    }
    made = Transactions.of([[3, 1], [], [0], []], 4)
    assert made.sets() == list(map(frozenset, ([1, 3], [], [0], [])))
    assert made.sizes.tolist() == [2, 0, 1, 0]
    assert made.row(0).tolist() == [1, 3]
    assert made.matrix(np.array([2, 0])).astype(int).tolist() == [[1, 0, 0, 0], [0, 1, 0, 1]]
    assert repr(made) == "<Transactions 4 over 4 items>"
    assert len(Transactions.of([], 0)) == 0
    assert Transactions.of([[]], 0).sets() == [frozenset()]
    assert Transactions.of([[3], [0], [], [2], [1, 3]], 4).sizes.tolist() == [1, 1, 0, 1, 2]
    for universe in (-1, 2**31):
        with pytest.raises(InputError, match="a universe has"):
            Transactions.of([], universe)
    for sizes in ([1], [1, -1], [1, 1, 1]):
        with pytest.raises(InputError, match="one original size each"):
            Randomized(Transactions.of([[0], [1]], 2), np.array(sizes))


DESIGN = TransactionDesign(
    9,
    (
        SelectASize(0, fractions("1"), Fraction(1, 5)),
        CutAndPaste(2, 3, Fraction(1, 10)),
        Uniform(3, 9, Fraction(1, 3)),
        SelectASize(4, fractions("0 1/4 1/4 0 1/2"), Fraction(1, 4)),
    ),
)
GOAL = Goal(shift=Fraction(1, 20))
"""An honest sampler fails with a chance of 10^-6; one that is off by 1/20 passes with at most 1/1000."""

Sampler = Callable[[Transactions, TransactionDesign, Words], Randomized]


def words(records: int) -> Words:
    return keyed_words(bytes(range(32)), "audit", list(map(str, range(records))))


def audited(sampler: Sampler = randomize, design: TransactionDesign = DESIGN) -> OperatorAudit:
    return audit_operators(design, words, sampler, GOAL)


def changed(operator: CutAndPaste | SelectASize | Uniform, size: int) -> TransactionDesign:
    rest = (known for known in DESIGN.operators if known.size != size)
    return TransactionDesign(9, (*rest, operator))


def sampler_of(design: TransactionDesign) -> Sampler:
    return lambda transactions, _, chance: randomize(transactions, design, chance)


DEPARTURES = {
    "a smaller rho": changed(CutAndPaste(2, 3, Fraction(1, 20)), 2),
    "a larger rho": changed(SelectASize(4, fractions("0 1/4 1/4 0 1/2"), Fraction(3, 10)), 4),
    "another cut-off": changed(CutAndPaste(2, 7, Fraction(1, 10)), 2),
    "other chances of what stays, by one mean": changed(
        SelectASize(4, fractions("0 0 1/2 1/4 1/4"), Fraction(1, 4)), 4
    ),
    "fewer replacements": changed(Uniform(3, 9, Fraction(1, 4)), 3),
    "nothing enters an empty transaction": changed(SelectASize(0, fractions("1"), Fraction(0)), 0),
}


def test_a_sampler_is_held_against_its_declaration_and_one_that_differs_fails() -> None:
    """Of what stays it sends the first items, whichever number was drawn."""

    def first(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        sent = randomize(transactions, design, chance)
        own = transactions.sizes
        sets = [
            [*range(sum(item < size for item in row)), *(item for item in row if item >= size)]
            for row, size in zip(sent.transactions.sets(), own.tolist(), strict=True)
        ]
        return replace(sent, transactions=Transactions.of(sets, transactions.universe))

    failed = {test.what.split(":")[0] for test in audited(first).failures}
    assert "of 1 items, 1 of them own, shown" in failed
    assert "own items that stay" not in failed

    def paired(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        return randomize(transactions, design, lambda purpose, rows, count: chance(purpose, rows - rows % 2, count))

    failed = {test.what.split(":")[0] for test in audited(paired).failures}
    assert "one foreign item, in one transaction and the next, shown" in failed
    found = audited()
    assert found.passed, found.failures
    assert {test.size for test in found.tests} == {0, 2, 3, 4}
    assert found.disguised >= 4000
    for case in DEPARTURES.values():
        found = audited(sampler_of(case))
        sizes = {test.size for test in found.failures}
        assert sizes == {size for size in DESIGN.sizes if case.operator(size) != DESIGN.operator(size)}

    def none(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        del transactions, chance
        return Randomized(Transactions.of([], design.universe), np.zeros(0, dtype=np.int64))

    with pytest.raises(InputError, match="the sampler returned 0 transactions for"):
        audited(none)
    with pytest.raises(InputError, match="the goal needs more than 10000000 transactions"):
        audit_operators(DESIGN, words, goal=Goal(shift=Fraction(1, 10_000)))
