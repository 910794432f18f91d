"""How many bits a tree can reveal, where it must end so that it reveals no more, and what follows from it for certain.

A node that is asked has one answer of `candidates + 1` (who splits it, or nobody), a window one of all choices of
omega, a leaf's label one of the classes, and its share of each class but one, where shares are opened, one of eleven.
This follows from schema, terms and the tree so far: both sides compute it alike before a level is opened. A node that
would reveal too much is not asked: it is a leaf, and opened as one.

What follows is for a side that knows its own columns of everybody (DESIGN 16). A leaf is of one class if its node was
asked and no small branch can be a leaf whatever its classes are: that is so at `min_leaf` 1 alone, without noise, since
under no weights one record outweighs a leaf (`terms.leaf_of_weights`). So a side without the class knows the class of a
record all of whose possible leaves are of one class, the same for all; and a side with the class rules out the leaves
of another class. Whatever all leaves that are left say of the other side's columns then holds of the record. This is
what follows from each record alone. How many people there are rules out more where a node has only a few.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import comb
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protocols.learning.tree import TENTHS, Leaf, Node, Split, Tree
from protocols.tables import ROOT, Codes, Expression, Schema
from protocols.terms import ALL, Leaves, Terms, Window

_STEPS = 64  # of a bit


@cache
def bits(answers: int) -> Fraction:
    """Return the base-two logarithm, rounded up to a 64th: in whole numbers, so the same on every machine.

    >>> bits(1), bits(2), bits(8), float(bits(3))
    (Fraction(0, 1), Fraction(1, 1), Fraction(3, 1), 1.59375)
    """
    return Fraction((answers**_STEPS - 1).bit_length(), _STEPS)


def bits_of_node(candidates: int, window: Window) -> Fraction:
    """Return the bits of asking a node who of its candidates, or of its window, splits it."""
    return bits((candidates if window is ALL else min(window, candidates)) + 1)


def bits_of_window(candidates: int, window: Window) -> Fraction:
    """Return the bits of which candidates of a node are in its window."""
    return Fraction(0) if window is ALL or window >= candidates else bits(comb(candidates, window))


def bits_of_leaf(classes: int, leaves: Leaves) -> Fraction:
    """Return the bits of what is opened of a leaf."""
    return bits(classes) + (bits_of_tenths(classes) if leaves == Leaves.TENTHS else 0)


def bits_of_tenths(classes: int) -> Fraction:
    """Return the bits of the shares of a leaf."""
    return (classes - 1) * bits(TENTHS + 1)


def bits_at_most(
    domains: Sequence[int], of_leaf: Fraction, max_depth: int | None, window: Window = ALL, most: Fraction | None = None
) -> Fraction:
    """Return the bits of the tree of attributes of this many values that reveals most; `most` is what it may reveal."""
    sizes, total, nodes = sorted(domains, reverse=True), Fraction(0), 1
    for candidates, size in zip(range(len(sizes), 0, -1), sizes[:max_depth], strict=False):
        total += nodes * (bits_of_node(candidates, window) + bits_of_window(candidates, window))
        nodes *= size
    total += nodes * of_leaf
    return total if most is None else min(total, max(most, of_leaf))


@dataclass(frozen=True)
class Allowance:
    """What a tree may reveal.

    Args:
        max_depth: Of the tree; None for any.
        window: How many candidates compete at a node.
        most: The most bits, None for any; a leaf is opened even where it passes them.
        leaves: What is opened of a leaf.
    """

    schema: Schema
    max_depth: int | None
    window: Window = ALL
    most: Fraction | None = None
    leaves: Leaves = Leaves.LABEL

    @classmethod
    def of(cls, schema: Schema, terms: Terms, records: int) -> Self:
        """Return what a run may reveal of this many records, those held out among them."""
        return cls(schema, terms.max_depth, terms.window, terms.bits_at_most(records), terms.growth.leaves)

    @cached_property
    def _sizes(self) -> list[int]:
        return [attribute.size for attribute in self.schema.attributes]

    def of_node(self, candidates: int) -> Fraction:
        """Return the bits of asking a node who of its candidates splits it, and of its window."""
        return bits_of_node(candidates, self.window) + bits_of_window(candidates, self.window)

    @property
    def of_leaf(self) -> Fraction:
        """The bits of a leaf."""
        return bits_of_leaf(self.schema.classes, self.leaves)

    @property
    def at_most(self) -> Fraction:
        """The bits of the tree that reveals most, whatever the records are, within `most` or without."""
        return bits_at_most(self._sizes, self.of_leaf, self.max_depth, self.window, self.most)

    def asked(self, level: Sequence[Sequence[int]], spent: Fraction) -> list[int]:
        """Return which nodes of a depth may be asked, given each one's candidates and what is spent above them.

        One after the other, as long as there is enough for all open nodes to be leaves and of the widest split.
        """
        depth, reserved = len(self.schema.attributes) - len(level[0]), len(level) * self.of_leaf
        asked: list[int] = []
        for at, candidates in enumerate(level):
            if depth == self.max_depth or not candidates:
                continue
            widest = max([self._sizes[candidate] for candidate in candidates])
            price, more = self.price([candidates]), (widest - 1) * self.of_leaf
            if self.most is None or spent + price + reserved + more <= self.most:
                spent, reserved = spent + price, reserved + more
                asked.append(at)
        return asked

    def price(self, nodes: Sequence[Sequence[int]]) -> Fraction:
        """Return the bits of asking these nodes, given each one's candidates."""
        return sum((self.of_node(len(candidates)) for candidates in nodes), Fraction(0))

    def levels(self, tree: Tree) -> Iterator[tuple[list[tuple[Expression, Node]], list[int]]]:
        """Yield the nodes of each depth as they were grown, with the places of those that were asked."""
        every = len(self.schema.attributes)
        level, left, spent = [(ROOT, tree.root)], [list(range(every))], Fraction(0)
        while level:
            asked = self.asked(left, spent)
            yield level, asked
            spent += self._revealed(level, asked, len(left[0]))
            splits = [
                (expression, node, [other for other in candidates if other != node.attribute])
                for (expression, node), candidates in zip(level, left, strict=True)
                if isinstance(node, Split)
            ]
            level = [
                (expression.child(node.attribute, value), child)
                for expression, node, _ in splits
                for value, child in enumerate(node.children)
            ]
            left = [candidates for _, node, candidates in splits for _ in node.children]

    def unasked(self, tree: Tree) -> int:
        """Return how many nodes of a tree that grew within this were not asked, for what they might have revealed."""
        return sum(
            len(level) - len(asked)
            for depth, (level, asked) in enumerate(self.levels(tree))
            if depth not in (self.max_depth, len(self.schema.attributes))
        )

    def spent(self, tree: Tree) -> Fraction:
        """Return the bits that a tree has revealed which grew within this allowance."""
        every = len(self.schema.attributes)
        levels = enumerate(self.levels(tree))
        return sum((self._revealed(level, asked, every - depth) for depth, (level, asked) in levels), Fraction(0))

    def _revealed(self, level: Sequence[tuple[Expression, Node]], asked: Sequence[int], candidates: int) -> Fraction:
        labels = sum(isinstance(node, Leaf) for _, node in level)
        return len(asked) * self.of_node(candidates) + labels * self.of_leaf


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
