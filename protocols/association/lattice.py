"""Itemsets, level by level, with how many transactions of each size hold all of each set; and what follows from that.

To estimate the support of a set one needs how many transactions hold exactly `l'` of its items, and for a covariance
exactly which. Both follow by inclusion and exclusion from how many hold *all* items of each subset; and of a set that
Apriori looks at, all subsets have been counted before. So one count per set gives all its partial supports, exactly
(DESIGN 9.4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from protocols.association.support import weights
from protocols.association.transactions import TransactionDesign

Itemsets = NDArray[np.int64]
Tallies = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """Sets of `k` items, in rising order (`sets x k`), and how many transactions of each size hold all of each.

    Its key is the position of its first `k - 1` items in the level below, times `n`, plus its last item.
    """

    itemsets: Itemsets
    keys: Itemsets
    counts: Tallies
    shares: Reals
    variances: Reals

    def __len__(self) -> int:
        return len(self.keys)

    def chosen(self, wanted: NDArray[np.bool_]) -> "Level":
        """Return some of the sets."""
        return Level(
            self.itemsets[wanted], self.keys[wanted], self.counts[wanted], self.shares[wanted], self.variances[wanted]
        )


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """Levels 1, 2, ... of sets that were kept: all subsets of a set are in it; `totals` are of the sizes that occur."""

    design: TransactionDesign
    sizes: tuple[int, ...]
    totals: Tallies
    levels: tuple[Level, ...] = ()

    @property
    def transactions(self) -> int:
        """Number of transactions, `N`."""
        return int(self.totals.sum())

    def above(self, level: Level) -> "Lattice":
        """Return this lattice with one more level."""
        return Lattice(self.design, self.sizes, self.totals, (*self.levels, level))

    def find(self, itemsets: Itemsets) -> NDArray[np.intp]:
        """Return the positions of sets, all of one size, in their level; -1 where a set is not there."""
        found = np.zeros(len(itemsets), dtype=np.intp)
        for k in range(itemsets.shape[1]):
            keys = self.levels[k].keys
            wanted = found * self.design.universe + itemsets[:, k]
            places = np.searchsorted(keys, wanted)
            there = (found >= 0) & (places < len(keys))
            there[there] = keys[places[there]] == wanted[there]
            found = np.where(there, places, -1)
        return found

    def held(self, itemsets: Itemsets) -> Tallies:
        """Return how many transactions of each size hold all of each set (`sets x sizes`)."""
        k = itemsets.shape[1]
        return self.levels[k - 1].counts[self.find(itemsets)] if k else np.tile(self.totals, (len(itemsets), 1))

    def patterns(self, itemsets: Itemsets, counts: Tallies) -> Tallies:
        """Return how many transactions hold *exactly* which items of each set (`sets x 2^k x sizes`), one bit an item.

        All smaller subsets are in the lattice; `counts` say how many hold all of each set (`sets x sizes`).
        """
        k = itemsets.shape[1]
        exact = np.empty((len(itemsets), 2**k, len(self.sizes)), dtype=np.int64)
        for number in range(k):
            for part in combinations(range(k), number):
                exact[:, sum(1 << i for i in part)] = self.held(itemsets[:, list(part)])
        exact[:, -1] = counts
        for i in range(k):  # take away those that hold item i too
            pairs = exact.reshape(len(itemsets), 1 << k - 1 - i, 2, 1 << i, len(self.sizes))
            pairs[:, :, 0] -= pairs[:, :, 1]
        return exact

    def estimates(self, itemsets: Itemsets, counts: Tallies, factors: Reals) -> tuple[Reals, Reals]:
        """Return supports and their variances (Review equations 8 and 10), in floats, from exact weights."""
        exact = self.patterns(itemsets, counts)
        total = float(self.transactions)
        shares = np.einsum("cps,ps->c", exact, factors) / total
        squares = np.einsum("cps,ps->c", exact, factors**2) / total
        return shares, (squares - shares) / total

    def exact_share(self, items: Sequence[int]) -> Fraction:
        """Return the estimated support of a set of the lattice without rounding; its items rise."""
        row, k = np.array([items], dtype=np.int64), len(items)
        exact = self.patterns(row, self.held(row))[0].tolist()
        own = [weights(self.design.operator(size), k) for size in self.sizes]
        added = (
            number * own[size][pattern.bit_count()]
            for pattern, by_size in enumerate(exact)
            for size, number in enumerate(by_size)
        )
        return sum(added, Fraction(0)) / self.transactions

    def factors(self, k: int, among: Sequence[int]) -> Reals:
        """Return what a transaction of each pattern and size adds to the estimate for some of `k` items."""
        own = [weights(self.design.operator(size), len(among)) for size in self.sizes]
        shown = [sum(pattern >> i & 1 for i in among) for pattern in range(2**k)]
        table = np.array([[float(row[number]) for row in own] for number in shown], dtype=np.float64)
        return table.reshape(2**k, len(self.sizes))
