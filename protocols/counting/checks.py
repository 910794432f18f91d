"""Checks on every batch of exact counts, by both parties (DESIGN 6.2, FAULTS A7).

* range: no count exceeds the number of records;
* conservation, where there is no noise: a candidate's cells add up to the node's class counts, which both sides know;
* plausibility: the disguised copy gives each side an independent estimate of every count. The bound holds for all
  expressions of the table at once, so it does not matter that the tree, which decides what is asked, depends on the
  same coins. Beside it, a chi-square over all counts of the root (`chi_square`). A false alarm of either happens in at
  most one of 10^6 runs.

A failed check is a `DeviationError`, which does not say which one failed. What both parties of a run that goes on
remember was checked before (`KeptCounts`; DESIGN 12).
"""

from collections.abc import Sequence

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.chi_square import alarm_of, check_root
from protocols.counting.estimated import Estimator
from protocols.counting.rows import View
from protocols.counts import Answer, Correct, CountTable, Learned, Query, SecureEngine
from protocols.errors import DeviationError
from protocols.noise.both import EXACT, Noises
from protocols.randomized_response.moments import error_bound
from protocols.role import Role
from protocols.tables import ROOT, Expression, Schema

_SLACK = 1e-6


class Plausibility:
    """Compares exact counts with our own estimates, by an estimator of the same view."""

    def __init__(self, view: View, estimator: Estimator, noises: Noises = EXACT) -> None:
        self._view, self._estimator, self._noises = view, estimator, noises
        self._values = sum(column.size for column in view.schema.columns)
        self._bounds: dict[tuple[frozenset[int], int, int], float] = {}

    def advance(self, queries: Sequence[Query]) -> None:
        """Move on to the nodes of the next level."""
        self._estimator.advance([query.expression for query in queries])

    def check(self, query: Query, answer: Answer) -> None:
        """Raise DeviationError where a count is further from its estimate than chance allows."""
        if query.expression == ROOT and not self._noises.cells.both:
            check_root(self._view, query, answer)
        for candidate, table in zip(query.candidates, answer.tables, strict=True):
            spread = self._estimator.spread(query.expression, candidate)
            bounds = np.vectorize(lambda live, c=candidate: self._bound(query.expression, c, int(live)))(spread.live)
            slack = _SLACK + self._noise_bound(query.expression, candidate)
            if (np.abs(table - spread.counts) > bounds + slack).any():
                raise DeviationError

    def _bound(self, expression: Expression, candidate: int, live: int) -> float:
        columns = expression.columns | {candidate, self._view.schema.class_index}
        key = (columns, len(columns), live)
        if key not in self._bounds:
            alarm = alarm_of(len(columns), self._values)
            touched = [k for k, group in enumerate(self._view.design.groups) if not columns.isdisjoint(group)]
            self._bounds[key] = error_bound(self._view.design, touched, live, alarm)
        return self._bounds[key]

    def _noise_bound(self, expression: Expression, candidate: int) -> float:
        """Return how far noise may take a number from the count, with the same chance again; 0 without noise."""
        terms = len(expression.columns | {candidate, self._view.schema.class_index})
        return self._noises.cell_bound(alarm_of(terms, self._values))


class Checks:
    """Turns the counts of a batch of training records into answers, or ends the run.

    `noise` is the largest in a revealed number; exact counts must add up.
    """

    def __init__(self, schema: Schema, records: int, plausibility: Plausibility | None, noise: int = 0) -> None:
        self.schema, self._records, self._plausibility, self._noise = schema, records, plausibility, noise

    def size(self, queries: Sequence[Query]) -> int:
        """Number of counts in the batch."""
        return sum(sum(query.cells(self.schema)) for query in queries)

    def answers(self, queries: Sequence[Query], counts: Sequence[int]) -> list[Answer]:
        """Check a batch of counts, in the order queries, candidates, values, classes."""
        least, most = -self._noise, self._records + self._noise
        if len(counts) != self.size(queries) or not all(least <= count <= most for count in counts):
            raise DeviationError
        if self._plausibility is not None:
            self._plausibility.advance(queries)
        answers = self._shaped(queries, counts)
        for query, answer in zip(queries, answers, strict=True):
            if not self._noise:
                self._conserve(query, answer.tables)
            if self._plausibility is not None:
                self._plausibility.check(query, answer)
        return answers

    def recalled(self, queries: Sequence[Query], counts: Sequence[int]) -> list[Answer]:
        """Return the answers of a batch that was checked before."""
        if len(counts) != self.size(queries):
            raise DeviationError
        return self._shaped(queries, counts)

    def _shaped(self, queries: Sequence[Query], counts: Sequence[int]) -> list[Answer]:
        numbers, answers = np.array(counts, dtype=np.int64), []
        for query in queries:
            tables = []
            for cells in query.cells(self.schema):
                tables.append(numbers[:cells].reshape(-1, self.schema.classes))
                numbers = numbers[cells:]
            answers.append(Answer(tuple(tables)))
        return answers

    def _conserve(self, query: Query, tables: Sequence[CountTable]) -> None:
        expected = tables[0].sum(axis=0) if query.class_counts is None else np.array(query.class_counts)
        if query.class_counts is None and expected.sum() != self._records:
            raise DeviationError
        if not all((table.sum(axis=0) == expected).all() for table in tables):
            raise DeviationError


class KeptCounts:
    """An engine whose answers are kept, each before anything is done with it: what both remember is not asked.

    Discloses: whatever `engine` discloses of what is asked.
    """

    def __init__(self, engine: SecureEngine, checks: Checks, answers: KeptAnswers) -> None:
        self._engine, self._checks, self._answers = engine, checks, answers

    def set_up(self) -> Role[None]:
        """Let the engine do so."""
        yield from self._engine.set_up()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Recall a batch, or ask for it and keep it."""
        numbers = yield from self._answers.ask(self._asked(queries))
        return self._checks.recalled(queries, [int(number) for number in numbers])

    def _asked(self, queries: Sequence[Query]) -> Role[AnswerNumbers]:
        answers = yield from self._engine.count(queries)
        return tuple(float(n) for answer in answers for table in answer.tables for n in table.ravel())

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Ask for one number; it must be the one that we remember, if any."""
        correct = yield from self._engine.count_correct(model)
        yield from self._answers.keep((float(round(correct.count)),))
        return correct
