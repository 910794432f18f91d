"""How coarsely estimates are told (DESIGN 14).

A party's estimates are made of its own true columns. Told in full they could be solved for these columns; told as
multiples of a quarter of the standard error that its copy has left the other side in a count over one group, they say
hardly more than the copy does, and ranking loses nothing that noise had left.
"""

from collections.abc import Sequence
from math import frexp, ldexp

from protocols.learning.ranking import FINEST_STEP, GainStep
from protocols.randomized_response.moments import noise
from protocols.randomized_response.related_question import RelatedDesign

QUARTER = 0.25


def count_step(designs: Sequence[RelatedDesign], records: float) -> float:
    """Return the largest power of two that is at most a quarter of the standard error of a count, in records.

    Args:
        designs: Of both copies; the group that hides least decides. 0 where nothing is hidden.
        records: Of the node.
    """
    groups = [(d, k) for d in designs for k in range(len(d.groups)) if d.orders[k] > 1]
    error = min((noise(design, group, records) for design, group in groups), default=0.0)
    return ldexp(1.0, frexp(QUARTER * error)[1] - 1) if error > 0 else 0.0


def gain_step(designs: Sequence[RelatedDesign]) -> GainStep:
    """Return the step of gains: a node's step of counts as a share of its records, in bits, at most 1.

    Both sides compute the same: the designs are agreed, and the node's records are known from exact counts.
    """

    def step(records: float) -> float:
        share = count_step(designs, records) / records
        return min(max(ldexp(1.0, frexp(share)[1] - 1), FINEST_STEP), 1.0) if share > 0 else FINEST_STEP

    return step
