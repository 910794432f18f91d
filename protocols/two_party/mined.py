"""Method `randomized`: one party mines its own columns beside the other's copy and sends the tree (Hybrid figure 1c).

The miner is the party that holds the class; if both do, the first by name. Counts in the tree are its estimates, no
finer than the other side knows them from the miner's copy (DESIGN 14); so is the number of correctly classified test
records.

A tree that comes is read in one pass, without the paths of its nodes, and only if it can be true of so many records:
else a peer could keep us busy with one, or lead us to believe in counts that no records have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, frexp, ldexp

from protocols.counting.estimated import Estimator
from protocols.counting.projected import ProjectedEstimates
from protocols.counting.rows import View
from protocols.counts import Classifier, Correct, Counts
from protocols.errors import InputError, PeerError
from protocols.facts import MinedFact, Way
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree, planted
from protocols.messages import SentNode, SentTree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Note, Role, Send, receive
from protocols.tables.schema import Schema
from protocols.terms import ALL, Growth
from protocols.two_party.rounding import QUARTER, TWICE, RoundedCounts, count_step

Designs = Sequence[RelatedDesign]

_NO_MODEL = "the peer's model does not fit what was agreed"
_TOO_WIDE = "the mined tree has more splits on a level than records: set min_leaf, or a max_depth, in the job"


def mine(
    train: View, test: View, class_counts: tuple[int, ...], designs: Designs, growth: Growth
) -> Role[tuple[Tree, Correct]]:
    """Grow the tree on our own columns and the peer's copy, and send it.

    Args:
        train: Our view of the training records.
        test: Our view of those held out; may be empty.
        class_counts: Of the training records; known to both.
        designs: Of both copies.
        growth: How far the tree is grown, by our estimates.

    Discloses: to the peer, the tree, whose splits and leaf classes follow from our true columns, with limits by counts
    rounded to a quarter of the error that our copy has left it; counts rounded to twice that; and the estimated
    number of correctly classified test records, rounded to a quarter of its own error.

    Raises:
        InputError: No receiver would take it: fractions of records have made more splits than there are records.
    """
    counts: Counts = ProjectedEstimates(Estimator(train))
    if growth.min_leaf > 1:
        counts = RoundedCounts(counts, designs)
    learner = HybridId3(train.schema, class_counts, ALL, counts, growth=growth)
    tree = (yield from learner.build()).tree
    limits = MinedLimits(train.schema, class_counts, designs, growth)
    if max(limits.splits_of_levels(tree), default=0) > limits.most_splits:
        raise InputError(_TOO_WIDE)
    message = SentTree(tuple(_told(tree, designs)), *told_correct(tree, test))
    yield Note(MinedFact(Way.TOLD, message))
    yield Send(message)
    return _read(message, limits)


def receive_mined(most: float, limits: "MinedLimits") -> Role[tuple[Tree, Correct]]:
    """Receive the tree that the peer has mined.

    Args:
        most: The most that the estimated number of correctly classified records can be.
        limits: What a tree can be of what was agreed.

    Discloses: nothing; nothing is sent.

    Raises:
        PeerError: No miner has such a tree of such records, or such an accuracy.
    """
    message = yield from receive(SentTree)
    if (
        abs(message.correct) > most or not 0 <= message.error <= 2 * most
    ):  # an error is rounded up by a quarter, or to 1
        raise PeerError(_NO_MODEL)
    mined = _read(message, limits)
    yield Note(MinedFact(Way.LEARNED, message))
    return mined


@dataclass(frozen=True)
class MinedLimits:
    """What a mined tree can be: how deep and wide, and how far its counts may be from each other.

    Args:
        schema: The joint schema.
        class_counts: Of the training records; known to both.
        designs: Of both copies.
        growth: How far the tree may be grown. The sizes of its leaves are estimates, and rounded.
    """

    schema: Schema
    class_counts: tuple[int, ...]
    designs: Designs
    growth: Growth

    @property
    def records(self) -> int:
        """The training records."""
        return sum(self.class_counts)

    @property
    def depth(self) -> int:
        """The most splits of a path."""
        most = len(self.schema.attributes)
        return most if self.growth.max_depth is None else min(most, self.growth.max_depth)

    @property
    def most_splits(self) -> int:
        """The most splits on one level: each has its records, of which rounding may leave a part to two of them."""
        return self.records

    @cached_property
    def step(self) -> float:
        """The coarsest step of a count: that of the root, whose records rounding may have made more."""
        return max(1.0, count_step(self.designs, 2 * self.records, TWICE))

    def splits_of_levels(self, tree: Tree) -> list[int]:
        """Count the splits of each level."""
        splits = [0] * (len(self.schema.attributes) + 1)
        for depth, node in tree.nodes():
            splits[depth] += isinstance(node, Split)
        return splits


def _told(tree: Tree, designs: Designs) -> Iterator[SentNode]:
    for depth, node in tree.nodes():
        step = max(1.0, count_step(designs, sum(node.counts), TWICE))
        counts = () if depth == 0 else tuple(int(round(count / step) * step) for count in node.counts)
        yield SentNode(None, node.label, counts) if isinstance(node, Leaf) else SentNode(node.attribute, 0, counts)


def told_correct(model: Classifier, test: View) -> tuple[int, int]:
    """Return the number of test records that a model gets right, and its error, as they are told.

    Both are estimates, as multiples of a quarter of that error, a power of two; the error is rounded up.
    """
    if not len(test):
        return 0, 0
    estimator = Estimator(test)
    correct, error = estimator.correct(model), estimator.correct_error(model)
    step = max(1.0, ldexp(1.0, frexp(QUARTER * error)[1] - 1))
    return int(round(correct / step) * step), int(ceil(error / step) * step)


def _read(message: SentTree, limits: MinedLimits) -> tuple[Tree, Correct]:
    reader = _Reader(limits)
    for told in message.nodes:
        reader.add(told)
    return reader.tree(), Correct(float(message.correct), float(message.error))


@dataclass
class _Open:
    """A split whose branches are being read: its records, how many branches are left, and the records of the others."""

    attribute: int
    records: float
    left: int
    read: float = 0.0


@dataclass
class _Reader:
    """Reads the nodes of a tree, parents before children; `path` are the splits above the next one."""

    limits: MinedLimits
    nodes: list[Node] = field(default_factory=list)
    path: list[_Open] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    splits: dict[int, int] = field(default_factory=dict)

    def add(self, told: SentNode) -> None:
        """Read the next node, and close the splits whose last branch it is."""
        _require(self.path or not self.nodes)
        counts = self._counts(told.counts)
        if self.path:
            self.path[-1].left -= 1
            self.path[-1].read += sum(counts)
        if told.attribute is None:
            self._add_leaf(counts, told.label)
        else:
            self._add_split(counts, told.attribute, told.label)
        while self.path and not self.path[-1].left:
            self._close(self.path.pop())

    def tree(self) -> Tree:
        """Return the whole tree."""
        _require(self.nodes and not self.path)
        limits = self.limits
        return Tree(limits.schema, planted(limits.schema, self.nodes), limits.growth)

    def _counts(self, told: tuple[int, ...]) -> tuple[float, ...]:
        _require(not told if not self.path else len(told) == self.limits.schema.classes)
        counts = tuple(map(float, told)) if self.path else tuple(map(float, self.limits.class_counts))
        _require(min(counts) >= 0)
        return counts

    def _add_leaf(self, counts: tuple[float, ...], label: int) -> None:
        """Its class has the most records, or had before they were rounded; a small branch has any class."""
        _require(0 <= label < len(counts))
        is_small = self.path and sum(counts) < self.limits.growth.min_leaf + len(counts) * self.limits.step
        _require(is_small or counts[label] >= max(counts) - self.limits.step)
        self.nodes.append(Leaf(counts, label))

    def _add_split(self, counts: tuple[float, ...], attribute: int, label: int) -> None:
        depth, attributes = len(self.path), self.limits.schema.attributes
        _require(0 <= attribute < len(attributes) and attribute not in self.used and not label)
        self.splits[depth] = self.splits.get(depth, 0) + 1
        _require(depth < self.limits.depth and self.splits[depth] <= self.limits.most_splits)
        self.nodes.append(Split(counts, attribute, ()))
        self.used.add(attribute)
        self.path.append(_Open(attribute, sum(counts), attributes[attribute].size))

    def _close(self, split: _Open) -> None:
        """Its branches have its records, but for rounding, twice; or none, where all were estimated away."""
        self.used.remove(split.attribute)
        rounded = (self.limits.schema.attributes[split.attribute].size + 1) * self.limits.schema.classes
        _require(not split.read or abs(split.read - split.records) <= rounded * self.limits.step)


def _require(holds: object) -> None:
    if not holds:
        raise PeerError(_NO_MODEL)
