"""ID3 and Hybrid-ID3 (Hybrid section 3.1; DESIGN 7.1), level by level over any count engine.

One algorithm serves all methods; they differ in the window and in where counts come from:

    plain        window = all   exact counts of one whole table
    smc          window = all   secure counts, no disguise
    hybrid       window = omega secure counts of the best-ranked candidates
    randomized   window = all   estimates of the side that holds the class

All nodes of one depth are handled together (DESIGN 7.2), so a tree of depth `d` takes about `2d` round trips.

Deviations from the paper: where the root's class counts are not known beforehand, they are the sums of its first answer
and not asked for by themselves, so a root of one class becomes a leaf only then; where the window takes all candidates
left, nothing is ranked and no estimated gain crosses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from protocols.counts import Answer, Counts, Query
from protocols.errors import InputError
from protocols.learning.impurity import TIE, gains
from protocols.learning.ranking import Ranking
from protocols.learning.tree import Leaf, Node, Split, Tree, assembled, majority
from protocols.role import Phase, Progress, Role, as_part
from protocols.tables.expression import ROOT, Expression
from protocols.tables.schema import Schema
from protocols.terms import ALL, WINDOWS, Window, is_window


@dataclass(frozen=True)
class _Open:
    """A node that is to be split: step 1 of the algorithm, `E` and `AL`."""

    expression: Expression
    class_counts: tuple[float, ...] | None
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class Result:
    """The tree, and how many counts `N(E and A = v and class = c)` were asked for (DESIGN 7.3)."""

    tree: Tree
    computations: int


class HybridId3:
    """One party's side of Hybrid-ID3(E, AL).

    Args:
        schema: The joint schema.
        records: Number of training records.
        window: omega, or `ALL`.
        engine: Where the counts of the window come from.
        ranking: What ranks candidates; needed unless the window is `ALL`.
        class_counts: Of all training records, where they are known beforehand.

    Discloses: whatever `ranking` discloses at every node where the window leaves a candidate out, and whatever `engine`
    discloses.

    Raises:
        InputError: The window is not a legal one, or there is nothing to rank with.
    """

    def __init__(
        self,
        schema: Schema,
        records: int,
        window: Window,
        engine: Counts,
        ranking: Ranking | None = None,
        class_counts: tuple[float, ...] | None = None,
    ) -> None:
        if not is_window(window):
            raise InputError(f"must be {WINDOWS}", field="omega")
        if window is not ALL and ranking is None:
            raise InputError("a window needs something to rank by")
        self._schema, self._records, self._window = schema, records, window
        self._engine, self._ranking = engine, ranking
        self._class_counts = (float(records),) if schema.classes == 1 else class_counts
        self._nodes: dict[Expression, Node] = {}
        self._computations = 0

    def build(self) -> Role[Result]:
        """Grow the tree to its end."""
        every = tuple(range(len(self._schema.attributes)))
        level = self._without_leaves([_Open(ROOT, self._class_counts, every)])
        while level:
            progress = Progress(Phase.TREE, self._records_settled(level), self._records)
            yield progress
            level = yield from as_part(self._grow(level), progress)
        yield Progress(Phase.TREE, self._records, self._records)
        return Result(assembled(self._schema, self._nodes.items()), self._computations)

    def _grow(self, level: Sequence[_Open]) -> Role[list[_Open]]:
        """Hybrid-ID3(E, AL) for all nodes V of one depth; return those of the next. The numbers are the paper's."""
        windows = yield from self._windows(level)  # 4a, 4b
        answers = yield from self._exact_counts(level, windows)  # 4c
        exact = iter(gains([table for answer in answers for table in answer.tables]))
        children = []
        for node, window, answer in zip(level, windows, answers, strict=True):
            best = _first_best([next(exact) for _ in window])
            attribute, table = window[best], answer.tables[best]  # TA
            counts = node.class_counts or tuple(table.sum(axis=0).tolist())
            if _is_pure(counts):  # 2, at a root whose counts were not known before
                self._nodes[node.expression] = Leaf(counts, majority(counts))
                continue
            self._nodes[node.expression] = Split(counts, attribute, ())  # 5
            for value, row in enumerate(table.tolist()):  # 6
                child = node.expression.child(attribute, value)  # 6a
                if sum(row) == 0:
                    self._nodes[child] = Leaf(tuple(row), majority(counts))  # 6b
                else:
                    left = tuple(a for a in node.candidates if a != attribute)
                    children.append(_Open(child, tuple(row), left))  # 6c
        return self._without_leaves(children)

    def _without_leaves(self, nodes: Sequence[_Open]) -> list[_Open]:
        """Steps 1 to 3: pure nodes and nodes without candidates become leaves; return the others."""
        others = []
        for node in nodes:
            counts = node.class_counts
            if counts is not None and (_is_pure(counts) or not node.candidates):
                self._nodes[node.expression] = Leaf(counts, majority(counts))
            else:
                others.append(node)
        return others

    def _windows(self, level: Sequence[_Open]) -> Role[list[tuple[int, ...]]]:
        """Steps 4a and 4b: rank by estimated gains, keep the omega highest."""
        ranked = [node for node in level if self._is_ranked(node)]
        if not ranked:
            return [node.candidates for node in level]
        assert self._ranking is not None  # noqa: S101  # the constructor refused a window without a ranking
        self._ranking.advance([node.expression for node in level])
        queries = [Query(node.expression, node.candidates, node.class_counts) for node in ranked]
        estimated = iter((yield from self._ranking.gains(queries)))
        return [
            _best({attribute: next(estimated) for attribute in node.candidates}, self._window)
            if self._is_ranked(node)
            else node.candidates
            for node in level
        ]

    def _exact_counts(self, level: Sequence[_Open], windows: Sequence[tuple[int, ...]]) -> Role[list[Answer]]:
        """Step 4c: ask for the counts of every window."""
        queries = [Query(n.expression, window, n.class_counts) for n, window in zip(level, windows, strict=True)]
        sizes = (self._schema.attributes[a].size for query in queries for a in query.candidates)
        self._computations += sum(sizes) * self._schema.classes
        return (yield from self._engine.count(queries))

    def _records_settled(self, level: Sequence[_Open]) -> float:
        pending = (sum(node.class_counts) if node.class_counts else self._records for node in level)
        return self._records - sum(pending)

    def _is_ranked(self, node: _Open) -> bool:
        return self._window is not ALL and self._window < len(node.candidates)


def _first_best(values: Sequence[float]) -> int:
    """Step 4c: the highest exact gain decides, ties go to the first in the agreed order."""
    most = max(values) - TIE
    return next(i for i, value in enumerate(values) if value >= most)


def _is_pure(counts: Sequence[float]) -> bool:
    return sum(count > 0 for count in counts) == 1


def _best(gains: Mapping[int, float], window: Window) -> tuple[int, ...]:
    """Return the attributes of the highest gains, ties and result in the agreed order."""
    order = sorted(gains, key=lambda attribute: (-gains[attribute], attribute))
    return tuple(sorted(order[:window]))
