"""ID3 over counts that nobody sees, level by level: which attribute splits which node, and which class a leaf has.

    window      of the candidates of a node, the omega best by estimated gains (`window`), where some are left out
    counts      shares of N(E and A = v and class = c) for all nodes and their windows of a depth (`shares`)
    cost        U of each candidate, the impurity that it leaves (`cost`); without two branches of `min_leaf` records
                or more it is barred
    winner      the least U, ties to the first, by a knockout of numbers that nobody sees (`place_of_least`)
    leaf        of one class, or of fewer than 2 `min_leaf` records, or with all candidates barred
    label       the commonest class, ties to the first; a branch of fewer than `min_leaf` records has its parent's

Of each node that is asked its window is opened, then whether it is a leaf; then its label, or the winner's place. Where
`min_leaf` is 1 no candidate is barred, and what is of one class is opened before the rest is counted: the tree shows
it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counts import Query
from protocols.errors import InputError
from protocols.learning.merit import Ranking, windows_or_all
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled
from protocols.noise.both import TreeNoise
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import (
    are_negative,
    as_numbers,
    bits_of_lanes,
    filled,
    modulus_mask,
    not_below,
    products,
    summand_bits,
    wires_of,
)
from protocols.role import Phase, Progress, Role, together, with_progress
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.cost import cost_by
from protocols.secret_tree.openings import Lane, OpenedKind, open_lanes
from protocols.secret_tree.shares import HiddenNode, SharedCounts, Tables, count_candidates
from protocols.secret_tree.tenths import add_tenths
from protocols.tables import ROOT, Expression, Schema, Term
from protocols.terms import ALL, Growth, Leaves, whole_weights


def place_of_least(
    gates: Gates, numbers: Uint64s, barred: NDArray[np.bool_] | None, width: int
) -> Role[tuple[Uint64s, Uint64s]]:
    """Return shares of the place of the least number, and of whether it is barred, as all are then.

    Any two numbers (`contestants x contests`) differ by less than `2**(width - 1)`, or by half of it where some are
    barred.

    Discloses: nothing; what crosses is masked.
    """
    count, contests = numbers.shape
    place_bits = max(1, (count - 1).bit_length())
    strings = np.zeros((1 + place_bits, count, contests), np.bool_)  # with a number: whether it is barred, its place
    strings[1:] = gates.first & (np.arange(count) >> np.arange(place_bits)[:, None] & 1).astype(np.bool_)[..., None]
    if barred is not None:
        strings[0] = barred
        above = yield from as_numbers(gates, wires_of(barred.reshape(1, -1)), [1 << width - 2], width)
        numbers = numbers + above[0, : numbers.size].reshape(numbers.shape)
    while count > 1:
        pairs = count // 2
        one, other, rest = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2), slice(2 * pairs, None)
        behind = filled(((numbers[other] - numbers[one]) & modulus_mask(width)).reshape(-1))
        wins = yield from are_negative(gates, behind, width)
        differing = wires_of((strings[:, one] ^ strings[:, other]).reshape(len(strings), -1))
        count = pairs + count % 2
        if count > 1:
            moved, more = yield from together(gates.times(wins, differing), products(gates, wins, behind, width))
            more = more[: pairs * contests].reshape(pairs, contests)
            numbers = np.concatenate([numbers[one] + more, numbers[rest]])
        else:
            moved = yield from gates.times(wins, differing)
        by = bits_of_lanes(moved)[:, : pairs * contests].reshape(-1, pairs, contests)
        strings = np.concatenate([strings[:, one] ^ by, strings[:, rest]], axis=1)
    wires = wires_of(strings[:, 0])
    return wires[1:], wires[0]


def two_or_more(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
    """Return shares of whether two wires or more, along the first axis, are 1.

    Of two groups, each with a wire or more (`one`) and with two or more (`two`), all follow by one exchange.

    Discloses: nothing; what crosses is masked.
    """
    one, two = wires, np.zeros_like(wires)
    while len(one) > 1:
        odd = len(one) % 2
        left, right = slice(odd, None, 2), slice(odd + 1, None, 2)
        bits = np.stack([one[left], two[left]])
        strings = np.stack([np.stack([one[right], one[right]]), np.stack([two[right], np.zeros_like(two[right])])])
        (both, at_left), (at_right, _) = yield from gates.times(bits, strings)
        two = np.concatenate([two[:odd], two[left] ^ two[right] ^ both ^ at_left ^ at_right])
        one = np.concatenate([one[:odd], one[left] ^ one[right] ^ both])
    result: Uint64s = two[0]
    return result


class _TreeProgress:
    """How far a tree is, in nodes times candidates, if later levels branch like the present one."""

    def __init__(self, schema: Schema, growth: Growth, records: int) -> None:
        self._columns, self._branches = len(schema.attributes), fmean(each.size for each in schema.attributes)
        self._levels = min(growth.max_depth or self._columns, self._columns)
        self._most_nodes = records // growth.min_leaf
        self._done = self._now = self._total = self._counted = 0.0

    def begin(self, level: Sequence[Expression]) -> Progress:
        """Go on to a level."""
        self._done, self._counted, depth = self._done + self._now, 0.0, len(level[0].terms)
        nodes = [
            min(len(level) * self._branches**below, max(len(level), self._most_nodes))
            for below in range(self._levels - depth)
        ]
        work = [each * (self._columns - depth - below) for below, each in enumerate(nodes)] or [0.0]
        self._now, self._total = work[0], self._done + sum(work)
        return self._shown()

    def of_counting(self, own: Progress) -> Progress:
        """Turn progress of a level's counting into that of the tree."""
        if own.phase is Phase.COUNTS and own.total:
            self._counted = max(self._counted, own.done / own.total)
        return self._shown()

    def _shown(self) -> Progress:
        """Take half of a level's work to be its counting."""
        return Progress(Phase.TREE, self._done + self._now * self._counted / 2, self._total)


class SecretTree:
    """One side's part of growing a tree, with our noise where `growth` has some, and a ranking where there are windows.

    Answers are each node's attribute or, of a leaf, `-1 - label`, for the levels that both remember.

    Discloses: the tree: its splits and labels, and the shares of its leaves where these are opened; and the windows of
        the nodes that were asked.
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
        if (noise is None) != (growth.noise is None):
            raise InputError("a tree with noise needs the noise of its growth, and a tree without noise takes no noise")
        if (allowance.window is ALL) != (ranking is None):
            raise InputError("a window needs something to rank by, and all candidates nothing")
        self._noise, self._ranking = noise, ranking
        self._schema, self._growth, self._counts, self._gates = schema, growth, counts, gates
        self._allowance, self._spent = allowance, Fraction(0)
        weights = whole_weights(growth.weights, schema.class_attribute.values)
        self._weights, self._heaviest = np.array(weights, WORD)[:, None], max(weights)
        self._label_width = counts.width + 1 + self._heaviest.bit_length()
        self._cost = cost_by(
            growth.impurity,
            gates,
            counts.records * self._heaviest,
            schema.classes,
            2 * noise.spending.worth.cut if noise else 0,
        )
        self._answers = KeptAnswers() if answers is None else answers
        self._nodes: dict[Expression, Node] = {}
        self._opened: dict[Expression, int] = {}
        self._waiting: dict[Expression, HiddenNode] = {}
        self._progress = _TreeProgress(schema, growth, counts.records)

    def build(self) -> Role[Tree]:
        """Grow the tree to its end, or its limits."""
        level = [ROOT]
        while level:
            candidates = yield from self._windows_within_budget(level)
            yield self._progress.begin(level)
            asking = with_progress(self._ask(level, candidates), self._progress.of_counting)
            known = yield from self._answers.ask(asking, self._answer_check(candidates))
            opened = [Leaf((), -1 - int(each)) if each < 0 else Split((), int(each), ()) for each in known]
            self._spent += sum(isinstance(node, Leaf) for node in opened) * self._allowance.of_leaf
            self._nodes |= zip(level, opened, strict=True)
            level = [
                path.child(node.attribute, value)
                for path, node in zip(level, opened, strict=True)
                if isinstance(node, Split)
                for value in range(self._schema.attributes[node.attribute].size)
            ]
        tree = assembled(self._schema, self._nodes.items(), self._growth)
        if self._growth.leaves == Leaves.LABEL:
            return tree
        return (yield from add_tenths(tree, self._counts, self._gates, self._answers, self._noise))

    def _windows_within_budget(self, level: Sequence[Expression]) -> Role[list[tuple[int, ...]]]:
        """Reserve the bits of the nodes that may be asked; return each node's window, empty if it may not."""
        candidates = [
            tuple(at for at in range(len(self._schema.attributes)) if at not in path.columns) for path in level
        ]
        asked = self._allowance.asked(candidates, self._spent)
        self._spent += self._allowance.price([candidates[at] for at in asked])
        queries = [Query(level[at], candidates[at], None) for at in asked]
        windows = yield from windows_or_all(self._ranking, queries, self._allowance.window)
        of_node = dict(zip(asked, windows, strict=True))
        return [of_node.get(at, ()) for at in range(len(level))]

    def _answer_check(self, windows: Sequence[tuple[int, ...]]) -> Callable[[AnswerNumbers], bool]:
        """Return what checks an answer, which the peer may remember alone: is it one of nodes with these windows?"""

        def is_possible(answer: float, candidates: tuple[int, ...]) -> bool:
            return answer in candidates if answer >= 0 else answer >= -self._schema.classes

        return lambda answers: len(answers) == len(windows) and all(map(is_possible, answers, windows))

    def _ask(self, level: Sequence[Expression], candidates: Sequence[tuple[int, ...]]) -> Role[AnswerNumbers]:
        """Open each node: a split's attribute, or `-1 - label`; share the next level."""
        waiting, self._waiting = self._waiting, {}
        if level[0] not in waiting:
            waiting = yield from self._counted_again(level)
        nodes = [replace(waiting[path], candidates=each) for path, each in zip(level, candidates, strict=True)]
        if ended := [node for node in nodes if not node.candidates]:
            yield from self._open_labels(ended, (yield from self._labels(ended)), range(len(ended)))
        if asked := [node for node in nodes if node.candidates]:
            if self._noise is not None:
                yield from self._split(asked, None)  # no exact count says which is a leaf
            elif self._growth.min_leaf == 1:
                yield from self._leaves_then_contest(asked)
            else:
                yield from self._contest_then_leaves(asked)
        return tuple(float(self._opened[path]) for path in level)

    def _split(self, nodes: Sequence[HiddenNode], labels: NDArray[np.bool_] | None) -> Role[None]:
        """Split nodes that are no leaves, and have these labels: no candidate is barred."""
        tables = yield from count_candidates(self._counts, self._schema, nodes)
        winners, _ = yield from self._contest(nodes, tables)
        yield from self._open_splits(nodes, tables, winners, range(len(nodes)), labels)

    def _leaves_then_contest(self, nodes: Sequence[HiddenNode]) -> Role[None]:
        """Open which nodes are leaves, and count for the others alone."""
        label, ends = yield from self._judged(nodes)
        left = yield from self._open_leaves(nodes, label, ends)
        if left:
            yield from self._split([nodes[at] for at in left], bits_of_lanes(label)[:, left])

    def _contest_then_leaves(self, nodes: Sequence[HiddenNode]) -> Role[None]:
        """Count for all nodes before it is opened which are leaves: one is where all candidates are barred."""
        tables = yield from count_candidates(self._counts, self._schema, nodes)
        judged, contest = self._judged(nodes), self._contest(nodes, tables)
        (label, ends), (winners, barred) = yield from together(judged, contest)
        goes_on = yield from self._gates.both(self._gates.flipped(ends), self._gates.flipped(barred))
        left = yield from self._open_leaves(nodes, label, self._gates.flipped(goes_on))
        yield from self._open_splits(nodes, tables, winners, left, bits_of_lanes(label))

    def _counted_again(self, level: Sequence[Expression]) -> Role[dict[Expression, HiddenNode]]:
        """Count the nodes of a level whose parents' counts this session has not shared: the root, or on resuming.

        The parents' labels follow: what was split has enough records for a label of its own.
        """
        classes = self._schema.classes
        what = [path & Term(self._schema.class_index, label) for path in level for label in range(classes)]
        rows = (yield from self._counts.count(what)).reshape(-1, classes)
        nodes = {path: HiddenNode(path, row) for path, row in zip(level, rows, strict=True)}
        if level == [ROOT] or self._noise is not None:
            return nodes
        parents: dict[Expression, Uint64s] = {}
        for path, row in zip(level, rows, strict=True):
            parents[path.parent] = parents.get(path.parent, np.zeros(classes, WORD)) + row
        own = filled(np.stack(list(parents.values()), axis=1))
        numbers, _ = yield from self._widened(own, self._label_width)
        label = bits_of_lanes((yield from self._commonest(numbers * self._weights, self._label_width)))
        of_parent = {path: label[:, at] for at, path in enumerate(parents)}
        return {path: replace(node, of_parent=of_parent[path.parent]) for path, node in nodes.items()}

    def _judged(self, level: Sequence[HiddenNode]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of each node's label, and of whether it is a leaf whatever its candidates are: a lane each."""
        numbers, bits = yield from self._classes_and_all(level)
        of_class, in_all = bits[:, :-1].reshape(len(bits), -1), bits[:, -1]
        label, goes_on = yield from together(
            self._exact_labels(level, numbers, in_all), self._may_go_on(of_class, in_all)
        )
        return label, self._gates.flipped(goes_on)

    def _labels(self, level: Sequence[HiddenNode]) -> Role[Uint64s]:
        """Return shares of the label of each node that nothing may split, by counts with noise if there is any."""
        if self._noise is None:
            numbers, bits = yield from self._classes_and_all(level)
            return (yield from self._exact_labels(level, numbers, bits[:, -1]))
        classes, most = self._schema.classes, self._counts.records + 4 * self._noise.spending.label.cut
        own, width = filled(np.stack([node.counts for node in level], axis=1)), most.bit_length() + 1
        numbers, _ = yield from self._widened(own, width)
        drawn = np.array([self._noise.label(each.expression, classes) for each in level], np.int64)
        numbers[:, : len(level)] += drawn.astype(WORD).T
        return (yield from self._commonest(numbers, width))

    def _classes_and_all(self, level: Sequence[HiddenNode]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of how many records of each class a node has, and, last, of all; and of their bits."""
        own = filled(np.stack([node.counts for node in level], axis=1))
        return (yield from self._widened(np.concatenate([own, own.sum(0, dtype=WORD)[None]]), self._label_width))

    def _exact_labels(self, level: Sequence[HiddenNode], numbers: Uint64s, in_all: Uint64s) -> Role[Uint64s]:
        """Return shares of the commonest class, or of the parent's label where a node is too small for its own."""
        commonest = self._commonest(numbers[:-1] * self._weights, self._label_width)
        parents = [node.of_parent for node in level if node.of_parent is not None]
        if not parents:
            return (yield from commonest)
        label, is_large = yield from together(commonest, not_below(self._gates, in_all, self._growth.min_leaf))
        return (yield from self._gates.chosen(is_large, label, wires_of(np.stack(parents, axis=1))))

    def _commonest(self, numbers: Uint64s, width: int) -> Role[Uint64s]:
        """Return shares of the class with the highest count in each lane (`classes x lanes`)."""
        label, _ = yield from place_of_least(self._gates, np.uint64(0) - numbers, None, width)
        return label

    def _may_go_on(self, of_class: Uint64s, in_all: Uint64s) -> Role[Uint64s]:
        """Return shares of whether nodes have more than one class, and as many records as a split needs."""
        gates, least_records = self._gates, self._growth.smallest_split
        has_some, is_large = yield from together(not_below(gates, of_class, 1), not_below(gates, in_all, least_records))
        is_mixed = yield from two_or_more(gates, has_some.reshape(self._schema.classes, -1))
        return (yield from gates.both(is_mixed, is_large))

    def _widened(self, shares: Uint64s, width: int) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of counts modulo a larger power of two, and of their bits, which go first."""
        gates, narrow = self._gates, self._counts.width
        own = shares & modulus_mask(narrow)
        bits = yield from summand_bits(gates, own.reshape(-1), narrow + 1)
        over = yield from as_numbers(gates, bits[narrow:], [1 << narrow], width)
        wide = (own - over.reshape(own.shape)) & modulus_mask(width)
        return wide, bits[:narrow].reshape(narrow, *own.shape[:-1], -1)

    def _contest(self, nodes: Sequence[HiddenNode], tables: Sequence[Tables]) -> Role[tuple[Uint64s, Uint64s]]:
        """Return shares of which candidate wins at each node, and of whether all are barred: a lane each."""
        counts = [table[candidate] for node, table in zip(nodes, tables, strict=True) for candidate in node.candidates]
        sizes, rows = np.array([len(each) for each in counts]), np.concatenate(counts)
        own = filled(np.concatenate([rows.T, rows.sum(1, dtype=WORD)[None]]))
        numbers, bits = yield from self._widened(own, self._cost.counts_width)
        starts, weighed, of_weighed = np.cumsum(sizes) - sizes, numbers, bits
        if self._heaviest > 1:
            by_class, width = numbers[:-1] * self._weights, (self._counts.records * self._heaviest).bit_length()
            weighed = np.concatenate([by_class, by_class.sum(0, dtype=WORD)[None]])
            weighed &= modulus_mask(self._cost.counts_width)
            flat = yield from summand_bits(self._gates, (weighed & modulus_mask(width)).reshape(-1), width)
            of_weighed = flat.reshape(width, len(weighed), -1)
        cost, barred = yield from together(
            self._cost.of_candidates(weighed, of_weighed, starts), self._barred(bits[:, -1], starts, sizes)
        )
        if self._noise is not None:  # of what a candidate is worth, which is the less the more it costs
            asked = [(node.expression, candidate) for node in nodes for candidate in node.candidates]
            cost = cost - np.array([self._noise.worth(*each) for each in asked], WORD)
            if self._schema.conditions:  # what the path decides would win by noise alone
                barred = np.array([self._gates.first and self._schema.decides(*each) for each in asked])
        by_node = np.arange(len(counts)).reshape(len(nodes), -1).T
        bars = None if barred is None else barred[by_node]
        return (yield from place_of_least(self._gates, cost[by_node], bars, self._cost.width))

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
        two = yield from two_or_more(self._gates, wires_of(branches))
        return bits_of_lanes(self._gates.flipped(two))[: len(sizes)]

    def _open_leaves(self, nodes: Sequence[HiddenNode], label: Uint64s, ends: Uint64s) -> Role[list[int]]:
        """Open which nodes are leaves, and their labels; return where the others are."""
        lanes = [Lane(at, node.expression, (0, 1)) for at, node in enumerate(nodes)]
        are_leaves = yield from open_lanes(self._gates, OpenedKind.LEAVES, ends[None], lanes)
        yield from self._open_labels(nodes, label, [at for at, is_leaf in enumerate(are_leaves) if is_leaf])
        return [at for at, is_leaf in enumerate(are_leaves) if not is_leaf]

    def _open_labels(self, nodes: Sequence[HiddenNode], label: Uint64s, places: Sequence[int]) -> Role[None]:
        lanes = [Lane(at, nodes[at].expression, range(self._schema.classes)) for at in places]
        labels = yield from open_lanes(self._gates, OpenedKind.LABELS, label, lanes)
        self._opened |= {lane.node: -1 - each for lane, each in zip(lanes, labels, strict=True)}

    def _open_splits(
        self,
        nodes: Sequence[HiddenNode],
        tables: Sequence[Tables],
        winners: Uint64s,
        places: Sequence[int],
        labels: NDArray[np.bool_] | None,
    ) -> Role[None]:
        """Open which candidates win at these places; the branches wait, with our shares of their parents' labels."""
        lanes = [Lane(at, nodes[at].expression, nodes[at].candidates) for at in places]
        attributes = yield from open_lanes(self._gates, OpenedKind.SPLITS, winners, lanes)
        for lane, attribute in zip(lanes, attributes, strict=True):
            self._opened[lane.node], table = attribute, tables[lane.place]
            of_parent = None if labels is None else labels[:, lane.place]
            for value, row in enumerate(table[attribute]):
                child = lane.node.child(attribute, value)
                self._waiting[child] = HiddenNode(child, row, of_parent, table)
