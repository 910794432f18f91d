"""ID3 over counts that nobody sees, level by level: which attribute splits which node, and which class a leaf has.

    window      of the candidates of a node, the omega best by estimated gains (`window`), where some are left out
    counts      shares of N(E and A = v and class = c) for all nodes and their windows of a depth (`shares`)
    worth       U of each candidate (`entropy`, `gini`); without two branches of `min_leaf` records or more it is barred
    winner      the least U, ties to the first (`contest`)
    leaf        of one class, or of fewer than 2 `min_leaf` records, or with all candidates barred
    label       the commonest class, ties to the first; a branch of fewer than `min_leaf` records has its parent's

Of each node that is asked its window is opened, then whether it is a leaf; then its label, or the winner's place. Where
`min_leaf` is 1 no candidate is barred, and what is of one class is opened before the rest is counted: the tree shows
it.

The last value's counts follow from the node's, and one child's from its parent's and its siblings' where all have them:
shares add up.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counts import Query
from protocols.errors import InputError
from protocols.learning.ranking import Ranking
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled
from protocols.learning.whole import GINI_BITS, Gini
from protocols.noise.accounting import TreeSpending
from protocols.noise.both import TreeNoise
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
from protocols.role import Phase, Progress, Role, together, with_progress
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.contest import least, several
from protocols.secret_tree.openings import Lane, OpenedKind, open_lanes
from protocols.secret_tree.shares import SharedCounts
from protocols.secret_tree.window import window_wires
from protocols.secret_tree.worth import worth_by
from protocols.tables import ROOT, Expression, Schema, Term
from protocols.terms import ALL, Growth, Impurity

Tables = Mapping[int, Uint64s]
"""Our shares of the counts of each candidate (`values x classes`)."""


@dataclass(frozen=True, eq=False, repr=False)
class HiddenNode:
    """A node of which nobody knows how many records it has.

    Args:
        expression: Its path.
        candidates: What may split it; of a node that is not asked nothing.
        counts: Our shares of its classes' counts.
        of_parent: Our shares of the bits of its parent's label; the root has none.
    """

    expression: Expression
    candidates: tuple[int, ...]
    counts: Uint64s
    of_parent: NDArray[np.bool_] | None = None


Opened = dict[Expression, Node]
"""What the nodes of a depth are: leaves, and splits without their children."""


class SecretTree:
    """One side's part of growing a tree.

    Args:
        allowance: What it may reveal: its columns, its depth, its windows, its bits.
        growth: How it is grown, to the same depth.
        counts: Of the training records.
        gates: Our part of the computation.
        answers: The levels that both remember: what each node's answer is, its attribute or, of a leaf, `-1 - label`.
        noise: Ours, where `growth` has noise.
        ranking: What finds windows, where the allowance has some.

    Discloses: the tree: its splits and labels; and the windows of the nodes that were asked.

    Raises:
        InputError: Noise is not for a tree of these limits or this measure, or it does not fit them.
    """

    def __init__(
        self,
        allowance: Allowance,
        growth: Growth,
        counts: SharedCounts,
        gates: Gates,
        answers: KeptAnswers | None = None,
        noise: TreeNoise | None = None,
        ranking: Ranking | None = None,
    ) -> None:
        schema = allowance.schema
        check_noise(schema, growth, counts.records, noise)
        if (allowance.window is ALL) != (ranking is None):
            raise InputError("a window needs something to rank by, and all candidates nothing")
        self._noise, self._ranking = noise, ranking
        self._schema, self._growth, self._counts, self._gates = schema, growth, counts, gates
        self._allowance, self._spent = allowance, Fraction(0)
        self._worth = worth_by(
            growth.impurity, gates, counts.records, schema.classes, 2 * noise.spending.worth.cut if noise else 0
        )
        self._answers = KeptAnswers() if answers is None else answers
        self._nodes: dict[Expression, Node] = {}
        self._done = 0.0
        self._above: dict[Expression, Tables] = {}
        self._shares: dict[Expression, Uint64s] = {}
        self._of_parents: dict[Expression, NDArray[np.bool_]] = {}

    def build(self) -> Role[Tree]:
        """Grow the tree to its end, or its limits.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        level = [ROOT]
        while level:
            candidates = yield from self._competing(level)
            shown = self._progress(level)
            yield shown(Progress(Phase.TREE, 0, 0))
            asking = with_progress(self._ask(level, candidates), shown)
            known = yield from self._answers.ask(asking, self._possible(candidates))
            opened = [Leaf((), -1 - int(each)) if each < 0 else Split((), int(each), ()) for each in known]
            self._spent += sum(isinstance(node, Leaf) for node in opened) * self._allowance.of_label
            self._nodes |= zip(level, opened, strict=True)
            level = [
                path.child(node.attribute, value)
                for path, node in zip(level, opened, strict=True)
                if isinstance(node, Split)
                for value in range(self._schema.attributes[node.attribute].size)
            ]
        return assembled(self._schema, self._nodes.items(), self._growth)

    def _progress(self, level: Sequence[Expression]) -> Callable[[Progress], Progress]:
        """Return how far the tree is while the nodes of a depth are asked, as one that grows on like this to its limit.

        Work goes by nodes and candidates; half of a depth's is taken to be the counting.
        """
        sizes, depth = [attribute.size for attribute in self._schema.attributes], len(level[0].terms)
        most = len(sizes) if self._growth.max_depth is None else min(self._growth.max_depth, len(sizes))
        widest = max(len(level), self._counts.records // self._growth.min_leaf)
        mean, counted = sum(sizes) / len(sizes), 0.0
        nodes = [min(len(level) * mean**at, widest) for at in range(most - depth)]
        now, *later = [each * (len(sizes) - depth - at) for at, each in enumerate(nodes)] or [0.0]
        total, self._done = self._done + now + sum(later), self._done + now

        def shown(own: Progress) -> Progress:
            nonlocal counted
            if own.phase is Phase.COUNTS and own.total:
                counted = max(counted, own.done / own.total)
            return Progress(Phase.TREE, total - sum(later) - now * (1 - counted / 2), total)

        return shown

    def _competing(self, level: Sequence[Expression]) -> Role[list[tuple[int, ...]]]:
        """Spend the bits of the nodes of a depth that may be asked; return the window of each, of others nothing."""
        candidates = [
            tuple(at for at in range(len(self._schema.attributes)) if at not in path.columns) for path in level
        ]
        asked = self._allowance.asked(candidates, self._spent)
        self._spent += self._allowance.price([candidates[at] for at in asked])
        windows, omega = [candidates[at] for at in asked], self._allowance.window
        if windows and self._ranking is not None and omega is not ALL and omega < len(windows[0]):
            self._ranking.advance([level[at] for at in asked])
            queries = [Query(level[at], candidates[at], None) for at in asked]
            windows = yield from self._ranking.windows(queries, omega)
        of_node = dict(zip(asked, windows, strict=True))
        return [of_node.get(at, ()) for at in range(len(level))]

    def _possible(self, candidates: Sequence[tuple[int, ...]]) -> Callable[[AnswerNumbers], bool]:
        """Return whether an answer, which the peer may remember alone, is one of nodes with these candidates."""

        def of_node(answer: float, of_node: tuple[int, ...]) -> bool:
            return answer in of_node if answer >= 0 else answer >= -self._schema.classes

        return lambda answers: len(answers) == len(candidates) and all(map(of_node, answers, candidates))

    def _ask(self, level: Sequence[Expression], candidates: Sequence[tuple[int, ...]]) -> Role[AnswerNumbers]:
        """Open what the nodes of a depth are: of a split its attribute, of a leaf `-1 - label`."""
        yield from self._count_again(level)
        nodes = [
            HiddenNode(path, of_node, self._shares[path], self._of_parents.get(path))
            for path, of_node in zip(level, candidates, strict=True)
        ]
        opened: Opened = {}
        yield from self._grow(nodes, opened)
        return tuple(
            float(-1 - node.label if isinstance(node, Leaf) else node.attribute)
            for node in (opened[path] for path in level)
        )

    def _count_again(self, level: Sequence[Expression]) -> Role[None]:
        """Share the counts of nodes whose parents' were not shared in this session: of the root, or where it goes on.

        The parents' labels follow: what was split has enough records for a label of its own.
        """
        if level[0] in self._shares:
            return
        classes = self._schema.classes
        what = [path & Term(self._schema.class_index, label) for path in level for label in range(classes)]
        rows = (yield from self._counts.count(what)).reshape(-1, classes)
        self._shares = dict(zip(level, rows, strict=True))
        if level == [ROOT] or self._noise is not None:
            return
        parents: dict[Expression, Uint64s] = {}
        for path, row in self._shares.items():
            parents[path.parent] = parents.get(path.parent, np.zeros(classes, WORD)) + row
        own = filled(np.stack(list(parents.values()), axis=1))
        numbers, _ = yield from self._lifted(own, self._counts.width + 2)
        label = bits_of_lanes((yield from self._commonest(numbers)))
        of_parent = {path: label[:, at] for at, path in enumerate(parents)}
        self._of_parents = {path: of_parent[path.parent] for path in level}

    def _grow(self, level: list[HiddenNode], opened: Opened) -> Role[None]:
        """Open what the nodes of one depth are; keep our shares of the next."""
        level = yield from self._without_unasked(level, opened)
        self._shares, self._of_parents, above, self._above = {}, {}, self._above, {}
        if not level:
            return
        label = None
        if self._noise is not None:
            nodes, split, tables = level, list(range(len(level))), (yield from self._tables(level, above))
            winners, _ = yield from self._contest(nodes, tables)
            lanes = _lanes(nodes, split)
        elif self._growth.min_leaf == 1:
            label, ends = yield from self._judged(level)
            split = yield from self._without_leaves(level, label, ends, opened)
            if not split:
                return
            nodes = [level[at] for at in split]
            tables = yield from self._tables(nodes, above)
            winners, _ = yield from self._contest(nodes, tables)
            lanes = _lanes(nodes, range(len(nodes)))
        else:
            tables = yield from self._tables(level, above)
            (label, ends), (winners, barred) = yield from together(self._judged(level), self._contest(level, tables))
            goes_on = yield from self._gates.both(self._gates.flipped(ends), self._gates.flipped(barred))
            split = yield from self._without_leaves(level, label, self._gates.flipped(goes_on), opened)
            lanes = _lanes(level, split)
            nodes, tables = [level[at] for at in split], [tables[at] for at in split]
        attributes = yield from open_lanes(self._gates, OpenedKind.SPLITS, winners, lanes)
        shares = None if label is None else bits_of_lanes(label)
        for at, attribute, node, of_node in zip(split, attributes, nodes, tables, strict=True):
            opened[node.expression], self._above[node.expression] = Split((), attribute, ()), of_node
            for value, row in enumerate(of_node[attribute]):
                child = node.expression.child(attribute, value)
                self._shares[child] = row
                if shares is not None:
                    self._of_parents[child] = shares[:, at]

    def _judged(self, level: Sequence[HiddenNode]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of each node's label, and of whether it is a leaf whatever its candidates are: a lane each."""
        gates = self._gates
        own = filled(np.stack([node.counts for node in level], axis=1))
        width = self._counts.width + 2
        numbers, bits = yield from self._lifted(np.concatenate([own, own.sum(0, dtype=WORD)[None]]), width)
        in_all, of_class = bits[:, -1], bits[:, :-1].reshape(len(bits), -1)
        label, goes_on = yield from together(self._commonest(numbers[:-1]), self._may_go_on(of_class, in_all))
        parents = [node.of_parent for node in level if node.of_parent is not None]
        if parents:
            is_large = yield from not_below(gates, in_all, self._growth.min_leaf)
            label = yield from gates.chosen(is_large, label, wires_of(np.stack(parents, axis=1)))
        return label, gates.flipped(goes_on)

    def _commonest(self, numbers: Uint64s) -> Role[Uint64s]:
        """Return shares of the class with the highest count in each lane (`classes x lanes`), two bits wider."""
        label, _ = yield from least(self._gates, np.uint64(0) - numbers, None, self._counts.width + 2)
        return label

    def _noisy_labels(self, level: Sequence[HiddenNode], noise: TreeNoise) -> Role[Uint64s]:
        """Return shares of each node's label, by class counts with both sides' noise: a lane each."""
        classes, most = self._schema.classes, self._counts.records + 2 * noise.spending.label.cut
        own, width = filled(np.stack([node.counts for node in level], axis=1)), most.bit_length() + 1
        numbers, _ = yield from self._lifted(own, width)
        added = np.array([noise.label(node.expression, classes) for node in level], WORD).T
        numbers[:, : len(level)] += added
        label, _ = yield from least(self._gates, (np.uint64(0) - numbers) & modulus_mask(width), None, width)
        return label

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

    def _tables(self, nodes: Sequence[HiddenNode], above: Mapping[Expression, Tables]) -> Role[list[Tables]]:
        """Return our shares of the counts of all candidates of each node, given those of nodes above them."""
        spared, classes = self._spared(nodes, above), self._schema.classes
        counted = [
            (at, candidate)
            for at, node in enumerate(nodes)
            for candidate in node.candidates
            if (at, candidate) not in spared
        ]
        what = [
            nodes[at].expression.child(candidate, value) & Term(self._schema.class_index, label)
            for at, candidate in counted
            for value in range(self._schema.attributes[candidate].size - 1)
            for label in range(classes)
        ]
        shares, start = (yield from self._counts.count(what)).reshape(-1, classes), 0
        tables: list[dict[int, Uint64s]] = [{} for _ in nodes]
        for at, candidate in counted:
            rows = shares[start : start + self._schema.attributes[candidate].size - 1]
            start += len(rows)
            tables[at][candidate] = np.concatenate([rows, (nodes[at].counts - rows.sum(0, dtype=WORD))[None]])
        for (at, candidate), siblings in spared.items():
            tables[at][candidate] = above[nodes[at].expression.parent][candidate]
            for each in siblings:
                tables[at][candidate] = tables[at][candidate] - tables[each][candidate]
        return list(tables)

    def _spared(
        self, nodes: Sequence[HiddenNode], above: Mapping[Expression, Tables]
    ) -> dict[tuple[int, int], list[int]]:
        """Return which candidates of which nodes follow from the parent's and those of the other branches, and these.

        The node is the last branch of a split all of whose branches are counted; all windows have the candidate.
        """
        branches: dict[Expression, list[int]] = {}
        for at, node in enumerate(nodes):
            if node.expression.terms and node.expression.parent in above:
                branches.setdefault(node.expression.parent, []).append(at)
        spared = {}
        for parent, (*siblings, last) in branches.items():
            if len(siblings) + 1 == self._schema.attributes[nodes[last].expression.terms[-1].column].size:
                windows = [above[parent], *(nodes[at].candidates for at in siblings)]
                for candidate in nodes[last].candidates:
                    if all(candidate in window for window in windows):
                        spared[last, candidate] = siblings
        return spared

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
        if self._noise is not None:
            asked = [(node.expression, candidate) for node in nodes for candidate in node.candidates]
            worth = worth - np.array([self._noise.worth(*each) for each in asked], WORD)
        by_node = np.arange(len(counts)).reshape(len(nodes), -1).T
        bars = None if barred is None else barred[by_node]
        return (yield from least(self._gates, worth[by_node], bars, self._worth.width))

    def _barred(
        self, bits: Uint64s, starts: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> Role[NDArray[np.bool_] | None]:
        """Return our shares of which candidates have not two branches of the least records; None where all may win."""
        if self._growth.min_leaf == 1:
            return None
        is_large = bits_of_lanes((yield from not_below(self._gates, bits, self._growth.min_leaf)))
        branches = np.zeros((sizes.max(), len(sizes)), np.bool_)
        for value, wire in enumerate(branches):
            wire[sizes > value] = is_large[starts[sizes > value] + value]
        two = yield from several(self._gates, wires_of(branches))
        return bits_of_lanes(self._gates.flipped(two))[: len(sizes)]

    def _without_unasked(self, level: Sequence[HiddenNode], opened: Opened) -> Role[list[HiddenNode]]:
        """Open the labels of nodes that nothing may split; return the others."""
        ended = [node for node in level if not node.candidates]
        if ended:
            if self._noise is None:
                label, _ = yield from self._judged(ended)
            else:
                label = yield from self._noisy_labels(ended, self._noise)
            yield from self._put_leaves(ended, label, range(len(ended)), opened)
        return [node for node in level if node.candidates]

    def _without_leaves(
        self, level: Sequence[HiddenNode], label: Uint64s, ends: Uint64s, opened: Opened
    ) -> Role[list[int]]:
        """Open which nodes are leaves, and their labels; return where the others are."""
        lanes = [Lane(at, node.expression, (0, 1)) for at, node in enumerate(level)]
        are_leaves = yield from open_lanes(self._gates, OpenedKind.LEAVES, ends[None], lanes)
        yield from self._put_leaves(level, label, [at for at, is_leaf in enumerate(are_leaves) if is_leaf], opened)
        return [at for at, is_leaf in enumerate(are_leaves) if not is_leaf]

    def _put_leaves(
        self, level: Sequence[HiddenNode], label: Uint64s, places: Sequence[int], opened: Opened
    ) -> Role[None]:
        lanes = [Lane(at, level[at].expression, range(self._schema.classes)) for at in places]
        labels = yield from open_lanes(self._gates, OpenedKind.LABELS, label, lanes)
        opened |= {lane.node: Leaf((), each) for lane, each in zip(lanes, labels, strict=True)}


def _lanes(nodes: Sequence[HiddenNode], places: Sequence[int]) -> list[Lane]:
    return [Lane(at, nodes[at].expression, nodes[at].candidates) for at in places]


def tree_spending(columns: int, max_depth: int, epsilon: Fraction, records: int) -> TreeSpending:
    """Return what either side spends on a tree of this many columns and training records.

    Raises:
        InputError: There are too many records.
    """
    change = int(Gini(records).change * 2**GINI_BITS)
    return TreeSpending(epsilon, min(max_depth, columns), max(change, 1), columns)


def check_noise(schema: Schema, growth: Growth, records: int, noise: TreeNoise | None) -> None:
    """Refuse what noise does not cover: an exact rule beside noisy winners would void its epsilon.

    Raises:
        InputError: A limit, a measure or the noise itself does not fit.
    """
    if noise is None or growth.noise is None:
        if noise is not None or growth.noise is not None:
            raise InputError("a tree with noise needs the noise of its growth, and a tree without noise takes no noise")
        return
    if growth.max_depth is None:
        raise InputError("noise needs a max_depth: how often it is drawn must not depend on records", field="max_depth")
    if growth.impurity is not Impurity.GINI:
        raise InputError("noise needs impurity = gini: the gain changes by too much with one record", field="impurity")
    if growth.min_leaf > 1:
        raise InputError("noise needs min_leaf = 1: an exact limit would void its epsilon", field="min_leaf")
    if noise.spending != tree_spending(len(schema.attributes), growth.max_depth, growth.noise, records):
        raise InputError("the noise is of another tree")


def simulate_openings(
    tree: Tree, allowance: Allowance, windows: Mapping[Expression, tuple[int, ...]] | None = None
) -> Iterator[Uint64s]:
    """Yield the wires that a run opens, in their order, from its tree, what that may reveal, and its windows."""
    every, classes, omega = range(len(tree.schema.attributes)), tree.schema.classes, allowance.window
    for level, asked in allowance.levels(tree):
        ended = [node.label for at, (_, node) in enumerate(level) if isinstance(node, Leaf) and at not in asked]
        nodes = [level[at] for at in asked]
        labels = [node.label for _, node in nodes if isinstance(node, Leaf)]
        candidates = [[at for at in every if at not in path.columns] for path, _ in nodes]
        if windows and omega is not ALL and nodes and omega < len(candidates[0]):
            own = [windows[path] for path, _ in nodes]
            yield window_wires(
                np.array([[at in one for at in all_] for one, all_ in zip(own, candidates, strict=True)])
            )
            candidates = [list(window) for window in own]
        winners = [
            of_node.index(node.attribute)
            for (_, node), of_node in zip(nodes, candidates, strict=True)
            if isinstance(node, Split)
        ]
        left = len(candidates[0]) if candidates else 0
        ends = [isinstance(node, Leaf) for _, node in nodes] if tree.growth.noise is None else []
        for numbers, kinds in ((ended, classes), (ends, 2), (labels, classes), (winners, left)):
            if numbers:
                yield _wires(numbers, kinds)


def _wires(numbers: Sequence[int], kinds: int) -> Uint64s:
    bits = np.arange(max(1, (kinds - 1).bit_length()))[:, None]
    return wires_of((np.array(numbers) >> bits & 1).astype(np.bool_))
