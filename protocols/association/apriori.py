"""Apriori finds frequent itemsets of randomized transactions by recovered supports (Review section 3.6; DESIGN 9.4).

Starting with single items: count the candidates per original size, recover supports and standard errors, drop what
lies below the candidate limit `s_min - sigma` with the candidate's own sigma, output what is at `s_min` or above, and
make the next candidates of the sets all of whose subsets with one item less were *kept*, output or not. Estimates are
not monotone: a true set may be lost with a subset.

Of each item a bit says which transactions hold it, and by these bits sets are counted. Transactions stand in the order
of their original sizes, each size beginning with a word of its own, so that one pass over the words of a set gives its
counts for every size separately (Review section 3.6 a).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.association.lattice import Itemsets, Lattice, Level, Tallies
from protocols.association.support import MOST_ITEMS, is_recoverable, variance
from protocols.association.transactions import Randomized, TransactionDesign
from protocols.errors import InputError

_WORD = 64
_BITMAP_CELLS = 2**22


class Bitmaps:
    """The bits of every item over randomized transactions."""

    def __init__(self, randomized: Randomized) -> None:
        self.universe = randomized.transactions.universe
        sizes, self.totals = np.unique(randomized.sizes, return_counts=True)
        self.sizes: tuple[int, ...] = tuple(sizes.tolist())
        lengths = -(-self.totals // _WORD)
        self._starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
        self._words = np.zeros((self.universe, int(lengths.sum())), dtype=np.uint64)
        for size, start in zip(self.sizes, self._starts.tolist(), strict=True):
            rows = np.flatnonzero(randomized.sizes == size)
            self._fill(randomized, rows, start)

    def _fill(self, randomized: Randomized, rows: NDArray[np.intp], start: int) -> None:
        most = max(_BITMAP_CELLS // max(self.universe, 1) // _WORD, 1) * _WORD
        for first in range(0, len(rows), most):
            held = randomized.transactions.matrix(rows[first : first + most])
            packed = np.packbits(held, axis=0, bitorder="little").T
            place = (start + first // _WORD) * (_WORD // 8)
            self._words.view(np.uint8)[:, place : place + packed.shape[1]] = packed

    def __repr__(self) -> str:
        return f"<Bitmaps {self.universe} items x {int(self.totals.sum())} transactions>"

    def held_by(self, items: NDArray[np.integer]) -> NDArray[np.uint64]:
        """Return the words of the transactions that hold all of these items."""
        words: NDArray[np.uint64] = np.bitwise_and.reduce(self._words[items], axis=0)
        return words

    def count(self, held: NDArray[np.uint64], lasts: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return how many of these transactions hold each of some items too (`lasts x sizes`)."""
        counts = np.zeros((len(lasts), len(self.sizes)), dtype=np.int64)
        if self.sizes:
            most = max(1, _BITMAP_CELLS // max(self._words.shape[1], 1))
            for part in (slice(first, first + most) for first in range(0, len(lasts), most)):
                ones = np.bitwise_count(self._words[lasts[part]] & held)
                counts[part] = np.add.reduceat(ones, self._starts, axis=1, dtype=np.int64)
        return counts


MAX_CANDIDATES = 20_000_000
_BLOCK_CELLS = 2**22
_NEAR = 1e-9  # of a support and the threshold that floats cannot tell apart

Watch = Callable[[int, int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class MinedItemsets:
    """What mining kept at a threshold `s_min`, level by level: sets of `usable` items at most, frequent or near it.

    `cut_short` says whether larger sets might be frequent, but cannot be estimated.
    """

    threshold: Fraction
    lattice: Lattice
    usable: int
    cut_short: bool

    @property
    def levels(self) -> tuple[Level, ...]:
        """Sets of 1 item, of 2, ... that were kept."""
        return self.lattice.levels

    def frequent(self) -> Iterator[Level]:
        """Yield, for every level, the sets of an estimated support of `s_min` or more; fractions decide near it."""
        for level in self.levels:
            frequent = level.shares >= float(self.threshold)
            for place in np.flatnonzero(np.abs(level.shares - float(self.threshold)) <= _NEAR):
                frequent[place] = self.lattice.exact_share(level.itemsets[place].tolist()) >= self.threshold
            yield level.chosen(frequent)


def mine_itemsets(
    randomized: Randomized,
    design: TransactionDesign,
    min_support: Fraction,
    max_len: int | None = None,
    watch: Watch = lambda *_: None,
) -> MinedItemsets:
    """Find the sets of up to `max_len` items whose estimated support, a share, is at least `min_support`.

    `watch` is called with the number of items, candidates done, and candidates in all.
    """
    if not 0 < min_support <= 1:
        raise InputError("must be above 0 and at most 1", field="min_support")
    if randomized.transactions.universe != design.universe:
        raise InputError(f"the design has {design.universe} items, the transactions {randomized.transactions.universe}")
    if not len(randomized):
        raise InputError("there are no transactions to mine")
    bitmaps = Bitmaps(randomized)
    lattice = Lattice(design, bitmaps.sizes, bitmaps.totals)
    usable = usable_size(design, dict(zip(bitmaps.sizes, bitmaps.totals.tolist(), strict=True)), min_support)
    last = _last_level(max_len, usable)
    for k in range(1, last + 1):
        level = _level(lattice, bitmaps, k, float(min_support), watch)
        if not len(level):
            return MinedItemsets(min_support, lattice, usable, cut_short=False)
        lattice = lattice.above(level)
    unsought = _number_of_pairs(lattice) if usable else bitmaps.sizes[-1]
    return MinedItemsets(min_support, lattice, usable, cut_short=max_len is None and unsought > 0)


def usable_size(design: TransactionDesign, totals: dict[int, int], threshold: Fraction) -> int:
    """Return the most items of a set that mining can look for.

    Beyond it supports cannot be recovered, or a set of this support, whose items never stand apart, has a standard
    error of the support or more: then sets that nobody holds pass the candidate limit.
    """
    every = sum(totals.values())
    most = min(max(totals, default=0), MOST_ITEMS)
    for k in range(1, most + 1):
        if not is_recoverable(design, totals, k):
            return k - 1
        partial = [1 - threshold, *[Fraction(0)] * (k - 1), threshold]
        parts = (
            Fraction(number, every) ** 2 * variance(design.operator(size), partial, number)
            for size, number in totals.items()
        )
        if sqrt(sum(parts, Fraction(0))) >= threshold:
            return k - 1
    return most


def _last_level(max_len: int | None, usable: int) -> int:
    if max_len is None:
        return usable
    if max_len < 1:
        raise InputError("must be 1 or more", field="max_len")
    if max_len > usable:
        able = f"sets of up to {usable} items can" if usable else "none can"
        raise InputError(
            f"is {max_len}, but supports of this many items cannot be estimated from these baskets at this support: "
            f"{able}; raise min_support, or collect more",
            field="max_len",
        )
    return max_len


def _level(lattice: Lattice, bitmaps: Bitmaps, k: int, threshold: float, watch: Watch) -> Level:
    """Count the candidates of `k` items, and keep those that pass the candidate limit."""
    total = lattice.design.universe if k == 1 else _number_of_pairs(lattice)
    if total > MAX_CANDIDATES:
        raise InputError(
            f"there are {total:,} candidates of {k} items, more than {MAX_CANDIDATES:,}: raise min_support, or look "
            f"for sets of up to {k - 1} items"
        )
    done, kept = 0, [_empty(k, len(lattice.sizes))]
    factors = lattice.factors(k, range(k))
    for prefixes, lasts in _candidates(lattice, k):
        first = lattice.levels[k - 2].itemsets[prefixes] if k > 1 else np.zeros((len(lasts), 0), dtype=np.int64)
        itemsets = np.column_stack([first, lasts])
        possible = _subsets_are_kept(lattice, itemsets)
        itemsets, keys = itemsets[possible], prefixes[possible] * lattice.design.universe + lasts[possible]
        counts = _counts(bitmaps, itemsets, prefixes[possible])
        shares, variances = lattice.estimates(itemsets, counts, factors)
        passed = shares >= threshold - np.sqrt(np.maximum(variances, 0))
        kept.append(Level(itemsets, keys, counts, shares, variances).chosen(passed))
        done += len(lasts)
        watch(k, done, total)
    parts = [(each.itemsets, each.keys, each.counts, each.shares, each.variances) for each in kept]
    return Level(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _candidates(lattice: Lattice, k: int) -> Iterator[tuple[Itemsets, Itemsets]]:
    """Yield candidates in blocks, in rising order: the positions of their first `k - 1` items, and their last ones."""
    most = max(1, _BLOCK_CELLS // (2**k * max(len(lattice.sizes), 1)))
    if k == 1:
        every = np.arange(lattice.design.universe, dtype=np.int64)
        yield from ((0 * every[at : at + most], every[at : at + most]) for at in range(0, len(every), most))
        return
    below = lattice.levels[k - 2]
    followers = _ends(below, lattice.design.universe) - np.arange(len(below)) - 1
    before = np.concatenate([[0], np.cumsum(followers)])
    for at in range(0, int(before[-1]), most):
        number = np.arange(at, min(at + most, int(before[-1])))
        prefixes = np.searchsorted(before, number, side="right") - 1
        yield prefixes, below.itemsets[prefixes + 1 + number - before[prefixes], -1]


def _counts(bitmaps: Bitmaps, itemsets: Itemsets, prefixes: Itemsets) -> Tallies:
    """Count sets, those with the same start together (`sets x sizes`)."""
    counts = np.empty((len(itemsets), len(bitmaps.sizes)), dtype=np.int64)
    changes = np.flatnonzero(np.diff(prefixes, prepend=-1))
    for start, end in zip(changes.tolist(), [*changes[1:].tolist(), len(itemsets)], strict=False):
        held = bitmaps.held_by(itemsets[start, :-1])
        counts[start:end] = bitmaps.count(held, itemsets[start:end, -1])
    return counts


def _ends(level: Level, universe: int) -> NDArray[np.intp]:
    """Return, set by set, where the sets with the same start end."""
    starts = level.keys // max(universe, 1)
    return np.searchsorted(starts, starts, side="right")


def _number_of_pairs(lattice: Lattice) -> int:
    """Return how many candidates the last level gives, before their subsets are looked up."""
    last = lattice.levels[-1] if lattice.levels else None
    if last is None or not len(last):
        return 0
    return int((_ends(last, lattice.design.universe) - np.arange(len(last)) - 1).sum())


def _subsets_are_kept(lattice: Lattice, itemsets: Itemsets) -> NDArray[np.bool_]:
    k = itemsets.shape[1]
    possible = np.ones(len(itemsets), dtype=np.bool_)
    for left_out in range(k - 2):  # without either of the last two it is one of the sets that made it
        rest = [i for i in range(k) if i != left_out]
        possible[possible] = lattice.find(itemsets[possible][:, rest]) >= 0
    return possible


def _empty(k: int, sizes: int) -> Level:
    counts: Tallies = np.zeros((0, sizes), dtype=np.int64)
    return Level(np.zeros((0, k), dtype=np.int64), np.zeros(0, dtype=np.int64), counts, np.zeros(0), np.zeros(0))
