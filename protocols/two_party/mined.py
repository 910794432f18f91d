"""Method `randomized`: one party mines its own columns beside the other's copy and sends the tree (Hybrid figure 1c).

The miner is the party that holds the class; if both do, the first by name. Counts in the tree are its estimates, no
finer than the other side knows them from the miner's copy (DESIGN 14); so is the number of correctly classified test
records.
"""

from collections.abc import Iterator, Sequence
from math import ceil, frexp, ldexp

from protocols.counting.estimated import Estimator
from protocols.counting.projected import ProjectedEstimates
from protocols.counting.rows import View
from protocols.counts import Correct, Counts
from protocols.errors import PeerError
from protocols.facts import MinedFact, Way
from protocols.learning.id3 import HybridId3
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled
from protocols.messages import SentNode, SentTree
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Note, Role, Send, receive
from protocols.tables.expression import ROOT, Expression
from protocols.tables.schema import Schema
from protocols.terms import ALL, Growth
from protocols.two_party.rounding import QUARTER, TWICE, RoundedCounts, count_step

Designs = Sequence[RelatedDesign]

_NO_MODEL = "the peer's model does not fit what was agreed"


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
    """
    counts: Counts = ProjectedEstimates(Estimator(train))
    if growth.min_leaf > 1:
        counts = RoundedCounts(counts, designs)
    learner = HybridId3(train.schema, class_counts, ALL, counts, growth=growth)
    tree = (yield from learner.build()).tree
    message = SentTree(tuple(_told(tree, designs)), *_told_correct(tree, test))
    yield Note(MinedFact(Way.TOLD, message))
    yield Send(message)
    return _read(message, train.schema, class_counts, growth)


def receive_mined(
    schema: Schema, class_counts: tuple[int, ...], most: float, growth: Growth
) -> Role[tuple[Tree, Correct]]:
    """Receive the tree that the peer has mined.

    Args:
        schema: The joint schema.
        class_counts: Of the training records; known to both.
        most: The most that the estimated number of correctly classified records can be.
        growth: How far the tree may be grown. Its depth is seen; the sizes of its leaves are estimates, and rounded.

    Discloses: nothing; nothing is sent.

    Raises:
        PeerError: It is not a tree over this schema, or is a deeper one than was agreed.
    """
    message = yield from receive(SentTree)
    if abs(message.correct) > most:
        raise PeerError(_NO_MODEL)
    mined = _read(message, schema, class_counts, growth)
    yield Note(MinedFact(Way.LEARNED, message))
    return mined


def _told(tree: Tree, designs: Designs) -> Iterator[SentNode]:
    for expression, node in tree.walk():
        step = max(1.0, count_step(designs, sum(node.counts), TWICE))
        counts = () if expression == ROOT else tuple(int(round(count / step) * step) for count in node.counts)
        yield SentNode(None, node.label, counts) if isinstance(node, Leaf) else SentNode(node.attribute, 0, counts)


def _told_correct(tree: Tree, test: View) -> tuple[int, int]:
    """Return the number and its error as multiples of a quarter of that error, a power of two."""
    if not len(test):
        return 0, 0
    estimator = Estimator(test)
    correct, error = estimator.correct(tree), estimator.correct_error(tree)
    step = max(1.0, ldexp(1.0, frexp(QUARTER * error)[1] - 1))
    return int(round(correct / step) * step), int(ceil(error / step) * step)


def _read(message: SentTree, schema: Schema, class_counts: tuple[int, ...], growth: Growth) -> tuple[Tree, Correct]:
    nodes: dict[Expression, Node] = {}
    pending = [ROOT]
    for told in message.nodes:
        if not pending:
            raise PeerError(_NO_MODEL)
        expression = pending.pop()
        counts = told.counts if expression != ROOT else class_counts
        if len(counts) != schema.classes or (expression == ROOT and told.counts):
            raise PeerError(_NO_MODEL)
        nodes[expression] = _node(told, tuple(map(float, counts)), expression, schema)
        if told.attribute is not None:
            values = range(schema.attributes[told.attribute].size)
            pending += [expression.child(told.attribute, value) for value in reversed(values)]
    if pending:
        raise PeerError(_NO_MODEL)
    tree = assembled(schema, nodes.items(), growth)
    if growth.max_depth is not None and tree.depth > growth.max_depth:
        raise PeerError(_NO_MODEL)
    return tree, Correct(float(message.correct), float(message.error))


def _node(told: SentNode, counts: tuple[float, ...], expression: Expression, schema: Schema) -> Node:
    if min(counts) < 0:
        raise PeerError(_NO_MODEL)
    if told.attribute is None:
        if not 0 <= told.label < schema.classes:
            raise PeerError(_NO_MODEL)
        return Leaf(counts, told.label)
    if not 0 <= told.attribute < len(schema.attributes) or told.attribute in expression.columns or told.label:
        raise PeerError(_NO_MODEL)
    return Split(counts, told.attribute, ())
