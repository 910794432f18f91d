"""Decision trees: the finished model that both parties end with."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.counts import Claims
from protocols.errors import InputError
from protocols.randomness import canonical
from protocols.tables import ROOT, Expression, Rows, Schema, Term
from protocols.terms import TO_THE_END, Growth

Folded = TypeVar("Folded")
TENTHS: Final = 10
NO_COUNTS: Final = "the model has classes alone, and nobody knows the shares of its leaves: ask for the classes"


@dataclass(frozen=True)
class Leaf:
    """An end of the tree.

    `counts` are all zero if no training record reached it, and none where nobody knows them. `tenths` are the shares of
    the classes as they were opened in place of counts, if they were.
    """

    counts: tuple[float, ...]
    label: int
    tenths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Split:
    """An inner node: one child for each value of `attribute` (an index into `Schema.attributes`)."""

    counts: tuple[float, ...]
    attribute: int
    children: tuple["Node", ...]


Node = Leaf | Split


@dataclass(frozen=True)
class Tree:
    """A decision tree over a joint schema, and how far it was allowed to grow."""

    schema: Schema
    root: Node
    growth: Growth = TO_THE_END

    @property
    def has_counts(self) -> bool:
        """Whether it is known how many training records of each class each node has: not where the tree alone is."""
        return bool(self.root.counts)

    @property
    def columns(self) -> frozenset[int]:
        """The attributes that the tree splits on."""
        return frozenset(node.attribute for _, node in self.nodes() if isinstance(node, Split))

    def predict(self, codes: Rows) -> NDArray[np.intp]:
        """Return the class of each row of joint codes; the class column is not read.

        A code outside an attribute's domain, such as -1, has no branch: its row gets the majority class of the node
        that it reached.
        """
        labels = np.zeros(len(codes), dtype=np.intp)
        for node, rows in self._sorted_into_nodes(codes):
            labels[rows] = label_of_node(node)
        return labels

    def shares(self, codes: Rows) -> NDArray[np.float64]:
        """Return the class shares where each row ends (`rows x classes`)."""
        result = np.zeros((len(codes), self.schema.classes))
        for node, rows in self._sorted_into_nodes(codes):
            result[rows] = list(map(float, shares_of(node)))
        return result

    def _sorted_into_nodes(self, codes: Rows) -> Iterator[tuple[Node, NDArray[np.intp]]]:
        """Yield the nodes at which rows end, each with its rows: leaves, and splits that have no branch for them."""
        pending: list[tuple[Node, NDArray[np.intp]]] = [(self.root, np.arange(len(codes), dtype=np.intp))]
        while pending:
            node, rows = pending.pop()
            if isinstance(node, Leaf):
                yield node, rows
                continue
            values = codes[rows, node.attribute]
            stray = rows[(values < 0) | (values >= len(node.children))]
            if len(stray):
                yield node, stray
            parts = ((child, rows[values == v]) for v, child in enumerate(node.children))
            pending += [(child, part) for child, part in parts if len(part)]

    def nodes(self) -> Iterator[tuple[int, Node]]:
        """Yield every node with the number of splits above it, in the order of `walk` and without its paths."""
        pending: list[tuple[int, Node]] = [(0, self.root)]
        while pending:
            depth, node = pending.pop()
            yield depth, node
            if isinstance(node, Split):
                pending += [(depth + 1, child) for child in reversed(node.children)]

    def walk(self) -> Iterator[tuple[Expression, Node]]:
        """Yield every node with its expression, parents before children. NB: a path is as long as its node is deep."""
        pending: list[tuple[Expression, Node]] = [(ROOT, self.root)]
        while pending:
            expression, node = pending.pop()
            yield expression, node
            if isinstance(node, Split):
                pending += [
                    (expression & Term(node.attribute, v), child)
                    for v, child in reversed(list(enumerate(node.children)))
                ]

    def splits(self) -> Iterator[tuple[Expression, Split]]:
        """Yield every split with its expression, parents before children."""
        yield from ((expression, node) for expression, node in self.walk() if isinstance(node, Split))

    def levels(self) -> Iterator[list[tuple[Expression, Split]]]:
        """Yield the splits of each depth, from the root downward, each with its expression."""
        levels: dict[int, list[tuple[Expression, Split]]] = {}
        for expression, node in self.splits():
            levels.setdefault(len(expression.terms), []).append((expression, node))
        yield from (level for _, level in sorted(levels.items()))

    def folded(
        self,
        leaf: Callable[[Expression, Leaf], Folded],
        split: Callable[[Expression, Split, Sequence[Folded]], Folded],
    ) -> Folded:
        """Return what the root becomes when every leaf, and every split with what its children became, is replaced."""
        return _folded(self.walk(), self.schema, leaf, split)

    def relabelled(self, change: Callable[[Expression, Leaf], Leaf]) -> "Tree":
        """Return the same splits with other leaves."""
        return assembled(
            self.schema,
            ((path, change(path, node) if isinstance(node, Leaf) else node) for path, node in self.walk()),
            self.growth,
        )

    def leaves(self) -> Claims:
        """Return every leaf's expression and class."""
        return [(expression, node.label) for expression, node in self.walk() if isinstance(node, Leaf)]

    def parts(self) -> list[tuple[Expression, bytes]]:
        """Return every leaf's expression, and its class and tenths in bytes."""
        return [
            (expression, node.label.to_bytes(4, "big") + bytes(node.tenths))
            for expression, node in self.walk()
            if isinstance(node, Leaf)
        ]

    @property
    def telling(self) -> int | None:
        """The attribute of the root, if each of its values has one class alone and there are several."""
        if not isinstance(self.root, Split) or not self.has_counts:
            return None
        held = [[count > 0 for count in child.counts] for child in self.root.children]
        several = sum(map(any, zip(*held, strict=True))) > 1
        return self.root.attribute if several and all(sum(each) <= 1 for each in held) else None

    def digest(self) -> bytes:
        """Return SHA-256 of the model in canonical form (FAULTS A8): of all that `model.json` holds but its limits.

        Those are terms, and agreed on.
        """
        label = self.schema.class_attribute
        target = canonical(*(text.encode() for text in (label.name, *label.values)))
        columns = (*(column.encoded for column in self.schema.base.attributes), target)
        columns += (b"conditions",) * bool(self.schema.conditions)
        hasher = hashlib.sha256(canonical(b"cotally tree", canonical(*columns)))
        for depth, node in self.nodes():
            kind = ("leaf", node.label, *node.tenths) if isinstance(node, Leaf) else ("split", node.attribute)
            hasher.update(canonical(repr([depth, *kind, *map(float, node.counts)]).encode()))
        return hasher.digest()

    @property
    def size(self) -> int:
        """Number of nodes, leaves included."""
        return sum(1 for _ in self.nodes())

    @property
    def depth(self) -> int:
        """Number of splits on the longest path."""
        return max(depth for depth, _ in self.nodes())


def assembled(schema: Schema, nodes: Iterable[tuple[Expression, Node]], growth: Growth) -> Tree:
    """Put a tree together from all its nodes, in any order; its splits need not have their children yet."""

    def leaf(_: Expression, node: Leaf) -> Node:
        return node

    def split(_: Expression, node: Split, children: Sequence[Node]) -> Node:
        return Split(node.counts, node.attribute, tuple(children))

    return Tree(schema, _folded(nodes, schema, leaf, split), growth)


def planted(schema: Schema, nodes: Sequence[Node]) -> Node:
    """Return the root of a tree from all its nodes in the order of `Tree.walk`; its splits have no children yet."""
    stack: list[Node] = []
    for node in reversed(nodes):
        if isinstance(node, Leaf):
            stack.append(node)
        else:
            children = tuple(stack.pop() for _ in schema.attributes[node.attribute].values)
            stack.append(Split(node.counts, node.attribute, children))
    return stack.pop()


def _folded(
    nodes: Iterable[tuple[Expression, Node]],
    schema: Schema,
    leaf: Callable[[Expression, Leaf], Folded],
    split: Callable[[Expression, Split, Sequence[Folded]], Folded],
) -> Folded:
    """Fold from the deepest nodes upward: a tree may be deeper than Python's stack."""
    results: dict[Expression, Folded] = {}
    for expression, node in sorted(nodes, key=lambda pair: -len(pair[0].terms)):
        if isinstance(node, Leaf):
            results[expression] = leaf(expression, node)
        else:
            values = range(schema.attributes[node.attribute].size)
            children = [results.pop(expression.child(node.attribute, value)) for value in values]
            results[expression] = split(expression, node, children)
    (root,) = results.values()
    return root


def label_of_node(node: Node) -> int:
    """Return the class of a row that ends at a node: at a split, since the row's value has no branch.

    Where nobody knows counts it is the class of most leaves below, the first of several.
    """
    if isinstance(node, Leaf):
        return node.label
    return majority(node.counts or np.bincount([leaf.label for leaf in leaves_below(node)]).tolist())


def leaves_below(node: Node) -> Iterator[Leaf]:
    """Yield the leaves of a subtree."""
    pending = [node]
    while pending:
        below = pending.pop()
        if isinstance(below, Leaf):
            yield below
        else:
            pending += below.children


def shares_of(node: Node) -> tuple[Fraction, ...]:
    """Return the class shares of a row that ends at a node, the same on every machine.

    A leaf of its parent's class whose own records, if it has any, are rather of another is all its class. Where shares
    of leaves were opened they are these, and at a split the mean of the leaves below.
    """
    if not node.counts:
        below = [leaf.tenths for leaf in leaves_below(node)]
        if not all(below):
            raise InputError(NO_COUNTS)
        tenths = [sum(each) for each in zip(*below, strict=True)]
        return tuple(Fraction(tenth, sum(tenths)) for tenth in tenths)
    counts, label = [Fraction(max(0.0, count)) for count in node.counts], label_of_node(node)
    if not 0 < counts[label] == max(counts):
        return tuple(Fraction(place == label) for place in range(len(counts)))
    total = sum(counts)
    return tuple(count / total for count in counts)


def shares_in_tenths(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the share of each class as it is opened: each rounded, and the first what the others leave.

    Noise may make counts negative: then as many steps of ten are reached as comparisons say, from none to all.

    >>> shares_in_tenths([30, 70]), shares_in_tenths([1, 1, 2]), shares_in_tenths([5, -3])
    ((3, 7), (2, 3, 5), (10, 0))
    """
    whole = sum(counts)
    steps = range(1, 2 * TENTHS, 2)
    others = [sum(2 * TENTHS * count >= step * whole for step in steps) for count in counts[1:]]
    return (max(0, TENTHS - sum(others)), *others)


def majority(counts: Sequence[float]) -> int:
    """Return the class with the highest count; ties go to the first."""
    return max(range(len(counts)), key=lambda c: (counts[c], -c))
