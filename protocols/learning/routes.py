"""A model as two parties ask it together, each seeing its own columns alone (DESIGN 13).

*A tree* they walk. The *asker* knows which of the branches on its own columns a row takes, the *answerer* the same of
its own. Where a row ends is an *outcome*: a class or, where agreed, a class with the shares of all classes. An *edge*
is a branch of one of the asker's columns, and depends on the asker's branches above it alone: a row takes it or not.
With `S(e)` the outcome of a row that goes no further on the asker's columns than edge `e`, which the answerer knows for
its own values,

    outcome of a row = S(start) + sum over the edges e that it takes of S(e) - S(edge above e)

since these differences add up along the row's only path. So the outcome is a sum of the asker's bits, with weights that
the answerer knows, and can be formed under encryption. A value that has no branch ends its row at the node, as it does
in `Tree.predict`. What all branches of a node agree on is not asked.

Of *naive Bayes* they compare the classes. A class's score is a sum of whole numbers, one per column
(`naive_bayes.grains`), so what one side holds and what the other holds simply add up. Of two classes the one with the
higher score wins, the first where both are equal: with `A` what the asker's columns add to the first's lead and `B`
what the answerer's do, the second wins if `A + B < 0`. Moved by a number that both know, so that none is negative, that
is

    the second wins   if and only if   X < Y         X = A - lowest + 1,   Y = 1 - B - lowest
    the first wins    if and only if   X > Y - 1

where X is the asker's and Y the answerer's. How many binary digits they have follows from the number of columns alone,
as long as no chance is below `e**-16`, so that lengths show nothing of a model of less than eight million records.
Classes that no record has had never win, and are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.learning.naive_bayes import GRAIN, NaiveBayes, grains
from protocols.learning.tree import Leaf, Node, Tree, label_of_node, shares_of
from protocols.tables import Floats, Index, Rows

_START = -1


@dataclass(frozen=True)
class RowOutcome:
    """Where a row may end: its class and, where they are revealed, the shares of the classes there."""

    label: int
    shares: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, repr=False)
class _Stop:
    """A node of the tree: what a row that ends here gets, and the branches of one column (none at a leaf)."""

    outcome: int
    column: int
    children: tuple[int, ...]


@dataclass(frozen=True)
class _Edge:
    """A branch of one of the asker's columns, and the edge above it."""

    above: int
    column: int
    value: int


@dataclass(frozen=True, repr=False)
class _Walkers:
    """Rows that have come to a node in the same way: over this edge, with this outcome if they go no further."""

    node: int
    rows: NDArray[np.intp]
    edge: int
    before: int


class Routes:
    """The edges of a tree for one asker, and the weights with which the answerer adds them.

    Every column that is not the asker's is the answerer's; with `probabilities` outcomes give the shares of the
    classes.
    """

    def __init__(self, tree: Tree, asker: str, *, probabilities: bool) -> None:
        attributes = tree.schema.attributes
        self._asks = frozenset(c for c in tree.columns if attributes[c].party == asker)
        self._outcomes: dict[RowOutcome, int] = {}
        self._stops = self._short(tree, probabilities)
        self._edges: dict[_Edge, int] = {}
        self._number_edges()

    @property
    def outcomes(self) -> tuple[RowOutcome, ...]:
        """All outcomes; a row's is known by its position among them."""
        return tuple(self._outcomes)

    @property
    def edges(self) -> int:
        """How many bits the asker has for each row."""
        return len(self._edges)

    def bits(self, codes: Rows) -> NDArray[np.bool_]:
        """Return for each row which edges it takes (`rows x edges`); the asker's columns are read."""
        taken = np.zeros((len(codes), len(self._edges)), dtype=np.bool_)
        for edge, position in self._edges.items():
            taken[:, position] = codes[:, edge.column] == edge.value
            if edge.above != _START:
                taken[:, position] &= taken[:, edge.above]
        return taken

    def weights(self, codes: Rows) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Return what each row adds without any edge, and for each of them; the answerer's columns are read.

        The outcome of a row is `constant + bits @ weights`.
        """
        constants = np.zeros(len(codes), dtype=np.intp)
        weights = np.zeros((len(codes), len(self._edges)), dtype=np.int32)
        for outcome, walkers in self._ended(codes):
            if walkers.edge == _START:
                constants[walkers.rows] = outcome
            else:
                weights[walkers.rows, walkers.edge] = outcome - walkers.before
        return constants, weights

    def _ended(self, codes: Rows) -> Iterator[tuple[int, _Walkers]]:
        """Yield which rows have which outcome if they go no further than they have come, by edges."""
        pending = [_Walkers(0, np.arange(len(codes), dtype=np.intp), _START, 0)]
        while pending:
            walkers = pending.pop()
            stop = self._stops[walkers.node]
            if not stop.children or stop.column in self._asks:
                yield stop.outcome, walkers
                for value, child in enumerate(stop.children):
                    edge = self._edges[_Edge(walkers.edge, stop.column, value)]
                    pending.append(_Walkers(child, walkers.rows, edge, stop.outcome))
                continue
            values = codes[walkers.rows, stop.column]
            for value, child in enumerate(stop.children):
                if (values == value).any():
                    pending.append(_Walkers(child, walkers.rows[values == value], walkers.edge, walkers.before))
            stray = walkers.rows[(values < 0) | (values >= len(stop.children))]
            if len(stray):
                yield stop.outcome, _Walkers(walkers.node, stray, walkers.edge, walkers.before)

    def _number_edges(self) -> None:
        """Number the edges from the root downward, so that each comes after the one above it."""
        pending = [(0, _START)]
        while pending:
            node, above = pending.pop()
            stop = self._stops[node]
            for value, child in enumerate(stop.children):
                edge = above
                if stop.column in self._asks:
                    edge = self._edges.setdefault(_Edge(above, stop.column, value), len(self._edges))
                pending.append((child, edge))

    def _short(self, tree: Tree, probabilities: bool) -> list[_Stop]:
        """Return the nodes, parents first; one whose branches all have its own outcome is an end."""
        found: list[tuple[Node, int]] = []
        places: list[list[int]] = []
        pending: list[tuple[Node, int]] = [(tree.root, _START)]
        while pending:
            node, parent = pending.pop()
            if parent != _START:
                places[parent].append(len(found))
            outcome = RowOutcome(label_of_node(node), shares_of(node) if probabilities else None)
            found.append((node, self._outcomes.setdefault(outcome, len(self._outcomes))))
            places.append([])
            if not isinstance(node, Leaf):
                pending += [(child, len(found) - 1) for child in reversed(node.children)]
        stops: list[_Stop] = []
        for (node, ending), children in reversed(list(zip(found, places, strict=True))):
            below = [stops[len(found) - 1 - child] for child in children]
            ends = all(not stop.children and stop.outcome == ending for stop in below)
            column = _START if isinstance(node, Leaf) else node.attribute
            stops.append(_Stop(ending, column, () if ends else tuple(children)))
        return stops[::-1]


_FARTHEST: Final = 16 * GRAIN
"""How far one class leads by one column at most, if no chance is below e**-16."""
Leads = NDArray[np.int64]
"""Of each row and pair of classes, how far one leads, or what that is compared with."""


def usual_width(columns: int) -> int:
    """Return how many binary digits scores over this many columns of the asker take, if no chance is below e**-16."""
    return (2 * _FARTHEST * columns).bit_length()


class Contest:
    """The pairs of classes that are compared, and the numbers that each side brings; the asker brings `X`.

    Every column that is not the asker's is the answerer's.
    """

    def __init__(self, model: NaiveBayes, asker: str) -> None:
        if not all(np.isfinite(table).all() for table in model.conditional):
            raise InputError("the model calls a value impossible in a class, as none of two parties does")
        attributes = model.schema.attributes
        self.classes: Index = np.flatnonzero(np.isfinite(model.prior))
        self._pairs = list(combinations(range(len(self.classes)), 2))
        leads = [self._leads(table) for table in model.conditional]
        self._asked = {c: lead for c, lead in enumerate(leads) if attributes[c].party == asker}
        self._answered = {c: lead for c, lead in enumerate(leads) if attributes[c].party != asker}
        self._start = self._leads(model.prior[None, :])[0]
        self._lowest = np.array(sum(np.minimum(lead.min(axis=0), 0) for lead in self._asked.values()), dtype=np.int64)
        highest = np.array(sum(np.maximum(lead.max(axis=0), 0) for lead in self._asked.values()), dtype=np.int64)
        self._most = highest - self._lowest + 2
        self.width = max(int(self._most.max(initial=1)).bit_length(), usual_width(len(self._asked)))

    @property
    def pairs(self) -> int:
        """How many pairs of classes there are."""
        return len(self._pairs)

    def numbers(self, codes: Rows) -> Leads:
        """Return `X` (`rows x pairs`); the asker's columns are read."""
        return self._sums(self._asked, codes) - self._lowest + 1

    def thresholds(self, codes: Rows) -> Leads:
        """Return `Y` (`rows x pairs`), cut to what `X` can be; the answerer's columns are read."""
        leads = self._start + self._sums(self._answered, codes)
        thresholds: Leads = np.clip(1 - leads - self._lowest, 1, self._most)
        return thresholds

    def _leads(self, logarithms: Floats) -> Leads:
        """Return how far the first class of each pair leads for each value (`values x pairs`)."""
        scores = grains(logarithms[:, self.classes]).astype(np.int64)
        pairs = np.array(self._pairs, dtype=np.intp).reshape(-1, 2)
        return scores[:, pairs[:, 0]] - scores[:, pairs[:, 1]]

    def _sums(self, leads: dict[int, Leads], codes: Rows) -> Leads:
        total = np.zeros((len(codes), self.pairs), dtype=np.int64)
        for column, table in leads.items():
            values = codes[:, column]
            known = (values >= 0) & (values < len(table))
            total[known] += table[values[known]]
        return total
