"""Reduced-error pruning by records that both parties hold a part of (DESIGN 7.7).

Two numbers tell all about a split: how many pruning records it would classify correctly as a leaf, and how many its
children that are leaves do. What its other children do follows from theirs. Neither depends on what is cut elsewhere,
so all are asked for in one batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from protocols.counts import Claims, SecureEngine
from protocols.learning.pruning import Confirmed, cut_to_leaf, leaves_of, reduced
from protocols.learning.tree import Leaf, Node, Split, Tree
from protocols.role import Role
from protocols.tables.expression import Expression


@dataclass(frozen=True)
class Pruned:
    """What is left of a tree, and how many counts of pruning records were told for it."""

    tree: Tree
    counts: int


def prune_by_claims(tree: Tree, engine: SecureEngine, train: int, pruning: int) -> Role[Pruned]:
    """Return the tree without the branches that the pruning records do not confirm.

    Args:
        tree: As grown; its labels stay those of the training records.
        engine: Counts the pruning records.
        train: How many records grew the tree.
        pruning: How many there are to prune by; without any the tree stays as it is.

    Discloses: whatever `engine` discloses: of each split of which enough pruning records are expected, how many are of
    its majority class, and how many its leaves classify correctly if it has any.
    """
    if not pruning:
        return Pruned(tree, 0)
    rest = _without_small(tree, train, pruning)
    asked = {expression: _claims(expression, node) for expression, node in rest.splits()}
    if not asked:
        return Pruned(rest, 0)
    every = [claims for each in asked.values() for claims in each]
    told = iter((yield from engine.count_claims(every)))
    confirmed = {
        expression: Confirmed(next(told), next(told) if len(each) > 1 else 0) for expression, each in asked.items()
    }
    return Pruned(reduced(rest, confirmed, _exactly), len(every))


def _claims(expression: Expression, node: Split) -> list[Claims]:
    as_leaf, in_leaves = [(expression, cut_to_leaf(node).label)], leaves_of(expression, node)
    return [as_leaf, in_leaves] if in_leaves else [as_leaf]


def _without_small(tree: Tree, train: int, pruning: int) -> Tree:
    """Cut every split that is expected to have fewer pruning records than a node that may be split has others.

    Its records are whole, but a joined class's share of them is not.
    """
    smallest = tree.growth.smallest_split * train

    def leaf(expression: Expression, node: Leaf) -> Node:
        del expression
        return node

    def split(expression: Expression, node: Split, children: Sequence[Node]) -> Node:
        del expression
        grown = Split(node.counts, node.attribute, tuple(children))
        return cut_to_leaf(node) if round(sum(node.counts)) * pruning < smallest else grown

    return replace(tree, root=tree.folded(leaf, split))


def _exactly(columns: frozenset[int]) -> float:
    """Nothing is rounded where records are counted."""
    del columns
    return 0.0
