"""A node of a tree that grows, before it is known whether it becomes a leaf or is split."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.counts import Query
from protocols.learning.limits import Tally
from protocols.learning.tree import Leaf, majority
from protocols.tables.expression import Expression
from protocols.terms import Growth


@dataclass(frozen=True)
class OpenNode:
    """A node that may be split: step 1 of Hybrid-ID3, `E` and `AL`.

    `counted` are the attributes off its path that have been counted at a node on it.
    """

    expression: Expression
    tally: Tally
    candidates: tuple[int, ...]
    counted: frozenset[int] = frozenset()

    @property
    def depth(self) -> int:
        """Number of splits above it."""
        return len(self.expression.terms)

    @property
    def leaf(self) -> Leaf:
        """The node as a leaf of its majority class."""
        return Leaf(self.tally.counts, majority(self.tally.counts))

    def query(self, candidates: tuple[int, ...]) -> Query:
        """Ask for these candidates here."""
        return Query(self.expression, candidates, self.tally.sums, self.tally.together)

    def branches(
        self, window: Sequence[int], attribute: int, rows: Sequence[Sequence[float]], growth: Growth
    ) -> list["OpenNode"]:
        """Return what each value of an attribute of the window parts off, by its counts."""
        left = tuple(a for a in self.candidates if a != attribute)
        counted = (self.counted | set(window)) - {attribute}
        return [
            OpenNode(self.expression.child(attribute, value), self.tally.child(row, growth), left, counted)
            for value, row in enumerate(rows)
        ]
