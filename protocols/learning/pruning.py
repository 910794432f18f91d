"""Reduced-error pruning (Du-Zhan 4.3, Multi-group 4.6; DESIGN 8) on records that did not grow the tree.

A node is cut to a leaf where that classifies at least as many of the pruning records rightly as its subtree does, from
the leaves upward. The counts may be estimates from disguised records, negative ones too: what is compared is a sum of
unbiased estimates on either side. Estimates are sums of floats, so that equal ones differ by what was rounded away: a
subtree is kept only where it does better by more than that. A split whose leaves all say one class is a leaf too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Estimates, Query
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.tables.expression import Expression

ClassCounts = Mapping[Expression, NDArray[np.float64]]
Columns = frozenset[int]
Rounding = Callable[[Columns], float]
"""The most by which a sum of estimates over expressions of these columns may have been rounded."""


@dataclass(frozen=True)
class _Kept:
    """What is left of a subtree: the pruning records that it classifies rightly, and the columns of its paths."""

    node: Node
    right: float
    columns: Columns


def prune(tree: Tree, estimates: Estimates, rounding: Rounding) -> Tree:
    """Return the tree without the branches that the pruning records do not confirm.

    Args:
        tree: As grown; its labels stay those of the training records.
        estimates: Counts of the pruning records.
        rounding: What the arithmetic of these counts may lose.
    """
    if isinstance(tree.root, Leaf):
        return tree
    counts = _class_counts(tree, estimates)
    kept: dict[Expression, _Kept] = {}
    for expression, node in sorted(tree.walk(), key=lambda pair: -len(pair[0].terms)):
        as_leaf = Leaf(node.counts, node.label if isinstance(node, Leaf) else majority(node.counts))
        cut = _Kept(as_leaf, float(counts[expression][as_leaf.label]), expression.columns)
        if isinstance(node, Split):
            children = [kept.pop(expression.child(node.attribute, value)) for value in range(len(node.children))]
            grown = _joined(node, children)
            tolerance = rounding(grown.columns | {tree.schema.class_index})
            kept[expression] = grown if grown.right - cut.right > tolerance else cut
        else:
            kept[expression] = cut
    (root,) = kept.values()
    return Tree(tree.schema, root.node)


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
    levels: dict[int, list[tuple[Expression, Node]]] = {}
    for expression, node in tree.walk():
        levels.setdefault(len(expression.terms), []).append((expression, node))
    for _, level in sorted(levels.items()):
        splits = [(expression, node) for expression, node in level if isinstance(node, Split)]
        estimates.advance([expression for expression, _ in splits])
        answers = estimates.answers([Query(expression, (node.attribute,), None) for expression, node in splits])
        for (expression, node), answer in zip(splits, answers, strict=True):
            table = np.asarray(answer.tables[0], dtype=np.float64)
            counts[expression] = table.sum(axis=0)
            counts |= {expression.child(node.attribute, value): row for value, row in enumerate(table)}
    return counts
