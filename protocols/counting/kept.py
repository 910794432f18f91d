"""Counts of a run that goes on: a batch that both parties remember is answered from memory (DESIGN 12)."""

from collections.abc import Sequence

from protocols.answers import KeptAnswers
from protocols.counting.checks import Checks
from protocols.counts import Answer, Correct, Learned, Query, SecureEngine
from protocols.role import Role


class KeptCounts:
    """An engine whose answers are kept, each before anything is done with it.

    Args:
        engine: Counts what is not remembered.
        checks: Of the engine.
        answers: What both remember of the run.

    Discloses: whatever `engine` discloses of what is asked.
    """

    def __init__(self, engine: SecureEngine, checks: Checks, answers: KeptAnswers) -> None:
        self._engine, self._checks, self._answers = engine, checks, answers

    def set_up(self) -> Role[None]:
        """Let the engine do so."""
        yield from self._engine.set_up()

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Recall a batch, or ask for it and keep it.

        Raises:
            DeviationError: We remember it otherwise.
        """
        known = self._answers.recalled()
        if known is not None:
            return self._checks.recalled(queries, [int(count) for count in known])
        told = yield from self._engine.count(queries)
        numbers = tuple(float(n) for answer in told for table in answer.tables for n in table.ravel())
        yield from self._answers.keep(numbers)
        return told

    def count_correct(self, model: Learned) -> Role[Correct]:
        """Ask for one number; it must be the one that we remember, if any."""
        correct = yield from self._engine.count_correct(model)
        yield from self._answers.keep((float(round(correct.count)),))
        return correct
