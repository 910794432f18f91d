"""Reduced-error pruning (Du-Zhan 4.3, Multi-group 4.6; DESIGN 7.7 and 8) on records that did not grow the tree.

A node is cut to a leaf where that classifies at least as many pruning records correctly as its subtree does, from
the leaves upward. The counts may be estimates from disguised records, even negative: both sides of the comparison are
sums of unbiased estimates. As sums of floats, equal ones may differ by rounding: a subtree is kept only where it does
better by more than that. A split whose leaves all say one class is a leaf too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Estimates, Query
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.tables.expression import Expression

Columns = frozenset[int]
Rounding = Callable[[Columns], float]
"""The most by which a sum of estimates over expressions of these columns may have been rounded."""


@dataclass(frozen=True)
class _Kept:
    """What is left of a subtree: the pruning records that it classifies correctly, and the columns of its paths."""

    node: Node
    right: float
    columns: Columns


@dataclass(frozen=True)
class Confirmed:
    """How many pruning records a split would get right as a leaf, and how many its children do that are leaves.

    What the other children do follows from their own.
    """

    as_leaf: float
    in_leaves: float


def prune(tree: Tree, estimates: Estimates, rounding: Rounding) -> Tree:
    """Return the tree without the branches that the pruning records do not confirm.

    Args:
        tree: As grown; its labels stay those of the training records.
        estimates: Counts of the pruning records.
        rounding: What the arithmetic of these counts may lose.
    """
    counts = _class_counts(tree, estimates)
    confirmed = {}
    for expression, node in tree.splits():
        right = [float(counts[below][label]) for below, label in leaves_of(expression, node)]
        confirmed[expression] = Confirmed(float(counts[expression][majority(node.counts)]), sum(right))
    return reduced(tree, confirmed, rounding)


def leaves_of(expression: Expression, node: Split) -> list[tuple[Expression, int]]:
    """Return the children of a split that are leaves, and what each claims."""
    children = ((expression.child(node.attribute, value), child) for value, child in enumerate(node.children))
    return [(below, child.label) for below, child in children if isinstance(child, Leaf)]


def cut_to_leaf(node: Split) -> Leaf:
    """Return a split as a leaf of its majority class."""
    return Leaf(node.counts, majority(node.counts))


def reduced(tree: Tree, confirmed: Mapping[Expression, Confirmed], rounding: Rounding) -> Tree:
    """Return the tree without the branches that what is known of every split does not confirm."""

    def leaf(expression: Expression, node: Leaf) -> _Kept:
        return _Kept(node, 0.0, expression.columns)

    def split(expression: Expression, node: Split, children: Sequence[_Kept]) -> _Kept:
        known = confirmed[expression]
        cut = _Kept(cut_to_leaf(node), known.as_leaf, expression.columns)
        grown = _joined(node, children, known.in_leaves)
        tolerance = rounding(grown.columns | {tree.schema.class_index})
        return grown if grown.right - cut.right > tolerance else cut

    return replace(tree, root=tree.folded(leaf, split).node)


def _joined(split: Split, children: Sequence[_Kept], in_leaves: float) -> _Kept:
    """Return a split over what is left of its children: a leaf, where all of them are leaves of one class.

    Of those that were leaves before, what they classify correctly is not in `children`.
    """
    nodes = tuple(child.node for child in children)
    labels = {node.label if isinstance(node, Leaf) else None for node in nodes}
    label = labels.pop()
    node = Split(split.counts, split.attribute, nodes) if labels or label is None else Leaf(split.counts, label)
    columns = frozenset[int]().union(*(child.columns for child in children))
    return _Kept(node, in_leaves + sum(child.right for child in children), columns)


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
