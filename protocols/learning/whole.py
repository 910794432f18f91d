"""What a split is worth, in whole numbers: the same for who sees the counts and for who has a share of each.

Within a node the information gain is largest where `U = sum_v [f(N(v)) - sum_c f(N(v,c))]` is least, with
`f(x) = x log2 x`; terms that are linear in `x` cancel. With `k` the place of the leading one of `x`, and `m = x/2^k`
between 1 and 2, `f(x) = k x + 2^k m log2 m`, where `m log2 m` is taken as a line in each of 256 pieces, of which slope
and intercept are whole numbers:

    f(x) = ((k 2^10 + slope) x 2^8 - intercept 2^k)/2^18        all slopes less 1480/2^10

So `f` is off by less than `ERROR x`, and `U` by less than `(classes + 1) ERROR N` of `N` records.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Whole = NDArray[np.int64]

PIECES_BITS: Final = 8
SLOPE_BITS: Final = 10
SCALE_BITS: Final = 18
"""`f` is a multiple of `2**-SCALE_BITS`."""
ERROR: Final = 3.2e-6
"""Of `f`, as a share of its argument."""


def _pieces() -> tuple[Whole, Whole]:
    """Return slope and intercept of each piece: the line that departs least from `m log2 m`, up and down alike."""
    ends = 1 + np.arange((1 << PIECES_BITS) + 1) / (1 << PIECES_BITS)
    low, high = ends[:-1], ends[1:]
    curve = ends * np.log2(ends)
    slopes = np.rint(np.diff(curve) * (1 << PIECES_BITS + SLOPE_BITS)).astype(np.int64)
    exact = slopes / (1 << SLOPE_BITS)
    lowest = np.clip(2 ** (exact - 1 / np.log(2)), low, high)
    above = np.maximum(curve[:-1] - exact * low, curve[1:] - exact * high)
    below = lowest * np.log2(lowest) - exact * lowest
    return slopes, np.rint(-(above + below) / 2 * (1 << SCALE_BITS)).astype(np.int64)


_SLOPES, INTERCEPTS = _pieces()
SLOPES: Final = _SLOPES - _SLOPES.min()
"""Of each piece, less the least of them: 0 to 1020."""


def entropy_part(counts: ArrayLike) -> Whole:
    """Return `f`, as a multiple of `2**-SCALE_BITS`, of counts below `2**31`; 0 of 0.

    >>> entropy_part([0, 8]).tolist()
    [0, 3260416]
    """
    values = np.asarray(counts, np.int64)
    leading = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1
    shifted = np.where(leading >= PIECES_BITS, values >> np.maximum(leading - PIECES_BITS, 0),
                       values << np.maximum(PIECES_BITS - leading, 0))  # fmt: skip
    piece = shifted & (1 << PIECES_BITS) - 1
    line = ((leading << SLOPE_BITS) + SLOPES[piece]) * values << SCALE_BITS - SLOPE_BITS
    result: Whole = np.where(values > 0, line - (INTERCEPTS[piece] << leading), 0)
    return result


def mixture(tables: ArrayLike) -> Whole:
    """Return `U` of counts (`... x values x classes`): the less, the better the split."""
    counts = np.asarray(tables, np.int64)
    return np.asarray((entropy_part(counts.sum(-1)) - entropy_part(counts).sum(-1)).sum(-1))


def mixture_bits(records: int, classes: int) -> int:
    """Return how many bits a difference of two `U` of so many records and classes has at most, its sign included."""
    most = records * (np.log2(classes) + 2 * (classes + 1) * ERROR)
    return int(most * 2**SCALE_BITS).bit_length() + 1
