"""Entropy and information gain in bits (Hybrid equations 1 and 2; DESIGN 5.3)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

TIE = 1e-9


def entropy(counts: ArrayLike) -> float:
    """Return `-sum Q log2 Q` of non-negative counts, with `0 log 0 = 0`.

    >>> entropy([2, 2])
    1.0
    """
    values: NDArray[np.float64] = np.asarray(counts, dtype=np.float64).ravel()
    total = values.sum()
    if total <= 0:
        return 0.0
    shares = values[values > 0] / total
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def gain(table: ArrayLike) -> float:
    """Return `H(class) - sum_v N(v)/N H(class | v)` of a `values x classes` matrix of counts.

    >>> gain([[3, 0], [0, 3]])
    1.0
    """
    matrix: NDArray[np.float64] = np.asarray(table, dtype=np.float64)
    total = matrix.sum()
    if total <= 0:
        return 0.0
    inside = sum(row.sum() / total * entropy(row) for row in matrix)
    return entropy(matrix.sum(axis=0)) - float(inside)


def projected_gain(estimates: ArrayLike) -> float:
    """Return the gain of estimated counts after projection: negative cells count as 0.

    Rescaling to the node's total, the other half of a projection, would not change a gain.
    """
    return gain(np.maximum(np.asarray(estimates, dtype=np.float64), 0.0))
