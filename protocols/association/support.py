"""Supports of itemsets, recovered from randomized transactions, with their errors (Review section 3.4; DESIGN 9).

Of `N` transactions of one original size, the share `s'_l'` holds `l'` items of `A` after randomizing; `E s' = P s`.
With `Q = P^-1` the estimates are `s~ = Q s'`, and the support is the last of them: a transaction adds `q[k <- l']`,
whose expectation is 1 if it holds all of `A`, else 0. So, the transactions being what they are and the coins alone
being chance,

    Var s~ = (1/N) sum_l s_l (sum_l' p[l -> l'] q[k <- l']^2 - [l = k])                  Review equation 9
    estimated by (1/N) sum_l' s'_l' (q[k <- l']^2 - q[k <- l'])                          Review equation 10

and for `A` within `U` likewise `Cov = (1/N) (mean of f_A f_U - s~_U)`, since `E f_A f_U` exceeds the covariance by
`[U in t]`. Sizes are combined by their shares of all transactions. Estimates are unbiased: they may be negative, and
are not cut.

Transactions with fewer than `k` items hold no set of `k`: they count with support 0 and no error.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from protocols.association.operators import Operator, transition
from protocols.association.transactions import Randomized, TransactionDesign
from protocols.errors import InputError
from protocols.randomized_response.design import Matrix

MOST_ITEMS = 12
"""Sets with more items are not asked about: their weights are too large to be of use."""


@dataclass(frozen=True)
class Support:
    """An unbiased estimate of a support, a share `s~` that may leave `0 .. 1`; its variance may be negative."""

    share: Fraction
    variance: Fraction

    @property
    def standard_error(self) -> float:
        """Square root of the variance; 0 where its estimate is negative."""
        return sqrt(max(float(self.variance), 0.0))


@lru_cache(4096)
def recovery(operator: Operator, k: int) -> Matrix:
    """Return `Q = P^-1` for an itemset of `k` items."""
    if k > operator.size:
        raise InputError(f"transactions of size {operator.size} hold no set of {k} items")
    found = _inverse(transition(operator, k))
    if found is None:
        works = next((smaller for smaller in range(k - 1, 0, -1) if _inverse(transition(operator, smaller))), 0)
        raise InputError(
            f"supports of sets of {k} items cannot be recovered from transactions of size {operator.size}: "
            f"its parameters hide them altogether; " + (f"sets of up to {works} can" if works else "no set's can")
        )
    return found


@lru_cache(4096)
def weights(operator: Operator, k: int) -> tuple[Fraction, ...]:
    """Return `q[k <- l']` for `l' = 0 .. k`: what a randomized transaction adds to an estimate; 0 if it is smaller."""
    return recovery(operator, k)[k] if k <= operator.size else (Fraction(0),) * (k + 1)


def is_recoverable(design: TransactionDesign, sizes: Iterable[int], k: int) -> bool:
    """Return whether the support of a set of `k` items can be recovered from transactions of all these sizes."""
    operators = (design.operator(size) for size in sizes if size >= k)
    return all(_inverse(transition(operator, k)) is not None for operator in operators)


def variance(operator: Operator, partial: Sequence[Fraction], transactions: int) -> Fraction:
    """Return the variance of `s~` that true partial supports `s_0 .. s_k` give (Review equation 9)."""
    if transactions < 1:
        raise InputError("there are no transactions to estimate from")
    k = len(partial) - 1
    if k > operator.size:
        return Fraction(0)
    q = weights(operator, k)
    columns = zip(*transition(operator, k), strict=True)
    total = Fraction(0)
    for held, (share, column) in enumerate(zip(partial, columns, strict=True)):
        squares = sum((chance * weight**2 for chance, weight in zip(column, q, strict=True)), Fraction(0))
        total += share * (squares - (held == k))
    return total / transactions


def overlap_counts(randomized: Randomized, itemset: Sequence[int]) -> dict[int, list[int]]:
    """Return for every original size how many randomized transactions hold `l' = 0 .. k` items of a set."""
    shown = np.zeros(len(randomized), dtype=np.int64)
    rows = np.repeat(np.arange(len(randomized)), randomized.transactions.sizes)
    np.add.at(shown, rows[np.isin(randomized.transactions.items, itemset)], 1)
    return {
        size: np.bincount(shown[randomized.sizes == size], minlength=len(itemset) + 1).tolist()
        for size in np.unique(randomized.sizes).tolist()
    }


def estimate_support(design: TransactionDesign, counts: Mapping[int, Sequence[int]]) -> Support:
    """Return the support of a set over all sizes (Review equations 8 and 10).

    `counts` say for every original size how many randomized transactions hold `l' = 0 .. k` items of the set.
    """
    total = sum(map(sum, counts.values()))
    if not total:
        raise InputError("there are no transactions to estimate from")
    share = squares = Fraction(0)
    for size, row in counts.items():
        for weight, count in zip(weights(design.operator(size), len(row) - 1), row, strict=True):
            share += weight * count
            squares += weight**2 * count
    return Support(share / total, (squares - share) / total**2)


def _inverse(matrix: Matrix) -> Matrix | None:
    """Invert a square matrix by Gauss-Jordan elimination; None if it is singular."""
    n = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for i in range(n):
        pivot = next((k for k in range(i, n) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return tuple(tuple(row[n:]) for row in rows)
