"""Ranking the candidates of a level by estimated gains (Hybrid section 3.1, steps 4a and 4b).

Each party estimates the gain of every candidate from its own true and the other's disguised columns, and the mean of
both ranks. An estimated gain is a whole number here, with `most` the bits of a class's code, which no measure passes:

    round((gain + most) 2^20), gain within -most .. most;    0 of an attribute that may not split its node

so that sums of two rank as their means do, and have as many bits whatever the table is.
"""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from protocols.counts import Estimates, Query
from protocols.learning.merit import CANNOT, estimated_merits
from protocols.learning.whole import Whole
from protocols.role import Role
from protocols.tables import Expression
from protocols.terms import ALL, Growth, Window

GAIN_BITS: Final = 20
"""An estimated gain is a multiple of `2**-GAIN_BITS` bits: far below the error of any estimate."""


class Ranking(Protocol):
    """A way to find windows, the same at both parties."""

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        """Return the `omega` best candidates of each query, in the agreed order; of equals the first are better.

        All queries have the same number of candidates, which is larger.
        """


def windows_or_all(ranking: Ranking | None, queries: Sequence[Query], omega: Window) -> Role[list[tuple[int, ...]]]:
    """Return the window of each query, or all its candidates where none is left out.

    Discloses: whatever `ranking` discloses, where a candidate is left out.
    """
    if not queries or ranking is None or omega is ALL or omega >= len(queries[0].candidates):
        return [query.candidates for query in queries]
    ranking.advance([query.expression for query in queries])
    return (yield from ranking.windows(queries, omega))


def _most(classes: int) -> int:
    return max(1, (classes - 1).bit_length())


def sum_bits(classes: int) -> int:
    """Return how many bits a difference of two sums of both sides' gains has, its sign included."""
    return (4 * _most(classes) << GAIN_BITS).bit_length() + 1


def whole_gains(estimates: Estimates, queries: Sequence[Query], classes: int, growth: Growth) -> Whole:
    """Return our estimated gains as whole numbers (`queries x candidates`), of nodes with one number of candidates."""
    answers, most = estimates.answers(queries), _most(classes)
    records = [float(answer.tables[0].sum()) for answer in answers]
    gains = np.array(estimated_merits(answers, records, growth))
    whole = np.rint((np.clip(gains, -most, most) + most) * (1 << GAIN_BITS))
    return np.where(gains == CANNOT, 0, whole).astype(np.int64)


def best(gains: Sequence[int], omega: int) -> tuple[int, ...]:
    """Return the places of the highest, of equals the first, in their order.

    >>> best([5, 7, 7, 1, 7], 2)
    (1, 2)
    """
    return tuple(sorted(sorted(range(len(gains)), key=lambda place: -gains[place])[:omega]))
