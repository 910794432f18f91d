"""Where a tree must stop, and which classes a node counts together (DESIGN 7.1 "Limits", 14).

What is known of a node are the counts that were told for its parent, one for each group of classes that the parent
counted together; so a group never parts again below. A class's count within a group is no longer known: the group's is
shared out as the classes stood where they were joined.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from protocols.counts import ClassGroup
from protocols.terms import Growth

SLACK = 1e-9
"""Counts that are estimates are rounded: what lacks no more than this of a limit reaches it, at both parties."""


@dataclass(frozen=True)
class Tally:
    """How many records a node has.

    `counts` are those of each class, a joined one's its share; `columns` the groups of classes that the node counts
    together, in the order of their first class, most of them of one; `sums` are the groups' counts.
    """

    counts: tuple[float, ...]
    columns: tuple[ClassGroup, ...]
    sums: tuple[float, ...]

    @property
    def records(self) -> float:
        """All of them."""
        return sum(self.sums)

    @property
    def together(self) -> tuple[ClassGroup, ...]:
        """The groups of more than one class."""
        return tuple(labels for labels in self.columns if len(labels) > 1)

    @property
    def is_pure(self) -> bool:
        """Whether the records are of one class, as far as the node can tell."""
        return sum(count > 0 for count in self.sums) == 1

    def child(self, sums: Sequence[float], growth: Growth) -> "Tally":
        """Return the tally of a branch, for which our columns have these counts."""
        counts = [0.0 for _ in self.counts]
        for labels, count, whole in zip(self.columns, sums, self.sums, strict=True):
            for label in labels:
                counts[label] = count if len(labels) == 1 or not count else count * self.counts[label] / whole
        return _joined(counts, dict(zip(self.columns, sums, strict=True)), growth)


def tally_of(counts: Sequence[float], growth: Growth) -> Tally:
    """Return the tally of a root of which every class's count is known."""
    return _joined(counts, {(label,): count for label, count in enumerate(counts)}, growth)


def _joined(counts: Sequence[float], sums: Mapping[ClassGroup, float], growth: Growth) -> Tally:
    """Join the rarest classes until each group is large enough; of classes without records nothing can be told."""
    rest = dict(sums)
    present = sorted((count, labels) for labels, count in sums.items() if count > 0)
    while growth.min_class > 1 and len(present) > 1 and present[0][0] < growth.min_class - SLACK:
        (rarest, first), (next_one, second), *others = present
        del rest[first], rest[second]
        labels = tuple(sorted(first + second))
        rest[labels] = rarest + next_one
        present = sorted([*others, (rest[labels], labels)])
    columns = tuple(sorted(rest))
    return Tally(tuple(counts), columns, tuple(rest[labels] for labels in columns))


def may_be_split(records: float, depth: int, growth: Growth) -> bool:
    """Tell whether a node of so many records, so many splits below the root, may be split by any attribute at all."""
    is_deep = growth.max_depth is not None and depth >= growth.max_depth
    return not is_deep and (growth.min_leaf == 1 or records >= growth.smallest_split - SLACK)


def may_split(branches: Iterable[float], growth: Growth) -> bool:
    """Tell whether an attribute that parts off so many records may split a node: two branches are large at least."""
    return growth.min_leaf == 1 or sum(not is_small(records, growth) for records in branches) > 1


def is_small(records: float, growth: Growth) -> bool:
    """Tell whether a branch of so many records is a leaf of its parent's label: an empty one always is."""
    return records <= 0 or (growth.min_leaf > 1 and records < growth.min_leaf - SLACK)
