"""Baskets of a generator of our own, or of a file, and what is found in their disguised form (Review section 3.7)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from protocols.association.apriori import MinedItemsets, mine_itemsets
from protocols.association.breaches import smallest_rho
from protocols.association.operators import CutAndPaste, SelectASize
from protocols.association.sampling import keyed_words, randomize
from protocols.association.transactions import Randomized, TransactionDesign, Transactions

CUTOFF = 7
LARGEST_SIZE = 10
LEVEL = "1/2"
MARGIN = Fraction(11, 10)
ITEMS, PATTERNS, MEAN_SIZE = 100, 25, 4.0
SIZES = (1, 2, 3)

Itemset = tuple[int, ...]


@dataclass(frozen=True)
class Discovery:
    """What was found of the sets of one size.

    Args:
        true: Frequent sets in the baskets as they are.
        found: Frequent sets by their disguised form.
        drops: True ones that were not found.
        positives: Found ones that are not true.
        error: Mean standard error of what was found.
    """

    true: int
    found: int
    drops: int
    positives: int
    error: float


@lru_cache(4)
def made_baskets(records: int) -> Transactions:
    """Return baskets of 1 to 10 of 100 items, the same whenever asked.

    25 patterns of 2 to 4 items with exponential weights; a basket takes patterns, each item of them with chance 4/5,
    until it has its size, 1 + Poisson(4) and at most 10; one turn in three gives a single item with weight
    1/(10 + rank) instead.
    """
    chance = np.random.default_rng(2003)
    patterns = [chance.choice(ITEMS, chance.integers(2, 5), replace=False) for _ in range(PATTERNS)]
    weights = chance.exponential(size=PATTERNS)
    popular = 1 / (10 + np.arange(ITEMS))
    weights, popular = weights / weights.sum(), popular / popular.sum()
    baskets = []
    for size in np.minimum(1 + chance.poisson(MEAN_SIZE, records), LARGEST_SIZE).tolist():
        basket: set[int] = set()
        while len(basket) < size:
            if chance.random() < 1 / 3:
                basket.add(int(chance.choice(ITEMS, p=popular)))
            else:
                pattern = patterns[chance.choice(PATTERNS, p=weights)]
                basket.update(pattern[chance.random(len(pattern)) < 0.8].tolist())
        baskets.append(sorted(basket)[:LARGEST_SIZE] if len(basket) <= size else _cut(basket, size, chance))
    return Transactions.of(baskets, ITEMS)


def _cut(basket: set[int], size: int, chance: np.random.Generator) -> list[int]:
    return sorted(map(int, chance.choice(sorted(basket), size, replace=False)))


def plain_frequent(transactions: Transactions, support: Fraction, largest: int = max(SIZES)) -> MinedItemsets:
    """Mine baskets as they are, by the design that keeps all and adds nothing."""
    sizes = np.unique(transactions.sizes).tolist()
    keep = tuple(SelectASize(m, (*[Fraction(0)] * m, Fraction(1)), Fraction(0)) for m in sizes)
    design = TransactionDesign(transactions.universe, keep)
    return mine_itemsets(Randomized(transactions, transactions.sizes), design, support, min(largest, max(sizes)))


def limited_design(transactions: Transactions, level: Fraction) -> TransactionDesign:
    """Return cut-and-paste with the smallest rho, supports bounded by the largest of these baskets and a tenth more."""
    largest = [Fraction(str(round(top, 6))) * MARGIN for top in _largest_supports(transactions)]
    makers: list[Callable[[Fraction], CutAndPaste]] = [
        partial(CutAndPaste, m, CUTOFF) for m in np.unique(transactions.sizes).tolist()
    ]
    return TransactionDesign(transactions.universe, tuple(make(smallest_rho(make, largest, level)) for make in makers))


def _largest_supports(transactions: Transactions) -> list[float]:
    """Return the largest support of a set of 1, 2 and 3 items."""
    support = Fraction(1, 20)
    while True:
        mined = plain_frequent(transactions, support)
        if len(mined.levels) >= max(SIZES) or support < Fraction(1, 2000):
            return [float(level.shares.max()) for level in mined.levels]
        support /= 2


def disguised(transactions: Transactions, design: TransactionDesign, seed: bytes) -> Randomized:
    """Return the disguised form that a seed gives."""
    return randomize(transactions, design, keyed_words(seed, "experiment", list(map(str, range(len(transactions))))))


def frequent_sets(mined: MinedItemsets, k: int) -> dict[Itemset, tuple[float, float]]:
    """Return the frequent sets of `k` items with support and standard error."""
    for number, level in enumerate(mined.frequent(), 1):
        if number == k:
            errors: NDArray[np.float64] = np.sqrt(np.maximum(level.variances, 0))
            rows = zip(level.itemsets.tolist(), level.shares.tolist(), errors.tolist(), strict=True)
            return {tuple(items): (share, error) for items, share, error in rows}
    return {}


def discovery(truth: MinedItemsets, mined: MinedItemsets, k: int) -> Discovery:
    """Hold what was found against what is true."""
    true, found = frequent_sets(truth, k), frequent_sets(mined, k)
    error = float(np.mean([spread for _, spread in found.values()])) if found else 0.0
    return Discovery(len(true), len(found), len(true.keys() - found.keys()), len(found.keys() - true.keys()), error)
