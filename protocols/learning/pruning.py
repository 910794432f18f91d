"""Reduced-error pruning (Du-Zhan 4.3, Multi-group 4.6; DESIGN 8) on records that did not grow the tree.

A node is cut to a leaf where that classifies at least as many pruning records correctly as its subtree does, from
the leaves upward. The counts may be estimates from disguised records, even negative: both sides of the comparison are
sums of unbiased estimates. As sums of floats, equal ones may differ by rounding: a subtree is kept only where it does
better by more than that. A split whose leaves all say one class is a leaf too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Estimates, Query
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.tables import Expression

Columns = frozenset[int]
Rounding = Callable[[Columns], float]
"""The most by which a sum of estimates over expressions of these columns may have been rounded."""


@dataclass(frozen=True)
class _Kept:
    """What is left of a subtree: the pruning records that it classifies correctly, and the columns of its paths."""

    node: Node
    right: float
    columns: Columns


def prune(tree: Tree, estimates: Estimates, rounding: Rounding) -> Tree:
    """Return the tree without the branches that the pruning records do not confirm; labels stay those of training.

    `rounding` is what the arithmetic of these counts may lose.
    """
    if isinstance(tree.root, Leaf):
        return tree
    counts = _class_counts(tree, estimates)

    def leaf(expression: Expression, node: Leaf) -> _Kept:
        return _Kept(node, float(counts[expression][node.label]), expression.columns)

    def split(expression: Expression, node: Split, children: Sequence[_Kept]) -> _Kept:
        cut, grown = leaf(expression, Leaf(node.counts, majority(node.counts))), _joined(node, children)
        tolerance = rounding(grown.columns | {tree.schema.class_index})
        return grown if grown.right - cut.right > tolerance else cut

    return replace(tree, root=tree.folded(leaf, split).node)


def _joined(split: Split, children: Sequence[_Kept]) -> _Kept:
    """Return a split over what is left of its children: a leaf, where all of them are leaves of one class."""
    nodes = tuple(child.node for child in children)
    labels = {node.label if isinstance(node, Leaf) else None for node in nodes}
    label = labels.pop()
    node = Split(split.counts, split.attribute, nodes) if labels or label is None else Leaf(split.counts, label)
    columns = frozenset[int]().union(*(child.columns for child in children))
    return _Kept(node, sum(child.right for child in children), columns)


def _class_counts(tree: Tree, estimates: Estimates) -> dict[Expression, NDArray[np.float64]]:
    """Return the counts of the classes at every node, level by level: a split's own counts are its children's sum."""
    counts: dict[Expression, NDArray[np.float64]] = {}
    for level in tree.levels():
        estimates.advance([expression for expression, _ in level])
        answers = estimates.answers([Query(expression, (node.attribute,), None) for expression, node in level])
        for (expression, node), answer in zip(level, answers, strict=True):
            table = np.asarray(answer.tables[0], dtype=np.float64)
            counts[expression] = table.sum(axis=0)
            counts |= {expression.child(node.attribute, value): row for value, row in enumerate(table)}
    return counts
