"""Change a finished tree: label its leaves by other counts, or end it early."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from protocols.counts import Counts, CountTable, Query
from protocols.learning.tree import Leaf, Node, Split, Tree, majority
from protocols.role import Role
from protocols.tables.expression import Expression


def label_leaves(tree: Tree, engine: Counts) -> Role[Tree]:
    """Return the same splits with leaves labelled by this engine's counts; an empty leaf takes its parent's class.

    Args:
        tree: Any tree.
        engine: Where the counts come from; none of them negative.

    Discloses: whatever `engine` discloses.
    """
    tables: dict[Expression, CountTable] = {}
    known: dict[Expression, tuple[float, ...] | None] = {}
    for level in tree.levels():
        queries = [Query(expression, (node.attribute,), known.get(expression)) for expression, node in level]
        for (expression, node), answer in zip(level, (yield from engine.count(queries)), strict=True):
            (tables[expression],) = answer.tables
            rows = tables[expression].tolist()
            known |= {expression.child(node.attribute, value): tuple(row) for value, row in enumerate(rows)}
    return replace(tree, root=_labelled(tree, tables))


def _labelled(tree: Tree, tables: dict[Expression, CountTable]) -> Node:
    def split(expression: Expression, node: Split, children: Sequence[Node]) -> Node:
        table = tables[expression]
        labelled = (
            _leaf(row, table) if isinstance(child, Leaf) else child
            for child, row in zip(children, table.tolist(), strict=True)
        )
        return Split(tuple(table.sum(axis=0).tolist()), node.attribute, tuple(labelled))

    return tree.folded(lambda _, leaf: leaf, split)


def _leaf(row: Sequence[float], rows: CountTable) -> Leaf:
    above = np.asarray(rows, dtype=np.float64).sum(axis=0).tolist()
    return Leaf(tuple(row), majority(row if sum(row) > 0 else above))


def end_early(tree: Tree, is_split: Callable[[Expression, Split], bool]) -> Tree:
    """Return the tree in which splits that fail the test are leaves of their majority class.

    Splits are decided from the root downward, so this is the tree that such an early stop would have grown.
    """

    def split(expression: Expression, node: Split, children: Sequence[Node]) -> Node:
        if is_split(expression, node):
            return Split(node.counts, node.attribute, tuple(children))
        return Leaf(node.counts, majority(node.counts))

    return replace(tree, root=tree.folded(lambda _, leaf: leaf, split))
