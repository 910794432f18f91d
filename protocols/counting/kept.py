"""Two engines around an engine: one answers batches from memory (DESIGN 12), one refines counts with noise (DESIGN 14).

`KeptCounts` answers from memory what both parties of a run that goes on remember. `RefinedCounts` makes counts with
noise fit for a learner: whole, not negative, and no finer than what the noise leaves. What crosses stays as it is
between the parties and for their checks; a learner sees what `protocols.noise.both` makes of it, the same on both
sides.
"""

from collections.abc import Sequence

from protocols.answers import KeptAnswers
from protocols.counting.checks import Checks
from protocols.counts import Answer, Correct, CountEngine, Learned, Query, SecureEngine
from protocols.noise.both import KnownSums, branch_variance, refined
from protocols.role import Role
from protocols.tables import ROOT, Expression, Schema


class KeptCounts:
    """An engine whose answers are kept, each before anything is done with it.

    Discloses: whatever `engine` discloses of what is asked.
    """

    def __init__(self, engine: SecureEngine, checks: Checks, answers: KeptAnswers) -> None:
        self._engine, self._checks, self._answers = engine, checks, answers

    def set_up(self) -> Role[None]:
        """Let the engine do so."""
        yield from self._engine.set_up()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Recall a batch, or ask for it and keep it."""
        known = self._answers.recalled()
        if known is not None:
            return self._checks.recalled(queries, [int(count) for count in known])
        answers = yield from self._engine.count(queries)
        numbers = tuple(float(n) for answer in answers for table in answer.tables for n in table.ravel())
        yield from self._answers.keep(numbers)
        return answers

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Ask for one number; it must be the one that we remember, if any."""
        correct = yield from self._engine.count_correct(model)
        yield from self._answers.keep((float(round(correct.count)),))
        return correct


class RefinedCounts:
    """An engine that sends numbers with noise, as a learner sees it.

    The variances are of the noise in each revealed cell, and in each class count of the training records.

    Discloses: whatever `engine` discloses.
    """

    def __init__(self, engine: CountEngine, schema: Schema, variance: float, class_variance: float) -> None:
        self._engine, self._schema = engine, schema
        self._variance, self._class_variance = variance, class_variance
        self._above: dict[Expression, KnownSums] = {}

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Ask the engine, and make the best of what it answers."""
        noisy = yield from self._engine.count(queries)
        answers, level = [], {}
        for query, answer in zip(queries, noisy, strict=True):
            known = KnownSums(query.class_counts or (), self._variance_of(query.expression))
            level[query.expression], tables = refined(known, answer.tables, self._variance)
            answers.append(Answer(tuple(tables)))
        self._above = level
        return answers

    def _variance_of(self, node: Expression) -> float:
        if node == ROOT:
            return self._class_variance
        values = self._schema.attributes[node.terms[-1].column].size
        return branch_variance(values, self._above[node.parent], self._variance)

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Ask the engine."""
        return (yield from self._engine.count_correct(model))
