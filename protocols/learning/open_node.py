"""A node of a tree that grows, before it is known whether it becomes a leaf or is split."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.counts import Query
from protocols.learning.limits import may_be_split
from protocols.learning.tree import Leaf, majority
from protocols.tables.expression import Expression
from protocols.terms import Growth


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
