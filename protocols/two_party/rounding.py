"""How coarsely estimates are told (DESIGN 14).

A party's estimates are made of its own true columns. Told in full they could be solved for these columns. So they are
told as multiples of a share of the standard error that its copy has left the other side in a count over one group. A
count of a mined tree is a sum over people, with weights that the other side knows: it is told as a multiple of twice
that error, to the nearest power of two below.
"""

from collections.abc import Sequence
from math import frexp, ldexp

import numpy as np

from protocols.counts import Answer, Counts, CountTable, Query
from protocols.randomized_response.moments import noise
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Role
from protocols.tables.arrays import Floats

QUARTER = 0.25


TWICE = 2.0


def count_step(designs: Sequence[RelatedDesign], records: float, share: float = QUARTER) -> float:
    """Return the largest power of two that is at most this share of the standard error of a count, in records.

    Args:
        designs: Of both copies; the group that hides least decides. 0 where nothing is hidden.
        records: Of the node.
        share: A quarter unless said.
    """
    groups = [(d, k) for d in designs for k in range(len(d.groups)) if d.orders[k] > 1]
    error = min((noise(design, group, records) for design, group in groups), default=0.0)
    return ldexp(1.0, frexp(share * error)[1] - 1) if error > 0 else 0.0


class RoundedCounts:
    """Estimated counts as multiples of a quarter of what the copies leave of a count over one group at their node.

    Variances are multiples of that squared.

    What is decided by them, the limits of a tree too, follows from these multiples and tells no more than they do.

    Discloses: what the counts that are rounded disclose.
    """

    def __init__(self, counts: Counts, designs: Sequence[RelatedDesign]) -> None:
        self._counts, self._designs = counts, designs

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Round what is counted."""
        answers = yield from self._counts.count(queries)
        steps = [count_step(self._designs, sum(query.class_counts or ())) for query in queries]
        return [
            Answer(_rounded(answer.tables, step), _rounded(answer.noises, step**2)) if step else answer
            for step, answer in zip(steps, answers, strict=True)
        ]


def _rounded(tables: Sequence[CountTable], step: float) -> tuple[Floats, ...]:
    return tuple(np.rint(table / step) * step for table in tables)
