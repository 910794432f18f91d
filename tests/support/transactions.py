"""Every randomized form of a transaction with its exact chance, and the covariance of two supports, by definition."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, perm, prod

from protocols.association.operators import CutAndPaste, Operator, SelectASize, Uniform
from protocols.association.support import Support, weights
from protocols.association.transactions import TransactionDesign

Sent = frozenset[int]


def every_form(operator: Operator, transaction: Sequence[int], universe: int) -> dict[Sent, Fraction]:
    """Return what is sent, with its chance."""
    total: Counter[Sent] = Counter()
    for sent, chance in _steps(operator, tuple(transaction), universe):
        total[sent] += chance  # type: ignore[assignment]  # a counter of fractions
    return {sent: Fraction(chance) for sent, chance in total.items() if chance}


def _steps(operator: Operator, transaction: tuple[int, ...], universe: int) -> Iterator[tuple[Sent, Fraction]]:
    foreign = [item for item in range(universe) if item not in transaction]
    if isinstance(operator, Uniform):
        yield from _replaced(transaction, foreign, operator.replaced)
    elif isinstance(operator, SelectASize):
        for j, share in enumerate(operator.chances):
            for kept in combinations(transaction, j):
                chance = share / comb(len(transaction), j)
                yield from _pasted(kept, foreign, operator.rho, chance)
    elif isinstance(operator, CutAndPaste):
        for i in range(operator.cutoff + 1):
            j = min(i, len(transaction))
            for kept in combinations(transaction, j):
                rest = [item for item in range(universe) if item not in kept]
                chance = Fraction(1, operator.cutoff + 1) / comb(len(transaction), j)
                yield from _pasted(kept, rest, operator.rho, chance)


def _replaced(transaction: Sequence[int], foreign: Sequence[int], p: Fraction) -> Iterator[tuple[Sent, Fraction]]:
    for coins in product((False, True), repeat=len(transaction)):
        stay = [item for item, out in zip(transaction, coins, strict=True) if not out]
        chance = prod((p if out else 1 - p for out in coins), start=Fraction(1))
        for fresh in permutations(foreign, sum(coins)):
            yield frozenset((*stay, *fresh)), chance / perm(len(foreign), sum(coins))


def _pasted(
    kept: Sequence[int], others: Sequence[int], rho: Fraction, chance: Fraction
) -> Iterator[tuple[Sent, Fraction]]:
    for coins in product((False, True), repeat=len(others)):
        entered = [item for item, enters in zip(others, coins, strict=True) if enters]
        yield (
            frozenset((*kept, *entered)),
            chance * prod((rho if enters else 1 - rho for enters in coins), start=Fraction(1)),
        )


def overlaps(forms: dict[Sent, Fraction], itemset: Sequence[int]) -> list[Fraction]:
    """Return the chance of every number of items of a set that is sent."""
    chances = [Fraction(0)] * (len(itemset) + 1)
    for sent, chance in forms.items():
        chances[len(sent.intersection(itemset))] += chance
    return chances


def fractions(text: str) -> tuple[Fraction, ...]:
    """Return the fractions of a text such as `1/2 1/3`."""
    return tuple(map(Fraction, text.split()))


OPERATORS: list[tuple[Operator, int]] = [
    (SelectASize(3, fractions("1/10 1/5 3/10 2/5"), Fraction(1, 7)), 6),
    (SelectASize(2, fractions("0 0 1"), Fraction(2, 5)), 5),
    (SelectASize(1, fractions("1/3 2/3"), Fraction(0)), 4),
    (SelectASize(0, fractions("1"), Fraction(1, 4)), 4),
    (CutAndPaste(3, 2, Fraction(1, 5)), 6),
    (CutAndPaste(2, 3, Fraction(1, 10)), 5),
    (CutAndPaste(3, 3, Fraction(3, 10)), 6),
    (CutAndPaste(3, 5, Fraction(1, 10)), 6),
    (CutAndPaste(1, 7, Fraction(1, 3)), 4),
    (CutAndPaste(0, 1, Fraction(1, 3)), 3),
    (Uniform(2, 5, Fraction(4, 5)), 5),
    (Uniform(3, 6, Fraction(1, 3)), 6),
    (Uniform(1, 4, Fraction(1)), 4),
    (Uniform(2, 2, Fraction(0)), 2),
    (Uniform(0, 3, Fraction(1, 2)), 3),
]
"""Small randomizers of every kind, each with a universe."""


def label(case: object) -> str:
    """Return a test's identifier."""
    return str(case).replace("Fraction", "") if isinstance(case, Operator) else str(case)


def estimate_covariance(
    design: TransactionDesign, counts: Mapping[int, Sequence[Sequence[int]]], union: Support
) -> Fraction:
    """Return an unbiased estimate of `Cov(s~_A, s~_U)`, `A` a part of `U`, by the formula of `support.py`.

    Args:
        design: The operators.
        counts: For every original size, in row `a` and column `b`, how many randomized transactions hold `a` items of
            `A` and `b` of the rest of `U`.
        union: The estimate for `U`, of the same transactions.
    """
    total = sum(sum(map(sum, table)) for table in counts.values())
    products = Fraction(0)
    for size, table in counts.items():
        inner = weights(design.operator(size), len(table) - 1)
        outer = weights(design.operator(size), len(table) + len(table[0]) - 2)
        products += sum(
            (inner[a] * outer[a + b] * count for a, row in enumerate(table) for b, count in enumerate(row)), Fraction(0)
        )
    return (products / total - union.share) / total
