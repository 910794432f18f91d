"""Where a tree must stop (DESIGN 7.1 "Limits")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from protocols.counts import Query
from protocols.learning.tree import Leaf, majority
from protocols.tables.table import Expression
from protocols.terms import Growth

SLACK = 1e-9
"""Counts that are estimates are rounded: what lacks no more than this of a limit reaches it, at both parties."""


def may_be_split(records: float, depth: int, growth: Growth) -> bool:
    """Tell whether a node of this many records, with this many splits above it, may be split at all."""
    is_deep = growth.max_depth is not None and depth >= growth.max_depth
    return not is_deep and (growth.min_leaf == 1 or records >= growth.smallest_split - SLACK)


def may_split(branches: Iterable[float], growth: Growth) -> bool:
    """Tell whether an attribute that parts off this many records may split a node: two branches are large at least."""
    return growth.min_leaf == 1 or sum(not is_small(records, growth) for records in branches) > 1


def is_small(records: float, growth: Growth) -> bool:
    """Tell whether a branch of this many records is a leaf of its parent's label: an empty one always is."""
    return records <= 0 or (growth.min_leaf > 1 and records < growth.min_leaf - SLACK)


@dataclass(frozen=True)
class OpenNode:
    """A node that may be split, with its counts of classes: step 1 of Hybrid-ID3, `E` and `AL`."""

    expression: Expression
    counts: tuple[float, ...]
    candidates: tuple[int, ...]

    @property
    def depth(self) -> int:
        """Number of splits above it."""
        return len(self.expression.terms)

    @property
    def records(self) -> float:
        """How many it has."""
        return sum(self.counts)

    @property
    def leaf(self) -> Leaf:
        """The node as a leaf of its majority class."""
        return Leaf(self.counts, majority(self.counts))

    def query(self, candidates: tuple[int, ...]) -> Query:
        """Ask for these candidates here."""
        return Query(self.expression, candidates, self.counts)

    def grows(self, growth: Growth) -> bool:
        """Tell whether it is counted on (steps 1 to 3): it has candidates and two classes, and no limit forbids it."""
        is_pure = sum(count > 0 for count in self.counts) == 1
        return bool(self.candidates) and not is_pure and may_be_split(self.records, self.depth, growth)

    def branches(self, attribute: int, rows: Sequence[Sequence[float]]) -> list["OpenNode"]:
        """Return what each value of an attribute parts off, by its counts."""
        left = tuple(a for a in self.candidates if a != attribute)
        return [OpenNode(self.expression.child(attribute, value), tuple(row), left) for value, row in enumerate(rows)]
