"""Entropy and information gain in bits (Hybrid equations 1 and 2; DESIGN 5.3), for one table of counts or many at once.

All functions take stacks: only the last axes are read as counts, the others are kept.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from protocols.counts import CountTable, positive_part, stacks
from protocols.learning.limits import may_split
from protocols.tables.arrays import Floats
from protocols.terms import Growth

TIE = 1e-9
_LEAST_MASS = 1e-9  # of estimates that are not all nothing


def entropy(counts: ArrayLike) -> Floats:
    """Return `-sum Q log2 Q` of non-negative counts along the last axis, with `0 log 0 = 0`.

    >>> float(entropy([2, 2]))
    1.0
    """
    values: Floats = np.asarray(counts, dtype=np.float64)
    total = values.sum(axis=-1, keepdims=True)
    shares = np.divide(values, total, out=np.zeros_like(values), where=total > 0)
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    bits: Floats = 0.0 - (shares * logarithms).sum(axis=-1)
    return bits


def gain(tables: ArrayLike) -> Floats:
    """Return `H(class) - sum_v N(v)/N H(class | v)` of `values x classes` matrices of counts.

    >>> float(gain([[3, 0], [0, 3]]))
    1.0
    """
    counts: Floats = np.asarray(tables, dtype=np.float64)
    sizes = counts.sum(axis=-1)
    total = sizes.sum(axis=-1)
    inside = (sizes * entropy(counts)).sum(axis=-1)
    mean_inside = np.divide(inside, total, out=np.zeros_like(inside), where=total > 0)
    bits: Floats = entropy(counts.sum(axis=-2)) - mean_inside
    return bits


def gains(tables: Sequence[CountTable]) -> list[float]:
    """Return the gain of each table, whatever their shapes."""
    result = [0.0] * len(tables)
    for positions, stack in stacks(tables):
        for position, value in zip(positions, gain(stack).tolist(), strict=True):
            result[position] = value
    return result


def projected_gains(tables: Sequence[CountTable]) -> list[float]:
    """Return the gains of estimated counts after projection: negative cells count as 0.

    Rescaling to the node's total, the other half of a projection, would not change a gain.
    """
    return gains([positive_part(table.astype(np.float64)) for table in tables])


def limited_gains(tables: Sequence[CountTable], records: Sequence[float], growth: Growth) -> list[float]:
    """Return the projected gains of estimated counts; what may not split its node has none.

    Args:
        tables: Estimates, each of them of a candidate at a node.
        records: For each the node's total.
        growth: The limits.
    """
    projected = [positive_part(table.astype(np.float64)) for table in tables]
    scales = (total / max(float(table.sum()), _LEAST_MASS) for total, table in zip(records, projected, strict=True))
    fits = [may_split(table, growth, scale) for table, scale in zip(projected, scales, strict=True)]
    return [gain if fit else 0.0 for gain, fit in zip(gains(projected), fits, strict=True)]


def gain_gradient(table: ArrayLike) -> Floats:
    """Return the derivative of a table's gain with respect to each cell; 0 for cells without a positive count.

    `N gain` is `sum N(v,c) log2(N(v,c) N / (N(v) N(c)))`, so a cell's derivative is that logarithm less the gain,
    over `N`: the delta method's weights.
    """
    counts = positive_part(np.asarray(table, dtype=np.float64))
    total = counts.sum()
    if total <= 0:
        return np.zeros_like(counts)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / total
    ratio = np.divide(counts, expected, out=np.ones_like(counts), where=counts > 0)
    gradient: Floats = np.where(counts > 0, np.log2(ratio) - float(gain(counts)), 0.0) / total
    return gradient
