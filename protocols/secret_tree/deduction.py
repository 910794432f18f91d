"""What follows for certain from a tree alone, for a side that knows its own columns of everybody (DESIGN 16).

A leaf is of one class if its node was asked and no small branch can be a leaf whatever its classes are: that is so at
`min_leaf` 1 alone, without noise, since under no weights one record outweighs a leaf (`terms.leaf_of_weights`). So a
side without the class knows the class of a record all of whose possible leaves are of one class, the same for all; and
a side with the class rules out the leaves of another class. Whatever all leaves that are left say of the other side's
columns then holds of the record.

This is what follows from each record alone. How many people there are rules out more where a node has only a few.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.learning.tree import Leaf, Tree
from protocols.secret_tree.bits import Allowance
from protocols.tables import Codes, Expression

Records = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Deduced:
    """Of which records a class, or a value of the other side's columns, follows for certain."""

    classes: Records
    values: Records


def deduce(tree: Tree, own: Collection[int], codes: Codes, allowance: Allowance) -> Deduced:
    """Return what a side can be certain of that holds these columns, by joint codes, of a tree that alone is known."""
    leaves = [(expression, node.label) for expression, node in tree.walk() if isinstance(node, Leaf)]
    of_one_class = _of_one_class(tree, allowance)
    certain = np.array([expression in of_one_class for expression, _ in leaves])
    labels = np.array([label for _, label in leaves])
    mine = frozenset(own)
    possible = np.stack([expression.restricted(mine).satisfied_by(codes) for expression, _ in leaves])
    if tree.schema.class_index in mine:
        possible &= ~certain[:, None] | (labels[:, None] == codes[:, tree.schema.class_index])
        classes = np.zeros(len(codes), np.bool_)
    else:
        label = np.where(possible, labels[:, None], -1).max(0)
        agree = (~possible | (labels[:, None] == label)).all(0)
        classes = agree & (~possible | certain[:, None]).all(0)
    values = np.zeros(len(codes), np.bool_)
    for term in {term for expression, _ in leaves for term in expression.terms if term.column not in mine}:
        holds = np.array([tree.schema.implies(expression, term) for expression, _ in leaves])
        values |= (~possible | holds[:, None]).all(0)
    return Deduced(classes, values)


@dataclass(frozen=True)
class Follows:
    """Of how many of our training records something follows for certain from the tree and what a side has.

    `values` and `classes` are what we can say: of a column of the other side, and of the class. `shown` is of how many
    the other side can say the class at most, where we alone hold it: they may be in a leaf of one class.
    """

    records: int
    values: int
    classes: int
    shown: int


def what_follows(tree: Tree, own: Collection[int], codes: Codes, allowance: Allowance, *, alone: bool) -> Follows:
    """Count what follows; `alone` is whether the class is ours alone, the rest as of `deduce`."""
    deduced, label = deduce(tree, own, codes, allowance), tree.schema.class_index
    shown, mine = np.zeros(len(codes), np.bool_), frozenset(own)
    leaves = dict(tree.leaves())
    for expression in _of_one_class(tree, allowance) if alone else ():
        shown |= expression.restricted(mine).satisfied_by(codes) & (codes[:, label] == leaves[expression])
    return Follows(len(codes), int(deduced.values.sum()), int(deduced.classes.sum()), int(shown.sum()))


def _of_one_class(tree: Tree, allowance: Allowance) -> set[Expression]:
    """Return the leaves of which it follows that they have no record of another class."""
    if tree.growth.min_leaf > 1 or tree.growth.noise is not None:
        return set()
    asked = (level[at] for level, places in allowance.levels(tree) for at in places)
    return {expression for expression, node in asked if isinstance(node, Leaf)}
