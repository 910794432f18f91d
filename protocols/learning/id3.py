"""ID3 and Hybrid-ID3 (Hybrid section 3.1; DESIGN 7.1), level by level over any count engine.

One algorithm serves all methods; they differ in the window and in where counts come from:

    plain        window = all   exact counts of one whole table
    smc          window = all   secure counts, no disguise
    hybrid       window = omega secure counts of the best-ranked candidates
    randomized   window = all   estimates of the side that holds the class

All nodes of one depth are handled together (DESIGN 7.2), so a tree of depth `d` takes about `2d` batches, and with
windows about `14d` exchanges.

Deviations from the paper: the root's class counts are known beforehand; where the window takes all candidates left,
nothing is ranked; a tree may be limited. A branch of too few records is a leaf of its parent's label, as the paper's
empty one. An attribute of which fewer than two branches are large enough has no gain, estimated or exact, and a node
whose window has no other attribute is a leaf: so a node never reveals more than a window of counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.counts import Answer, Counts, Query
from protocols.errors import InputError
from protocols.learning.merit import CANNOT, Ranking, is_small, merits, node_may_split, windows_or_all
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled, majority
from protocols.role import Phase, Progress, Role, as_part
from protocols.tables import ROOT, Expression, Schema
from protocols.terms import ALL, OMEGA, TO_THE_END, Growth, Window, whole_weights


@dataclass(frozen=True)
class Result:
    """The tree, and how many counts `N(E and A = v and class = c)` were asked for (DESIGN 7.3)."""

    tree: Tree
    computations: int


@dataclass(frozen=True)
class OpenNode:
    """A node that may be split, with its counts of classes: step 1 of Hybrid-ID3, `E` and `AL`."""

    expression: Expression
    counts: tuple[float, ...]
    candidates: tuple[int, ...]

    @property
    def depth(self) -> int:
        """Number of splits above it."""
        return len(self.expression.terms)

    @property
    def records(self) -> float:
        """How many it has."""
        return sum(self.counts)

    def leaf(self, weights: Sequence[int]) -> Leaf:
        """Return the node as a leaf of its majority class, of records that count for this much."""
        return Leaf(self.counts, self.label(weights))

    def label(self, weights: Sequence[int]) -> int:
        """Return the class that weighs most."""
        return majority([count * weight for count, weight in zip(self.counts, weights, strict=True)])

    def query(self, candidates: tuple[int, ...]) -> Query:
        """Ask for these candidates here."""
        return Query(self.expression, candidates, self.counts)

    def grows(self, growth: Growth) -> bool:
        """Return whether to count on (steps 1 to 3): it has candidates and two classes, and no limit forbids it."""
        is_pure = sum(count > 0 for count in self.counts) == 1
        return bool(self.candidates) and not is_pure and node_may_split(self.records, self.depth, growth)

    def branches(self, attribute: int, rows: Sequence[Sequence[float]]) -> list["OpenNode"]:
        """Return what each value of an attribute parts off, by its counts."""
        left = tuple(a for a in self.candidates if a != attribute)
        return [OpenNode(self.expression.child(attribute, value), tuple(row), left) for value, row in enumerate(rows)]


class HybridId3:
    """One party's side of Hybrid-ID3(E, AL), with the window omega, or `ALL`, for which no ranking is needed.

    Discloses: whatever `ranking` discloses at every node where the window leaves a candidate out, and whatever `engine`
    discloses.
    """

    def __init__(
        self,
        schema: Schema,
        class_counts: Sequence[float],
        window: Window,
        engine: Counts,
        ranking: Ranking | None = None,
        growth: Growth = TO_THE_END,
    ) -> None:
        if OMEGA.problem(window):
            raise InputError(OMEGA.legal, field="omega")
        if window is not ALL and ranking is None:
            raise InputError("a window needs something to rank by")
        self._schema, self._window, self._growth = schema, window, growth
        self._engine, self._ranking = engine, ranking
        self._class_counts = tuple(class_counts)
        self._weights = whole_weights(growth.weights, schema.class_attribute.values)
        self._nodes: dict[Expression, Node] = {}
        self._computations = 0

    def build(self) -> Role[Result]:
        """Grow the tree to its end, or its limits."""
        every = tuple(range(len(self._schema.attributes)))
        level = self._without_leaves([OpenNode(ROOT, self._class_counts, every)])
        records = sum(self._class_counts)
        while level:
            progress = Progress(Phase.TREE, records - sum(node.records for node in level), records)
            yield progress
            level = yield from as_part(self._grow(level), progress)
        yield Progress(Phase.TREE, records, records)
        return Result(assembled(self._schema, self._nodes.items(), self._growth), self._computations)

    def _grow(self, level: Sequence[OpenNode]) -> Role[list[OpenNode]]:
        """Hybrid-ID3(E, AL) for all nodes V of one depth; return those of the next. The numbers are the paper's."""
        windows = yield from self._windows(level)  # 4a, 4b
        answers = yield from self._exact_counts(level, windows)  # 4c
        values = merits(answers, sum(self._class_counts), self._growth, self._weights)
        children = []
        for node, window, answer, of_window in zip(level, windows, answers, values, strict=True):
            best = of_window.index(max(of_window))  # 4c: ties go to the first in the agreed order
            if of_window[best] == CANNOT:
                self._nodes[node.expression] = node.leaf(self._weights)
            else:
                children += self._branches(node, window[best], answer.tables[best].tolist())  # TA
        return self._without_leaves(children)

    def _branches(self, node: OpenNode, attribute: int, rows: Sequence[Sequence[float]]) -> list[OpenNode]:
        """Steps 5 and 6: split a node; return the branches that have enough records."""
        large = []
        self._nodes[node.expression] = Split(node.counts, attribute, ())  # 5
        for branch in node.branches(attribute, rows):  # 6
            if is_small(branch.records, self._growth):
                self._nodes[branch.expression] = Leaf(branch.counts, node.label(self._weights))  # 6a, 6b
            else:
                large.append(branch)  # 6c
        return large

    def _without_leaves(self, nodes: Sequence[OpenNode]) -> list[OpenNode]:
        """Steps 1 to 3: what is pure, has no candidates or may not be split becomes a leaf; return the others."""
        others = []
        for node in nodes:
            if node.grows(self._growth):
                others.append(node)
            else:
                self._nodes[node.expression] = node.leaf(self._weights)
        return others

    def _windows(self, level: Sequence[OpenNode]) -> Role[list[tuple[int, ...]]]:
        """Steps 4a and 4b: rank by estimated gains, keep the omega highest."""
        queries = [node.query(node.candidates) for node in level]
        return (yield from windows_or_all(self._ranking, queries, self._window))

    def _exact_counts(self, level: Sequence[OpenNode], windows: Sequence[tuple[int, ...]]) -> Role[list[Answer]]:
        """Step 4c: ask for the counts of every window."""
        queries = [node.query(window) for node, window in zip(level, windows, strict=True)]
        self._computations += sum(sum(query.cells(self._schema)) for query in queries)
        return (yield from self._engine.count(queries))
