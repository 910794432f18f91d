"""How much exact counts may tell together, of those whom they count (DESIGN 14, "Sums and differences").

A partner that chooses its columns knows for whom each count of them stands. It can subtract the counts of a node's
branches from the node's own, and solve many counts at once. So a tree with limits keeps two rules more, which both
sides decide from what was told:

* *Differences.* An attribute splits a node only if whatever follows from the counts of the node and of the branches
  that are counted on, by any sums and differences, stands for no records or for `min_class` of them. Those that a
  difference leaves over are the edges of a cut: of the graph that ties each class of the node to each group of classes
  that a branch joins it to, and to one point more for branches that nothing is counted in, with an edge per record.
* *Equations.* A node is counted on, and a remainder left, only if the free counts that are told of it have at most half
  of the bits that its classes have. What has `n_c` of `n` records in a class has `n! / prod(n_c!)` ways to be
  labelled; a count of half of them has variance `n_c (n - n_c) / 4(n - 1)`, no other has more, and an integer of
  variance `s` has at most `log2(2 pi e (s + 1/12)) / 2` bits (Massey 1988; Cover and Thomas, chapter 8).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import e, lgamma, log, log2, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.counts import CountTable
from protocols.learning.limits import SLACK, Tally, may_be_split
from protocols.learning.open_node import OpenNode
from protocols.tables.schema import Schema
from protocols.terms import ALL, Growth, Window

MOST_TOLD: Final = 0.5
"""The largest share of what is unknown of a node's classes that its free counts may tell, both in bits."""

Stratum = Sequence[float]
"""Counts by class of records that are known to be together."""


@dataclass(frozen=True)
class ToldBounds:
    """Both rules for trees over one schema, whose windows are no wider than this."""

    schema: Schema
    window: Window
    growth: Growth

    @cached_property
    def _free(self) -> dict[int, int]:
        """The free counts, per class, of each attribute that is not the class holder's; none if both hold the class."""
        attributes = enumerate(self.schema.attributes)
        if len(self.schema.class_owners) > 1:
            return {}
        return {i: each.size - 1 for i, each in attributes if each.party not in self.schema.class_owners}

    def is_counted_on(self, node: OpenNode) -> bool:
        """Tell whether so large a node may be counted on, whatever its window will be."""
        new = sorted((self._free.get(a, 0) for a in node.candidates if a not in node.counted), reverse=True)
        most = len(new) if self.window is ALL else self.window
        return tells_little([node.tally.sums], self._free_counts(node.counted) + sum(new[:most]))

    def may_split(self, node: OpenNode, window: Sequence[int], attribute: int, table: CountTable) -> bool:
        """Tell whether an attribute of these counts may split a node of which this window was counted."""
        rows = table.tolist()
        branches = node.branches(window, attribute, rows, self.growth)
        counted = [grows(branch, self.growth, self) for branch in branches]
        if not any(counted):
            return True
        strata = [row for row, on in zip(rows, counted, strict=True) if not on]
        joined = [
            inside
            for row, branch, on in zip(rows, branches, counted, strict=True)
            for inside in (_joined_columns(node.tally, branch.tally, row) if on else ())
        ]
        free = self._free_counts(branches[0].counted)
        return not _leaves_few(strata, joined, self.growth.min_class) and tells_little([*strata, *joined], free)

    def _free_counts(self, attributes: Iterable[int]) -> int:
        return sum(self._free.get(attribute, 0) for attribute in attributes)


def bounds_of(schema: Schema, window: Window, growth: Growth) -> ToldBounds | None:
    """Return the bounds of a tree that two parties grow from exact counts; None without limits, or with noise."""
    return ToldBounds(schema, window, growth) if growth.min_class > 1 and growth.noise is None else None


def grows(node: OpenNode, growth: Growth, bounds: ToldBounds | None) -> bool:
    """Tell whether a node is counted on (steps 1 to 3): it has candidates and two classes, and no limit forbids it."""
    if not node.candidates or node.tally.is_pure or not may_be_split(node.tally.records, node.depth, growth):
        return False
    return bounds is None or bounds.is_counted_on(node)


def tells_little(strata: Sequence[Stratum], free: int) -> bool:
    """Tell whether so many free counts per class have at most half of the bits that the strata's classes have."""
    if not strata:
        return True
    variances = [sum(_variance(each[c], sum(each)) for each in strata) for c in range(len(strata[0]))]
    *told, _ = sorted(_bits(variance) for variance in variances if variance > 0) or [0.0]
    return free * sum(told) <= MOST_TOLD * sum(map(unknown_bits, strata)) + SLACK


def unknown_bits(stratum: Stratum) -> float:
    """Return the bits of who is of which class, of records of which only the numbers are known."""
    return (lgamma(sum(stratum) + 1) - sum(lgamma(count + 1) for count in stratum)) / log(2)


def told_bits(count: float, records: float) -> float:
    """Return the most bits that a count of some records tells of which of them are of a class of so many."""
    variance = _variance(count, records)
    return _bits(variance) if variance > 0 else 0.0


def _bits(variance: float) -> float:
    return log2(2 * pi * e * (variance + 1 / 12)) / 2


def _variance(count: float, records: float) -> float:
    return count * (records - count) / (4 * (records - 1)) if records > 1 else 0.0


def _joined_columns(node: Tally, branch: Tally, row: Sequence[float]) -> Iterable[list[float]]:
    """Yield the counts, by the node's columns and 0 elsewhere, of each group into which a branch joins several."""
    for labels in branch.together:
        inside = [count if set(column) <= set(labels) else 0.0 for column, count in zip(node.columns, row, strict=True)]
        if sum(count > 0 for count in inside) > 1:
            yield inside


def _leaves_few(strata: Sequence[Stratum], joined: Sequence[Stratum], least: int) -> bool:
    """Tell whether a difference of told counts leaves records, but fewer than `least`: whether there is such a cut."""
    if not strata and not joined:
        return False
    rest = np.array(strata, dtype=np.float64).sum(axis=0, keepdims=True) if strata else np.zeros((0, len(joined[0])))
    ties = np.concatenate([rest, np.array(joined, dtype=np.float64).reshape(-1, rest.shape[1])])
    points, classes = ties.shape
    weights = np.zeros((points + classes, points + classes))
    weights[:points, points:], weights[points:, :points] = ties, ties.T
    return has_cut_below(weights, least - SLACK)


def has_cut_below(weights: NDArray[np.float64], bound: float) -> bool:
    """Tell whether a graph of these symmetric weights has a cut of more than nothing and less than the bound.

    By Stoer and Wagner (1997): the last point of an order by adjacency is cut off from the one before it by its own
    edges at least; then both are taken as one. Where these are none, nothing is lost by it either.
    """
    weights = weights.copy()
    while len(weights) > 1:
        order, ties = [0], weights[0].copy()
        while len(order) < len(weights):
            ties[order] = -1.0
            order.append(int(ties.argmax()))
            cut = float(ties[order[-1]])
            ties += weights[order[-1]]
        if 0 < cut < bound:
            return True
        before, last = order[-2:]
        weights[before] += weights[last]
        weights[:, before] += weights[:, last]
        weights[before, before] = 0.0
        weights = np.delete(np.delete(weights, last, axis=0), last, axis=1)
    return False
