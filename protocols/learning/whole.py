"""What a split is worth, in whole numbers: the same for who sees the counts and for who has a share of each.

Within a node the information gain is largest where `U = sum_v [f(N(v)) - sum_c f(N(v,c))]` is least, with
`f(x) = x log2 x`; terms that are linear in `x` cancel. With `k` the place of the leading one of `x`, and `m = x/2^k`
between 1 and 2, `f(x) = k x + 2^k m log2 m`, where `m log2 m` is taken as a line in each of 256 pieces, of which slope
and intercept are whole numbers:

    f(x) = ((k 2^10 + slope) x 2^8 - intercept 2^k)/2^18        all slopes less 1480/2^10

So `f` is off by less than `ERROR x`, and `U` by less than `(classes + 1) ERROR N` of `N` records.

Gini's index decreases most where `U = sum_v sum_{c < d} N(v,c) N(v,d) / N(v)` is least. With `k` as above, `K` that of
the most records and `1/m` a line in each of as many pieces, each of which begins where the one before it ends,

    2^(2 K + b)/x  about  intercept 2^(2 K - 8 - k) - slope x 2^(2 (K - k))        slope of b + 1 bits

in whole numbers, never above it. Sums of products with it are exact, below `2^64`, and lose their last bits at the end.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.errors import InputError
from protocols.tables import Floats
from protocols.terms import Impurity

Whole = NDArray[np.int64]

PIECES_BITS: Final = 8
SLOPE_BITS: Final = 10
SCALE_BITS: Final = 18
"""`f` is a multiple of `2**-SCALE_BITS`."""
ERROR: Final = 3.2e-6
"""Of `f`, as a share of its argument."""
GINI_BITS: Final = 12
"""`U` of Gini's index is a multiple of `2**-GINI_BITS`."""
MOST_GINI_RECORDS: Final = 2**22 - 1


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


def _leading(values: Whole) -> Whole:
    """Return the place of the leading one; 0 of 0."""
    return np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1


_SLOPES, INTERCEPTS = _pieces()
SLOPES: Final = _SLOPES - _SLOPES.min()
"""Of each piece, less the least of them: 0 to 1020."""


def entropy_part(counts: ArrayLike) -> Whole:
    """Return `f`, as a multiple of `2**-SCALE_BITS`, of counts below `2**31`; 0 of 0.

    >>> entropy_part([0, 8]).tolist()
    [0, 3260416]
    """
    values = np.asarray(counts, np.int64)
    leading = _leading(values)
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
    """Return how many bits a difference of two `U` of this many records and classes has at most, its sign included."""
    most = records * (np.log2(classes) + 2 * (classes + 1) * ERROR)
    return int(most * 2**SCALE_BITS).bit_length() + 1


@dataclass(frozen=True)
class Gini:
    """`U` of Gini's index, as precise as 64 bits allow where a node has at most this many records."""

    records: int
    classes: int = 2

    def __post_init__(self) -> None:
        if self.records > MOST_GINI_RECORDS:
            raise InputError(f"Gini's index in whole numbers is for {MOST_GINI_RECORDS:,} records at most")

    @property
    def top(self) -> int:
        """The place of the leading one of the most records, `K`; no less than there are bits of a piece."""
        return max(PIECES_BITS, self.records.bit_length() - 1)

    @property
    def slope_bits(self) -> int:
        """The bits of a slope after the point, `b`: as many as leave each sum, below `N/4` or `N/2`, within 64 bits."""
        return min(SLOPE_BITS, 64 - 3 * self.top + (self.classes <= 2))

    @property
    def dropped(self) -> int:
        """How many bits a sum loses at the end."""
        return 2 * self.top + self.slope_bits - GINI_BITS

    @property
    def straight(self) -> tuple[Whole, Whole]:
        """Slope and intercept of each piece."""
        return _lines(self.slope_bits)

    def inverse(self, sizes: ArrayLike) -> Whole:
        """Return `2**(2 K + b)/x` of sizes; 0 of 0."""
        values = np.asarray(sizes, np.int64)
        up = self.top - _leading(values)
        piece = (values << up >> self.top - PIECES_BITS) & (1 << PIECES_BITS) - 1
        slopes, intercepts = self.straight
        line = (intercepts[piece] << self.top - PIECES_BITS + up) - (slopes[piece] * values << 2 * up)
        return np.where(values > 0, line, 0)

    def mixture(self, tables: ArrayLike) -> Whole:
        """Return `U` of counts (`... x values x classes`): the less, the better the split.

        >>> (Gini(8).mixture([[2, 2], [4, 0]]) / 2**GINI_BITS).round(3).tolist()
        1.0
        """
        counts = np.asarray(tables, np.int64)
        sizes = counts.sum(-1)
        pairs = (sizes * sizes - (counts * counts).sum(-1)) // 2
        sums = (pairs.astype(np.uint64) * self.inverse(sizes).astype(np.uint64)).sum(-1, dtype=np.uint64)
        return np.asarray(sums >> np.uint64(self.dropped)).astype(np.int64)

    @property
    def change(self) -> Fraction:
        """The range of what one more record changes `U` by, of two classes; proved by looking at every size.

        From `N` records, `x` of them of its own class, to one more the sum changes by a quadratic of `x`, which is
        extreme at an end or beside its vertex. What is dropped at the end moves either extreme by less than a unit.
        With the exact `1/x` the range is 1: from 0, where all are of its class, to less than 1, where nobody is.
        """
        sizes = np.arange(self.records)
        before, after = self.inverse(sizes), self.inverse(sizes + 1)
        slope, bend = (sizes - 1) * after - sizes * before, before - after
        vertex = -slope // np.where(bend == 0, 1, 2 * bend)
        least = most = 0
        for same in (0 * sizes, sizes, vertex, vertex + 1):
            x = np.clip(same, 0, sizes)
            changes = (x + 1) * (sizes - x) * after - x * (sizes - x) * before  # modulo 2**64 they are exact
            least, most = min(least, int(changes.min(initial=0))), max(most, int(changes.max(initial=0)))
        return Fraction(-(-most >> self.dropped) - (least >> self.dropped), 1 << GINI_BITS)


def whole_merit(tables: ArrayLike, impurity: Impurity, records: float) -> Floats:
    """Return what attributes are worth by a measure, in the order of their `U`, of counts taken as whole ones.

    The gain ratio, which counts alone can have, is the gain by `U` over `f(N) - sum_v f(N(v))`. Gini's index takes any
    number of classes here; shares have it of two. Of more records at the root than it takes, it is that of a half, a
    quarter, ... Counts are `... x values x classes`, none of them negative.

    >>> whole_merit([[3, 0], [0, 3]], Impurity.GINI, 6).round(3).tolist()
    0.5
    """
    counts = np.rint(np.asarray(tables)).astype(np.int64)
    if impurity == Impurity.GINI:
        most = max(int(records), int(counts.sum((-1, -2)).max(initial=0)))
        halved = max(0, most.bit_length() - MOST_GINI_RECORDS.bit_length())
        counts >>= halved
        measure, unit = Gini(most >> halved, counts.shape[-1]).mixture, 2**GINI_BITS // 2
    else:
        measure, unit = mixture, 2**SCALE_BITS
    less = measure(counts.sum(-2, keepdims=True)) - measure(counts)
    by = mixture(counts.sum(-1)[..., None, :]) if impurity == Impurity.GAIN_RATIO else counts.sum((-1, -2)) * unit
    worth: Floats = np.divide(less, by, out=np.zeros(by.shape), where=by > 0)
    return worth


@cache
def _lines(bits: int) -> tuple[Whole, Whole]:
    """Return slope and intercept of each piece of `1/m`, whose ends are `2**(8 + bits)/m` rounded, but for `2/m`.

    So both ends of an octave meet, and no line is above `1/m`.
    """
    places = (1 << PIECES_BITS) + np.arange((1 << PIECES_BITS) + 1)
    whole = (1 << PIECES_BITS + bits) - 2
    ends: Whole = ((whole << PIECES_BITS + 1) + places) // (2 * places)
    slopes = ends[:-1] - ends[1:]
    return slopes, ends[:-1] + slopes * places[:-1]
