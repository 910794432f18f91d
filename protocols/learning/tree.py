"""Decision trees: the finished model that both parties end with."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.randomness import canonical
from protocols.tables.expression import ROOT, Expression, Term
from protocols.tables.schema import Schema
from protocols.tables.table import Codes


@dataclass(frozen=True)
class Leaf:
    """An end of the tree; `counts` are all zero where a branch was empty."""

    counts: tuple[float, ...]
    label: int


@dataclass(frozen=True)
class Split:
    """An inner node: one child for each value of `attribute` (an index into `Schema.attributes`)."""

    counts: tuple[float, ...]
    attribute: int
    children: tuple["Node", ...]


Node = Leaf | Split


@dataclass(frozen=True)
class Tree:
    """A decision tree over a joint schema."""

    schema: Schema
    root: Node

    @property
    def columns(self) -> frozenset[int]:
        """The attributes that the tree splits on."""
        return frozenset(node.attribute for _, node in self.walk() if isinstance(node, Split))

    def predict(self, codes: Codes) -> NDArray[np.intp]:
        """Return the class of each row of joint codes; the class column is not read."""
        labels = np.zeros(len(codes), dtype=np.intp)
        for leaf, rows in self._sorted_into_leaves(codes):
            labels[rows] = leaf.label
        return labels

    def shares(self, codes: Codes) -> NDArray[np.float64]:
        """Return the shares of the classes in each row's leaf (`rows x classes`); all on its class if it is empty."""
        result = np.zeros((len(codes), self.schema.classes))
        for leaf, rows in self._sorted_into_leaves(codes):
            if sum(leaf.counts) > 0:
                result[rows] = np.array(leaf.counts) / sum(leaf.counts)
            else:
                result[rows, leaf.label] = 1.0
        return result

    def _sorted_into_leaves(self, codes: Codes) -> Iterator[tuple[Leaf, NDArray[np.intp]]]:
        """Yield the leaves that are reached with the rows that reach them."""
        pending: list[tuple[Node, NDArray[np.intp]]] = [(self.root, np.arange(len(codes), dtype=np.intp))]
        while pending:
            node, rows = pending.pop()
            if isinstance(node, Leaf):
                yield node, rows
                continue
            values = codes[rows, node.attribute]
            parts = ((child, rows[values == v]) for v, child in enumerate(node.children))
            pending += [(child, part) for child, part in parts if len(part)]

    def walk(self) -> Iterator[tuple[Expression, Node]]:
        """Yield every node with its expression, parents before children."""
        pending: list[tuple[Expression, Node]] = [(ROOT, self.root)]
        while pending:
            expression, node = pending.pop()
            yield expression, node
            if isinstance(node, Split):
                pending += [
                    (expression & Term(node.attribute, v), child)
                    for v, child in reversed(list(enumerate(node.children)))
                ]

    def leaves(self) -> Sequence[tuple[Expression, int]]:
        """Return every leaf's expression and class."""
        return [(expression, node.label) for expression, node in self.walk() if isinstance(node, Leaf)]

    def digest(self) -> bytes:
        """Return SHA-256 of the model in canonical form (FAULTS A8): of all that `model.json` holds."""
        label = self.schema.class_attribute
        names = [(column.party, column.name, *column.values) for column in self.schema.attributes]
        names.append((label.name, *label.values))
        columns = (canonical(*(name.encode() for name in each)) for each in names)
        hasher = hashlib.sha256(canonical(b"cotally tree", canonical(*columns)))
        for expression, node in self.walk():
            kind = ("leaf", node.label) if isinstance(node, Leaf) else ("split", node.attribute)
            hasher.update(canonical(repr([len(expression.terms), *kind, *map(float, node.counts)]).encode()))
        return hasher.digest()

    @property
    def size(self) -> int:
        """Number of nodes, leaves included."""
        return sum(1 for _ in self.walk())

    @property
    def depth(self) -> int:
        """Number of splits on the longest path."""
        return max(len(expression.terms) for expression, _ in self.walk())


def majority(counts: Sequence[float]) -> int:
    """Return the class with the highest count, the first of equals."""
    return max(range(len(counts)), key=lambda c: (counts[c], -c))
