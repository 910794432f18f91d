"""What a run opens where the tree alone is revealed (DESIGN 16): each opening has a name here, and there is no other.

Windows alone have theirs in `window`, as where counts are shown (`WindowsFact`).
Both sides learn what is opened at the same moment; it is noted before our share of it leaves, and with what it was
afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from protocols.errors import DeviationError
from protocols.learning.tree import TENTHS
from protocols.oblivious.bits import Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import bits_of_lanes, wires_of
from protocols.role import Fact, Note, Role
from protocols.tables import Expression
from protocols.terms import ALL, Growth, Leaves, Window


class OpenedKind(StrEnum):
    """What may be opened of nodes.

    LEAVES      whether a node that was asked is a leaf: 1 if it is
    LABELS      the class of a leaf
    TENTHS      the shares of the classes in the leaves of the tree, in tenths (`tenths`)
    SPLITS      by which attribute a node is split, as its place among the node's candidates
    SETS        whether a set of items of both parties reaches a threshold: 1 if it does (`two_party.opened_sets`)
    RULES       whether a rule, its antecedent and its consequent, reaches one: 1 if it does (likewise)
    SCORES      how many held-out records have which label, by class, with the noise of both sides (`held_out`)
    """

    LEAVES = "leaves"
    LABELS = "labels"
    TENTHS = "tenths"
    SPLITS = "splits"
    SETS = "sets"
    RULES = "rules"
    SCORES = "scores"


class OpenedFact(Fact):
    """What is opened of these nodes, of `SCORES` none; `values` are None while nobody knows them.

    Of `SPLITS` they are attributes, of `TENTHS` those of all classes but the first, node by node, of `SCORES` numbers,
    label by label. Of `RULES` nodes are the antecedents.
    """

    what: OpenedKind
    nodes: tuple[Expression, ...]
    values: tuple[int, ...] | None
    consequents: tuple[Expression, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Lane:
    """A node of which something is opened, by its path or, of a rule, its antecedent; what opened numbers mean."""

    place: int
    node: Expression
    values: Sequence[int]
    consequent: Expression | None = None


def open_lanes(gates: Gates, what: OpenedKind, wires: Uint64s, lanes: Sequence[Lane]) -> Role[list[int]]:
    """Open the numbers of some lanes, of which the wires are the bits, and of no other lane.

    Discloses: these numbers.
    """
    if not lanes:
        return []
    nodes = tuple(lane.node for lane in lanes)
    consequents = tuple(lane.consequent for lane in lanes if lane.consequent is not None)
    yield Note(OpenedFact(what, nodes, None, consequents))
    both = yield from gates.opened(wires_of(bits_of_lanes(wires)[:, [lane.place for lane in lanes]]))
    bits = bits_of_lanes(both)[:, : len(lanes)].astype(np.int64)
    numbers = [int(number) for number in (bits << np.arange(len(bits))[:, None]).sum(0)]
    if not all(number < len(lane.values) for number, lane in zip(numbers, lanes, strict=True)):
        raise DeviationError
    values = [lane.values[number] for number, lane in zip(numbers, lanes, strict=True)]
    yield Note(OpenedFact(what, nodes, tuple(values), consequents))
    return values


def wires_of_node_and_leaf(candidates: int, classes: int, window: Window, growth: Growth) -> tuple[int, int]:
    """Return how many bits are opened at most of a node that is split, its window apart, and of a leaf.

    >>> wires_of_node_and_leaf(78, 2, ALL, Growth(leaves=Leaves.TENTHS))
    (8, 11)
    """
    judged = 1 if growth.noise is None else 0
    tenths = TENTHS * (classes - 1) if growth.leaves == Leaves.TENTHS else 0
    return judged + _width(candidates if window is ALL else min(window, candidates)), _width(classes) + tenths


def _width(kinds: int) -> int:
    return max(1, (kinds - 1).bit_length())
