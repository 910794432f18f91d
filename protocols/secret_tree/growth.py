"""ID3 over counts that nobody sees, level by level: which attribute splits which node, and which class a leaf has.

    counts      shares of N(E and A = v and class = c) for all nodes and candidates of a depth (`shares`)
    worth       U of each candidate (`entropy`, `gini`); without two branches of `min_leaf` records or more it is barred
    winner      the least U, ties to the first (`contest`)
    leaf        of one class, or of fewer than 2 `min_leaf` records, or with all candidates barred
    label       the commonest class, ties to the first; a branch of fewer than `min_leaf` records has its parent's

Of each node it is opened whether it is a leaf; then its label, or the winner's place. Where `min_leaf` is 1 no
candidate is barred, and what is of one class is opened before the rest is counted: the tree shows it.

The last value's counts follow from the node's, and one child's from its parent's and its siblings': shares add up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.learning.tree import Leaf, Node, Split, Tree, assembled
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import (
    as_numbers,
    bits_of_lanes,
    filled,
    modulus_mask,
    not_below,
    summand_bits,
    wires_of,
)
from protocols.role import Role, together
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.contest import least, several
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.worth import worth_by
from protocols.tables.expression import ROOT, Expression, Term
from protocols.tables.schema import Schema
from protocols.terms import Growth

Tables = Mapping[int, Uint64s]
"""Our shares of the counts of each candidate (`values x classes`)."""


@dataclass(frozen=True, eq=False, repr=False)
class HiddenNode:
    """A node of which nobody knows how many records it has.

    Args:
        expression: Its path.
        candidates: What may split it.
        counts: Our shares of its classes' counts.
        of_parent: Our shares of the bits of its parent's label; the root has none.
    """

    expression: Expression
    candidates: tuple[int, ...]
    counts: Uint64s
    of_parent: NDArray[np.bool_] | None = None


class SecretTree:
    """One side's part of growing a tree.

    Args:
        schema: The joint schema.
        growth: Its depth, and the least records of a leaf.
        counts: Of the training records.
        gates: Our part of the computation.

    Discloses: the tree: its splits and labels.
    """

    def __init__(
        self, schema: Schema, growth: Growth, counts: SharedCounts, gates: Gates, most_bits: Fraction | None = None
    ) -> None:
        self._schema, self._growth, self._counts, self._gates = schema, growth, counts, gates
        self._allowance, self._spent = Allowance(schema, growth.max_depth, most=most_bits), Fraction(0)
        self._worth = worth_by(growth.impurity, gates, counts.records, schema.classes)
        self._nodes: dict[Expression, Node] = {}
        self._above: dict[Expression, Tables] = {}

    def build(self) -> Role[Tree]:
        """Grow the tree to its end, or its limits.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        labels = [ROOT & Term(self._schema.class_index, label) for label in range(self._schema.classes)]
        every = tuple(range(len(self._schema.attributes)))
        level = [HiddenNode(ROOT, every, (yield from self._counts.count(labels)))]
        while level:
            level = yield from self._grow(level)
        return assembled(self._schema, self._nodes.items(), self._growth)

    def _grow(self, level: list[HiddenNode]) -> Role[list[HiddenNode]]:
        """Open what the nodes of one depth are; return those of the next."""
        level = yield from self._without_unasked(level)
        if not level:
            return []
        if self._growth.min_leaf == 1:
            label, ends = yield from self._judged(level)
            split = yield from self._without_leaves(level, label, ends)
            if not split:
                return []
            nodes = [level[at] for at in split]
            tables = yield from self._tables(nodes)
            winners, _ = yield from self._contest(nodes, tables)
            opened = yield from self._opened(winners, range(len(nodes)))
        else:
            tables = yield from self._tables(level)
            (label, ends), (winners, barred) = yield from together(self._judged(level), self._contest(level, tables))
            goes_on = yield from self._gates.both(self._gates.flipped(ends), self._gates.flipped(barred))
            split = yield from self._without_leaves(level, label, self._gates.flipped(goes_on))
            opened = yield from self._opened(winners, split)
            nodes, tables = [level[at] for at in split], [tables[at] for at in split]
        self._above, shares = {}, bits_of_lanes(label)
        children: list[HiddenNode] = []
        for at, winner, node, of_node in zip(split, opened, nodes, tables, strict=True):
            attribute = node.candidates[winner]
            self._nodes[node.expression], self._above[node.expression] = Split((), attribute, ()), of_node
            left = tuple(candidate for candidate in node.candidates if candidate != attribute)
            children += [
                HiddenNode(node.expression.child(attribute, value), left, row, shares[:, at])
                for value, row in enumerate(of_node[attribute])
            ]
        return children

    def _judged(self, level: Sequence[HiddenNode]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of each node's label, and of whether it is a leaf whatever its candidates are: a lane each."""
        gates, classes = self._gates, self._schema.classes
        own = filled(np.stack([node.counts for node in level], axis=1))
        width = self._counts.width + 2
        numbers, bits = yield from self._lifted(np.concatenate([own, own.sum(0, dtype=WORD)[None]]), width)
        in_all, of_class = bits[:, -1], bits[:, :-1].reshape(len(bits), -1)
        nobody = np.zeros((classes, in_all.shape[1]), WORD)
        (label, _), goes_on = yield from together(
            least(gates, np.uint64(0) - numbers[:-1], nobody, width), self._may_go_on(of_class, in_all)
        )
        parents = [node.of_parent for node in level if node.of_parent is not None]
        if parents:
            is_large = yield from not_below(gates, in_all, self._growth.min_leaf)
            label = yield from gates.chosen(is_large, label, wires_of(np.stack(parents, axis=1)))
        return label, gates.flipped(goes_on)

    def _may_go_on(self, of_class: Uint64s, in_all: Uint64s) -> Role[Uint64s]:
        """Return shares of whether nodes have more than one class, and as many records as a split needs."""
        gates, least_records = self._gates, self._growth.smallest_split
        has_some, is_large = yield from together(not_below(gates, of_class, 1), not_below(gates, in_all, least_records))
        is_mixed = yield from several(gates, has_some.reshape(self._schema.classes, -1))
        return (yield from gates.both(is_mixed, is_large))

    def _lifted(self, shares: Uint64s, width: int) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of counts modulo a larger power of two, and of their bits, which go first."""
        gates, narrow = self._gates, self._counts.width
        own = shares & modulus_mask(narrow)
        bits = yield from summand_bits(gates, own.reshape(-1), narrow + 1)
        over = yield from as_numbers(gates, bits[narrow:], [1 << narrow], width)
        lifted = (own - over.reshape(own.shape)) & modulus_mask(width)
        return lifted, bits[:narrow].reshape(narrow, *own.shape[:-1], -1)

    def _tables(self, nodes: Sequence[HiddenNode]) -> Role[list[Tables]]:
        """Return our shares of the counts of all candidates of each node."""
        spared, classes = self._spared(nodes), self._schema.classes
        what = [
            node.expression.child(candidate, value) & Term(self._schema.class_index, label)
            for at, node in enumerate(nodes)
            if at not in spared
            for candidate in node.candidates
            for value in range(self._schema.attributes[candidate].size - 1)
            for label in range(classes)
        ]
        shares, start = (yield from self._counts.count(what)).reshape(-1, classes), 0
        tables: list[dict[int, Uint64s]] = [{} for _ in nodes]
        for at, node in enumerate(nodes):
            for candidate in () if at in spared else node.candidates:
                rows = shares[start : start + self._schema.attributes[candidate].size - 1]
                start += len(rows)
                tables[at][candidate] = np.concatenate([rows, (node.counts - rows.sum(0, dtype=WORD))[None]])
        for at, siblings in spared.items():
            above = self._above[nodes[at].expression.parent]
            for candidate in nodes[at].candidates:
                others = np.stack([tables[each][candidate] for each in siblings]) if siblings else np.zeros(1, WORD)
                tables[at][candidate] = above[candidate] - others.sum(0, dtype=WORD)
        return list(tables)

    def _spared(self, nodes: Sequence[HiddenNode]) -> dict[int, list[int]]:
        """Return for the last branch of each split all of whose branches are counted, where the others are."""
        branches: dict[Expression, list[int]] = {}
        for at, node in enumerate(nodes):
            if node.expression.terms:
                branches.setdefault(node.expression.parent, []).append(at)
        return {
            places[-1]: places[:-1]
            for places in branches.values()
            if len(places) == self._schema.attributes[nodes[places[0]].expression.terms[-1].column].size
        }

    def _contest(self, nodes: Sequence[HiddenNode], tables: Sequence[Tables]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of which candidate wins at each node, and of whether all are barred: a lane each."""
        counts = [table[candidate] for node, table in zip(nodes, tables, strict=True) for candidate in node.candidates]
        sizes, rows = np.array([len(each) for each in counts]), np.concatenate(counts)
        own = filled(np.concatenate([rows.T, rows.sum(1, dtype=WORD)[None]]))
        numbers, bits = yield from self._lifted(own, self._worth.counts_width)
        starts = np.cumsum(sizes) - sizes
        worth, barred = yield from together(
            self._worth.of_candidates(numbers, bits, starts), self._barred(bits[:, -1], starts, sizes)
        )
        by_node = np.arange(len(counts)).reshape(len(nodes), -1).T
        return (yield from least(self._gates, filled(worth[by_node]), wires_of(barred[by_node]), self._worth.width))

    def _barred(self, bits: Uint64s, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Role[NDArray[np.bool_]]:
        """Return our shares of which candidates have not two branches of the least records."""
        if self._growth.min_leaf == 1:
            return np.zeros(len(sizes), np.bool_)
        is_large = bits_of_lanes((yield from not_below(self._gates, bits, self._growth.min_leaf)))
        branches = np.zeros((sizes.max(), len(sizes)), np.bool_)
        for value, wire in enumerate(branches):
            wire[sizes > value] = is_large[starts[sizes > value] + value]
        two = yield from several(self._gates, wires_of(branches))
        return bits_of_lanes(self._gates.flipped(two))[: len(sizes)]

    def _without_unasked(self, level: Sequence[HiddenNode]) -> Role[list[HiddenNode]]:
        """Open the labels of nodes that nothing may split; return the others."""
        asked = self._allowance.asked([node.candidates for node in level], self._spent)
        self._spent += self._allowance.price([level[at].candidates for at in asked])
        ended = [node for at, node in enumerate(level) if at not in set(asked)]
        if ended:
            label, _ = yield from self._judged(ended)
            yield from self._put_leaves(ended, label, range(len(ended)))
        return [level[at] for at in asked]

    def _without_leaves(self, level: Sequence[HiddenNode], label: Uint64s, ends: Uint64s) -> Role[list[int]]:
        """Open which nodes are leaves, and their labels; return where the others are."""
        opened = yield from self._opened(ends[None], range(len(level)))
        yield from self._put_leaves(level, label, [at for at, is_leaf in enumerate(opened) if is_leaf])
        return [at for at, is_leaf in enumerate(opened) if not is_leaf]

    def _put_leaves(self, level: Sequence[HiddenNode], label: Uint64s, places: Sequence[int]) -> Role[None]:
        for at, opened in zip(places, (yield from self._opened(label, places)), strict=True):
            self._nodes[level[at].expression] = Leaf((), opened)
            self._spent += self._allowance.of_label

    def _opened(self, wires: Uint64s, places: Sequence[int]) -> Role[list[int]]:
        """Open the numbers of some lanes, of which the wires are the bits, and of no other lane."""
        if not places:
            return []
        both = yield from self._gates.opened(wires_of(bits_of_lanes(wires)[:, list(places)]))
        bits = bits_of_lanes(both)[:, : len(places)].astype(np.int64)
        return [int(number) for number in (bits << np.arange(len(bits))[:, None]).sum(0)]


def simulate_openings(tree: Tree, most_bits: Fraction | None = None) -> Iterator[Uint64s]:
    """Yield the wires that a run opens, in their order, from its tree and the bits that it may reveal."""
    allowance, classes = Allowance(tree.schema, tree.growth.max_depth, most=most_bits), tree.schema.classes
    for level, asked in allowance.levels(tree):
        ended = [node.label for at, (_, node) in enumerate(level) if isinstance(node, Leaf) and at not in asked]
        nodes = [level[at] for at in asked]
        labels = [node.label for _, node in nodes if isinstance(node, Leaf)]
        winners = [_place(expression, node) for expression, node in nodes if isinstance(node, Split)]
        left = len(tree.schema.attributes) - len(level[0][0].terms)
        ends = [isinstance(node, Leaf) for _, node in nodes]
        for numbers, kinds in ((ended, classes), (ends, 2), (labels, classes), (winners, left)):
            if numbers:
                yield _wires(numbers, kinds)


def _place(expression: Expression, split: Split) -> int:
    return split.attribute - sum(column < split.attribute for column in expression.columns)


def _wires(numbers: Sequence[int], kinds: int) -> Uint64s:
    bits = np.arange(max(1, (kinds - 1).bit_length()))[:, None]
    return wires_of((np.array(numbers) >> bits & 1).astype(np.bool_))
