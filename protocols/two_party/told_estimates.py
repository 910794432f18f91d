"""Counts that the class holder estimates from its own columns and the other side's copy, and tells (DESIGN 14).

What naive Bayes takes where nothing is counted exactly: as in a mined tree (`mined`), the class holder tells, of two
holders the first by name, and no finer than the other side knows them from the teller's copy.

The other side takes what it is told on trust, as far as so many records can have such counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counting.estimated import Estimator
from protocols.counting.projected import ProjectedEstimates
from protocols.counting.rows import View
from protocols.counts import Answer, Classifier, Correct, Query, shaped
from protocols.errors import PeerError
from protocols.facts import EstimatedCorrectFact, EstimatesFact, Way
from protocols.learning.naive_bayes import NaiveBayes
from protocols.messages import EstimatedCorrect, EstimatedCounts
from protocols.randomized_response.moments import largest_factor
from protocols.randomized_response.related_question import RelatedDesign
from protocols.role import Note, Role, Send, receive
from protocols.tables.schema import Schema
from protocols.two_party.mined import told_correct
from protocols.two_party.rounding import TWICE, count_step

_NO_COUNTS = "the peer's estimates do not fit what was agreed"


def estimate_step(own: RelatedDesign, theirs: RelatedDesign, records: int) -> float:
    """Return what estimates of so many records are told as multiples of, a power of two."""
    return max(1.0, count_step((own, theirs), records, TWICE))


@dataclass(frozen=True)
class TellingEstimates:
    """The class holder's side.

    Args:
        train: Our view of the training records.
        test: Our view of those held out; may be empty.
        step: What counts are told as multiples of.
        answers: What both remember of the run.

    Discloses: to the peer, our estimate of every count that is asked for, which follows from our true columns, rounded
        to twice the error that our copy has left of it; and the estimated number of correctly classified test records,
        rounded to a quarter of its own error.
    """

    train: View
    test: View
    step: float
    answers: KeptAnswers

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Estimate, round and tell the counts of all queries."""
        told = yield from self.answers.ask(self._told(queries))
        return _answers(queries, told, self.train.schema)

    def _told(self, queries: Sequence[Query]) -> Role[AnswerNumbers]:
        estimates = yield from ProjectedEstimates(Estimator(self.train)).count(queries)
        cells = np.concatenate([table.ravel() for answer in estimates for table in answer.tables])
        values = tuple((np.rint(cells / self.step) * self.step).astype(int).tolist())
        yield Note(EstimatesFact(Way.TOLD, tuple(queries), values))
        yield Send(EstimatedCounts(values))
        return tuple(map(float, values))

    def count_correct(self, model: NaiveBayes) -> Role[Correct]:
        """Estimate and tell how many test records the model classifies correctly; nothing is told without any."""
        if not len(self.test):
            return Correct(0.0)
        return Correct(*(yield from self.answers.ask(self._told_correct(model))))

    def _told_correct(self, model: Classifier) -> Role[AnswerNumbers]:
        correct, error = told_correct(model, self.test)
        yield Note(EstimatedCorrectFact(Way.TOLD, correct, error, len(self.test)))
        yield Send(EstimatedCorrect(correct, error))
        return float(correct), float(error)


@dataclass(frozen=True)
class HearingEstimates:
    """The other side.

    Args:
        schema: The joint schema.
        sizes: The numbers of training and test records.
        design: Of our own copy, from which the peer estimates.
        step: What counts are told as multiples of.
        answers: What both remember of the run.

    Discloses: nothing; nothing is sent.
    """

    schema: Schema
    sizes: tuple[int, int]
    design: RelatedDesign
    step: float
    answers: KeptAnswers

    def count(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Hear the counts of all queries.

        Raises:
            PeerError: So many records cannot have them.
        """
        return _answers(queries, (yield from self.answers.ask(self._heard(queries))), self.schema)

    def _heard(self, queries: Sequence[Query]) -> Role[AnswerNumbers]:
        values = (yield from receive(EstimatedCounts)).values
        if len(values) != sum(sum(query.cells(self.schema)) for query in queries):
            raise PeerError(_NO_COUNTS)
        for answer in shaped(queries, np.array(values, dtype=np.int64), self.schema):
            if not all(self._fits(int(table.sum()), table.size) for table in answer.tables):
                raise PeerError(_NO_COUNTS)
        yield Note(EstimatesFact(Way.LEARNED, tuple(queries), values))
        return tuple(map(float, values))

    def _fits(self, total: int, cells: int) -> bool:
        """Tell whether all records are in a table, but for rounding; or none, where all were estimated away."""
        return not total or abs(total - self.sizes[0]) <= cells * self.step

    def count_correct(self, model: NaiveBayes) -> Role[Correct]:
        """Hear how many test records the model classifies correctly.

        Raises:
            PeerError: It cannot be so many.
        """
        del model
        if not self.sizes[1]:
            return Correct(0.0)
        return Correct(*(yield from self.answers.ask(self._heard_correct())))

    def _heard_correct(self) -> Role[AnswerNumbers]:
        most = self.sizes[1] * largest_factor(self.design, tuple(range(len(self.design.groups))))
        told = yield from receive(EstimatedCorrect)
        if abs(told.correct) > most or told.error > 2 * most:  # an error is rounded up by a quarter, or to 1
            raise PeerError(_NO_COUNTS)
        yield Note(EstimatedCorrectFact(Way.LEARNED, told.correct, told.error, self.sizes[1]))
        return float(told.correct), float(told.error)


ToldEstimates = TellingEstimates | HearingEstimates


def _answers(queries: Sequence[Query], told: AnswerNumbers, schema: Schema) -> list[Answer]:
    return shaped(queries, np.array(told).astype(np.int64), schema)
