"""Method `randomized`: one party mines its own columns beside the other's copy and sends the tree (Hybrid figure 1c).

The miner is the party that holds the class; if both do, the first by name. What it sends is which attribute splits
which node and the class of each leaf: counts would be sums over people whose weights the other side knows. How good the
tree is the miner alone can estimate, from the copy, and keeps to itself.

A tree that comes is read in one pass, without the paths of its nodes, and only if this many records may have it: else a
peer could keep us busy with one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from protocols.counting.estimated import Estimator
from protocols.counting.plaintext import ProjectedEstimates
from protocols.counting.rows import View
from protocols.counts import Correct
from protocols.errors import InputError, PeerError
from protocols.facts import MinedFact, Way
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree, majority, planted
from protocols.messages import SentTree
from protocols.role import Note, Role, Send, receive
from protocols.secret_tree.bits import Allowance
from protocols.tables import Expression, Schema
from protocols.terms import ALL, Growth, whole_weights

_TOO_WIDE = "the mined tree has more splits on a level than records: set min_leaf, or a max_depth, in the job"


def mine(train: View, class_counts: Sequence[int], growth: Growth, allowance: Allowance) -> Role[Tree]:
    """Grow the tree on our own columns and the peer's copy, and send it; splits beyond the allowance become leaves.

    Discloses: to the peer, the tree's splits and the classes of its leaves, which follow from our true columns.
    """
    tree = yield from grow_mined(train, class_counts, growth, allowance)
    levels = Counter(depth for depth, node in tree.nodes() if isinstance(node, Split))
    if max(levels.values(), default=0) > len(train):
        raise InputError(_TOO_WIDE)
    message = SentTree(tuple(~node.label if isinstance(node, Leaf) else node.attribute for _, node in tree.nodes()))
    yield Note(MinedFact(Way.TOLD, len(message.nodes), allowance.spent(tree)))
    yield Send(message)
    return _read(message, train.schema, len(train), growth)


def grow_mined(train: View, class_counts: Sequence[int], growth: Growth, allowance: Allowance) -> Role[Tree]:
    """Grow the tree on our own columns and the peer's copy.

    Discloses: nothing; nothing is sent.
    """
    counts = ProjectedEstimates(Estimator(train))
    tree = (yield from HybridId3(train.schema, tuple(class_counts), ALL, counts, growth=growth).build()).tree
    return ended_within(tree, allowance)


def ended_within(tree: Tree, allowance: Allowance) -> Tree:
    """Return a tree in which splits beyond the allowance are leaves."""
    weights = whole_weights(tree.growth.weights, tree.schema.class_attribute.values)
    while over := _beyond(tree, allowance):
        tree = replace(tree, root=tree.folded(lambda _, leaf: leaf, partial(_ended, over, weights)))
    return tree


def _beyond(tree: Tree, allowance: Allowance) -> frozenset[Expression]:
    """Return the splits of the first level that has some beyond the allowance. NB: it goes along paths, as bits do."""
    if allowance.most is None:
        return frozenset()
    splits = (
        frozenset(where for at, (where, node) in enumerate(level) if isinstance(node, Split) and at not in asked)
        for level, asked in allowance.levels(tree)
    )
    return next(filter(None, splits), frozenset())


def _ended(
    over: frozenset[Expression], weights: Sequence[int], where: Expression, node: Split, children: Sequence[Node]
) -> Node:
    if where in over:
        return Leaf(node.counts, majority([count * weight for count, weight in zip(node.counts, weights, strict=True)]))
    return Split(node.counts, node.attribute, tuple(children))


def receive_mined(schema: Schema, records: int, growth: Growth, allowance: Allowance) -> Role[Tree]:
    """Receive the tree that the peer has mined of this many training records.

    Discloses: nothing; nothing is sent.
    """
    message = yield from receive(SentTree)
    tree = _read(message, schema, records, growth)
    _require(not _beyond(tree, allowance))
    yield Note(MinedFact(Way.LEARNED, len(message.nodes), allowance.spent(tree)))
    return tree


def estimated_correct(tree: Tree, test: View) -> Correct | None:
    """Return how many held-out records a tree gets right, as the miner estimates it; None without any."""
    if not len(test):
        return None
    estimator = Estimator(test)
    return Correct(estimator.correct(tree), estimator.correct_error(tree))


def _read(message: SentTree, schema: Schema, records: int, growth: Growth) -> Tree:
    reader = _Reader(schema, records, growth)
    for code in message.nodes:
        reader.add(code)
    return reader.tree()


@dataclass
class _Open:
    """A split whose branches are being read, and how many of them are left."""

    attribute: int
    left: int


@dataclass
class _Reader:
    """Reads the nodes of a tree, parents before children; `path` are the splits above the next one."""

    schema: Schema
    records: int
    growth: Growth
    nodes: list[Node] = field(default_factory=list)
    path: list[_Open] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    splits: Counter[int] = field(default_factory=Counter)

    def add(self, code: int) -> None:
        """Read the next node, and close the splits whose last branch it is."""
        _require(self.path or not self.nodes)
        if self.path:
            self.path[-1].left -= 1
        if code < 0:
            _require(~code < self.schema.classes)
            self.nodes.append(Leaf((), ~code))
        else:
            self._add_split(code)
        while self.path and not self.path[-1].left:
            self.used.remove(self.path.pop().attribute)

    def tree(self) -> Tree:
        """Return the whole tree."""
        _require(self.nodes and not self.path)
        return Tree(self.schema, planted(self.schema, self.nodes), self.growth)

    def _add_split(self, attribute: int) -> None:
        depth, attributes = len(self.path), self.schema.attributes
        _require(attribute < len(attributes) and attribute not in self.used)
        self.splits[depth] += 1
        _require(self.splits[depth] <= self.records)
        _require(self.growth.max_depth is None or depth < self.growth.max_depth)
        self.nodes.append(Split((), attribute, ()))
        self.used.add(attribute)
        self.path.append(_Open(attribute, attributes[attribute].size))


def _require(holds: object) -> None:
    if not holds:
        raise PeerError("the peer's model does not fit what was agreed")
