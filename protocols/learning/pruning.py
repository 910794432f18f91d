"""Reduced-error pruning (Du-Zhan 4.3, Multi-group 4.6; DESIGN 8) on records that did not grow the tree.

A node is cut to a leaf where that classifies at least as many of the pruning records rightly as its subtree does, from
the leaves upward. The counts may be estimates from disguised records, negative ones too: what is compared is a sum of
unbiased estimates on either side.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Estimates, Query
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.tables.expression import Expression

ClassCounts = Mapping[Expression, NDArray[np.float64]]


def prune(tree: Tree, estimates: Estimates) -> Tree:
    """Return the tree without the branches that the pruning records do not confirm.

    Args:
        tree: As grown; its labels stay those of the training records.
        estimates: Counts of the pruning records.
    """
    if isinstance(tree.root, Leaf):
        return tree
    counts = _class_counts(tree, estimates)
    kept: dict[Expression, tuple[Node, float]] = {}
    for expression, node in sorted(tree.walk(), key=lambda pair: -len(pair[0].terms)):
        as_leaf = Leaf(node.counts, node.label if isinstance(node, Leaf) else majority(node.counts))
        right = float(counts[expression][as_leaf.label])
        if isinstance(node, Split):
            children = [kept.pop(expression.child(node.attribute, value)) for value in range(len(node.children))]
            below = sum(score for _, score in children)
            if below > right:
                kept[expression] = Split(node.counts, node.attribute, tuple(child for child, _ in children)), below
                continue
        kept[expression] = as_leaf, right
    ((root, _),) = kept.values()
    return Tree(tree.schema, root)


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
