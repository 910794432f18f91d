"""What a design of transactions discloses, size by size: breaches, absent items, sizes and losses (DESIGN 9.3).

Its level of breaches rests on the supports that the design assumes (Review 3.5). Whether true baskets keep to them the
owner of the baskets alone can find out: what is disguised no longer shows it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from protocols.association.breaches import (
    ItemsetBreach,
    SizeBelief,
    absent_belief,
    breach_bound,
    likelihood_ratio,
    size_beliefs,
)
from protocols.association.transactions import TransactionDesign, Transactions
from protocols.errors import InputError

RARE = 1e-3


@dataclass(frozen=True)
class SizeFindings:
    """What randomized transactions of one original size `m` reveal, where supports are as large as they can be.

    Args:
        breach: The strongest belief in an item of a set that is shown whole, whatever the distribution.
        shown: Belief in a single item that is shown, whatever else is.
        absent: Belief in a single item that is not shown; None if every transaction shows it.
        telling: The size of a randomized transaction, of those that come once in a thousand, that makes most of an
            item.
        ratio: `e^epsilon`; None if infinite.
    """

    size: int
    breach: ItemsetBreach
    shown: Fraction
    absent: Fraction | None
    telling: SizeBelief | None
    ratio: Fraction | None


@dataclass(frozen=True)
class TransactionFindings:
    """What a design of transactions discloses at supports of at most `sigmas`; `level` is the most belief allowed."""

    sigmas: tuple[Fraction, ...]
    level: Fraction | None
    sizes: tuple[SizeFindings, ...]

    @property
    def worst(self) -> Fraction:
        """The strongest belief in an item of a shown set, over all sizes."""
        return max((found.breach.level for found in self.sizes), default=Fraction(0))


def measure_transactions(
    design: TransactionDesign, sigmas: Sequence[Fraction], level: Fraction | None = None
) -> TransactionFindings:
    """Measure every size of a design; `sigmas` are the largest supports that sets of 1, 2, ... items can have."""
    if not sigmas:
        raise InputError("must say how frequent sets of 1, 2, ... items can be", field="supports")
    found = []
    for size in (size for size in design.sizes if size):
        operator = design.operator(size)
        usual = [belief for belief in size_beliefs(operator, sigmas[0], design.universe) if belief.chance >= RARE]
        found.append(
            SizeFindings(
                size=size,
                breach=breach_bound(operator, sigmas),
                shown=breach_bound(operator, sigmas[:1]).level,
                absent=absent_belief(operator, sigmas[0]),
                telling=max(usual, key=lambda belief: belief.belief, default=None),
                ratio=likelihood_ratio(operator, design.universe),
            )
        )
    return TransactionFindings(tuple(sigmas), level, tuple(found))


_FEWEST = 10
"""Sets that fewer baskets hold are not looked at: their share says nothing of a support."""
_DEVIATIONS = 3.0

Items = NDArray[np.integer]


@dataclass(frozen=True)
class Exceeding:
    """A set of items that more of the baskets of a size hold (`holders`) than the largest support `assumed`."""

    items: tuple[int, ...]
    size: int
    holders: int
    baskets: int
    assumed: Fraction

    @property
    def excess(self) -> float:
        """How many times the assumed support the share is; infinite where 0 was assumed."""
        return self.holders / self.baskets / float(self.assumed) if self.assumed else float("inf")


def find_exceeding(transactions: Transactions, supports: Sequence[Fraction]) -> tuple[Exceeding, ...]:
    """Return the sets that are clearly more frequent among the baskets of some size than assumed, the furthest first.

    Clearly: at least ten baskets hold the set, and they are three standard deviations more than the assumed support
    would give. Of each set, return the size at which it exceeds the most.

    Discloses: nothing, as it stays with the owner; it names items that at least ten baskets hold.
    """
    worst: dict[tuple[int, ...], Exceeding] = {}
    for size in np.unique(transactions.sizes).tolist() if supports else []:
        for found in _of_size(transactions, size, supports):
            known = worst.setdefault(found.items, found)
            if found.excess > known.excess:
                worst[found.items] = found
    return tuple(sorted(worst.values(), key=lambda each: (-each.excess, each.items)))


def _of_size(transactions: Transactions, size: int, supports: Sequence[Fraction]) -> Iterator[Exceeding]:
    """Yield the sets that exceed among the baskets of one size."""
    starts = transactions.starts[:-1][transactions.sizes == size]
    items = transactions.items[starts[:, None] + np.arange(size)]
    clear = [_limit(len(items), support) for support in supports]
    pursued = [min(clear[k:]) for k in range(len(clear))]
    names = np.flatnonzero(np.bincount(items.reshape(-1), minlength=transactions.universe) > pursued[0])
    places = np.full(transactions.universe, len(names))
    places[names] = np.arange(len(names))
    for found, holders in _frequent(places[items], np.arange(len(items)), (), len(names), pursued):
        if holders > clear[len(found) - 1]:
            assumed = supports[len(found) - 1]
            yield Exceeding(tuple(names[list(found)].tolist()), size, holders, len(items), assumed)


def _frequent(
    items: Items, rows: Items, parent: tuple[int, ...], universe: int, limits: Sequence[float]
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield the sets beyond a parent that more of these baskets hold than a limit, depth first, and how many hold each.

    `items` are of every basket (`baskets x size`), `universe` stands for one that is not looked at; limits fall by
    size.
    """
    counts = np.bincount(items[rows].reshape(-1), minlength=universe + 1)[:universe]
    counts[: parent[-1] + 1 if parent else 0] = 0
    for last in np.flatnonzero(counts > limits[len(parent)]).tolist():
        grown = (*parent, last)
        yield grown, int(counts[last])
        if len(grown) < len(limits):
            yield from _frequent(items, rows[(items[rows] == last).any(axis=1)], grown, universe, limits)


def _limit(baskets: int, support: Fraction) -> float:
    """Return what the number of holders of a set must be above, to be clearly more than a support gives."""
    share = float(support)
    return max(_FEWEST - 0.5, baskets * share + _DEVIATIONS * sqrt(baskets * share * (1 - share)))
