"""The chances `p[l -> l']` that an operator declares for an itemset (Review section 3.4, equation 4; DESIGN 9).

Of an itemset `A` of `k` items a transaction of size `m` holds `l`; its randomized form holds `l'`. With `q` own items
of `A` among the `j` that stay,

    p[l -> l'] = sum_j p_m[j] sum_q C(l, q) C(m - l, j - q)/C(m, j) P(l' - q of k - l foreign items enter | j).

NB: the printed equation 4 has one probability over itself, which is 1.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb

from protocols.association.operators import Operator
from protocols.errors import InputError
from protocols.randomized_response.design import Matrix


@lru_cache(4096)
def transition(operator: Operator, k: int) -> Matrix:
    """Return `P`: row `l'`, column `l`, of an itemset of `k` items.

    Where transactions have fewer than `k` items, `l` goes up to `m` only: `(k + 1) x (min(k, m) + 1)`. Of the uniform
    randomizer, a column is 0 if its universe has no room for so few items of the set in a transaction.

    Raises:
        InputError: `k` is negative.
    """
    if k < 0:
        raise InputError("an itemset has 0 or more items")
    columns = [_column(operator, k, held) for held in range(min(k, operator.size) + 1)]
    return tuple(zip(*columns, strict=True))


def _column(operator: Operator, k: int, held: int) -> list[Fraction]:
    """Return the chance of every `l'` for one `l = held`."""
    m = operator.size
    chances = [Fraction(0)] * (k + 1)
    for j, share in enumerate(operator.kept.fractions):
        if not share:
            continue
        entering = operator.entering(j, k - held).fractions
        for q in range(max(0, j + held - m), min(j, held) + 1):
            own = share * Fraction(comb(held, q) * comb(m - held, j - q), comb(m, j))
            for f, chance in enumerate(entering):
                chances[q + f] += own * chance
    return chances
