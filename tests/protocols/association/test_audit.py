"""The audit passes a sampler that keeps to its design, and fails each kind of departure."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from protocols.association.audit import OperatorAudit, audit_operators
from protocols.association.operators import CutAndPaste, SelectASize, Uniform
from protocols.association.sampling import Words, keyed_words, randomize
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.privacy.chernoff import Goal
from tests.support.transactions import fractions

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


def test_the_shipped_sampler_is_as_declared() -> None:
    found = audited()
    assert found.passed, found.failures
    assert {test.size for test in found.tests} == {0, 2, 3, 4}
    assert found.disguised >= 4000


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


@pytest.mark.parametrize("departure", DEPARTURES)
def test_a_sampler_with_other_parameters_fails(departure: str) -> None:
    found = audited(sampler_of(DEPARTURES[departure]))
    sizes = {test.size for test in found.failures}
    assert sizes == {size for size in DESIGN.sizes if DEPARTURES[departure].operator(size) != DESIGN.operator(size)}


def test_a_sampler_that_differs_from_what_is_declared_fails() -> None:
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


def test_a_sampler_that_loses_transactions_and_a_goal_that_needs_too_many_are_refused() -> None:
    def none(transactions: Transactions, design: TransactionDesign, chance: Words) -> Randomized:
        del transactions, chance
        return Randomized(Transactions.of([], design.universe), np.zeros(0, dtype=np.int64))

    with pytest.raises(InputError, match="the sampler returned 0 transactions for"):
        audited(none)
    with pytest.raises(InputError, match="the goal needs more than 10000000 transactions"):
        audit_operators(DESIGN, words, goal=Goal(shift=Fraction(1, 10_000)))
