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
from protocols.oblivious.aes import Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import bits_of_lanes, wires_of
from protocols.role import Fact, Note, Role
from protocols.tables import Expression


class OpenedKind(StrEnum):
    """What may be opened of nodes.

    LEAVES      whether a node that was asked is a leaf: 1 if it is
    LABELS      the class of a leaf
    SPLITS      by which attribute a node is split, as its place among the node's candidates
    SETS        whether a set of items of both parties reaches a threshold: 1 if it does (`two_party.opened_sets`)
    RULES       whether a rule, its antecedent and its consequent, reaches one: 1 if it does (likewise)
    SCORES      how many held-out records have which label, by class, with the noise of both sides (`held_out`)
    """

    LEAVES = "leaves"
    LABELS = "labels"
    SPLITS = "splits"
    SETS = "sets"
    RULES = "rules"
    SCORES = "scores"


@dataclass(frozen=True, repr=False)
class OpenedFact(Fact):
    """What is opened of these nodes, of `SCORES` none; `values` are None while nobody knows them.

    Of `SPLITS` they are attributes, of `SCORES` numbers, label by label. Of `RULES` nodes are the antecedents.
    """

    what: OpenedKind
    nodes: tuple[Expression, ...]
    values: tuple[int, ...] | None
    consequents: tuple[Expression, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Lane:
    """A node of which something is opened.

    Args:
        place: Of its lane.
        node: Its path; of a rule the antecedent.
        values: What each number that may be opened of it stands for.
        consequent: Of a rule.
    """

    place: int
    node: Expression
    values: Sequence[int]
    consequent: Expression | None = None


def open_lanes(gates: Gates, what: OpenedKind, wires: Uint64s, lanes: Sequence[Lane]) -> Role[list[int]]:
    """Open the numbers of some lanes, of which the wires are the bits, and of no other lane.

    Discloses: these numbers.

    Raises:
        PeerError: The peer sent what the protocol does not allow.
        DeviationError: A number stands for nothing.
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
