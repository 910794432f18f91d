"""Naive Bayes of two parties, over any count engine (Surveys section 3.3 and Hybrid section 3.1; DESIGN 7, 8).

Only the counts of the root are needed, so there is one batch of them. Which are exact, the method says:

    smc          all, by secure counting
    hybrid       those of the omega attributes with the highest estimated gain; the others are the class holder's
                 estimates
    randomized   none; all are the class holder's estimates

Exact counts have Laplace's smoothing. What is told as a multiple of a step may be anything within half of it, so a cell
that is told as none has a quarter of the step: a value that was rounded away is no impossible one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from protocols.counts import Answer, Counts, CountTable
from protocols.learning.naive_bayes import NaiveBayes, bayes_of_counts
from protocols.learning.open_node import OpenNode
from protocols.learning.ranking import Ranking
from protocols.role import Role
from protocols.tables.expression import ROOT
from protocols.tables.schema import Schema
from protocols.terms import ALL, Window

SMOOTHING: Final = 1.0
"""What is added to every exact count."""


@dataclass(frozen=True)
class Estimated:
    """Where the counts come from that are not counted exactly, and of what they are multiples there."""

    counts: Counts
    step: float

    @property
    def smoothing(self) -> float:
        """What is added to every one of them."""
        return max(SMOOTHING, self.step / 4)


@dataclass(frozen=True)
class BayesResult:
    """The model, and how many exact counts were asked for (DESIGN 7.3)."""

    model: NaiveBayes
    computations: int


class HybridBayes:
    """One party's side of naive Bayes.

    Args:
        schema: The joint schema.
        class_counts: Of all training records, none of them negative.
        estimated: For what is not counted exactly; None if all is.

    Discloses: whatever the engines and the ranking disclose at the root.

    Raises:
        InputError: There is no record to learn from.
    """

    def __init__(self, schema: Schema, class_counts: Sequence[float], estimated: Estimated | None = None) -> None:
        self._schema, self._estimated = schema, estimated
        every = tuple(range(len(schema.attributes)))
        self._root = OpenNode(ROOT, tuple(class_counts), every)

    def build(self, exact: Counts, window: Window, ranking: Ranking | None) -> Role[BayesResult]:
        """Count the attributes of the window exactly, and estimate the others.

        Args:
            exact: Counts them.
            window: omega, or `ALL`.
            ranking: What ranks the attributes where the window leaves some out.
        """
        counted = yield from self._window(window, ranking)
        query = self._root.query(counted)
        (answer,) = yield from exact.count([query])
        rest = yield from self._estimates([a for a in self._root.candidates if a not in counted])
        model = self._model(dict(zip(counted, answer.tables, strict=True)), rest)
        return BayesResult(model, sum(query.cells(self._schema)))

    def build_from_estimates(self) -> Role[BayesResult]:
        """Estimate all attributes."""
        return BayesResult(self._model({}, (yield from self._estimates(self._root.candidates))), 0)

    def _window(self, window: Window, ranking: Ranking | None) -> Role[tuple[int, ...]]:
        every = self._root.candidates
        if window is ALL or window >= len(every) or ranking is None:
            return every
        ranking.advance([ROOT])
        (best,) = yield from ranking.windows([self._root.query(every)], window)
        return best

    def _estimates(self, attributes: Sequence[int]) -> Role[dict[int, CountTable]]:
        if self._estimated is None or not attributes:
            return {}
        answer: Answer
        (answer,) = yield from self._estimated.counts.count([self._root.query(tuple(attributes))])
        return dict(zip(attributes, answer.tables, strict=True))

    def _model(self, exact: dict[int, CountTable], rest: dict[int, CountTable]) -> NaiveBayes:
        tables = {**exact, **rest}
        smoothing = 0.0 if self._estimated is None else self._estimated.smoothing
        return bayes_of_counts(
            self._schema,
            self._root.counts,
            [tables[attribute] for attribute in self._root.candidates],
            [SMOOTHING if attribute in exact else smoothing for attribute in self._root.candidates],
        )
