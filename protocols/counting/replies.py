"""The last step that all secure engines share: shares or encryptions one way, checked counts the other (DESIGN 6.2).

With noise (DESIGN 14) each side adds its own before the other can see a number, and both check what is revealed. The
decision of a check is a function of revealed numbers, so it says nothing that they do not.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from protocols.counting.checks import Checks
from protocols.counts import Answer, Correct, Learned, Query
from protocols.errors import DeviationError
from protocols.facts import CorrectFact, CountsFact, SetsFact, Way
from protocols.messages import ExactCounts
from protocols.noise.both import EXACT, Lift, Noises
from protocols.role import Message, Note, Role, Send, receive
from protocols.tables import Expression


class _Side(ABC):
    """What both sides of a counting know of its numbers."""

    def __init__(self, checks: Checks, sizes: tuple[int, int], noises: Noises = EXACT) -> None:
        self._checks, self._noises = checks, noises
        self._records, self._tests = sizes

    @property
    def is_exact(self) -> bool:
        """Whether counts have no noise."""
        return not self._noises.cells.both

    @property
    def largest(self) -> int:
        """The largest number that a count may be that is not revealed yet."""
        return self._records + 2 * self._added(self._noises.cells)

    @property
    def most_correct(self) -> int:
        """The largest that the number of correctly classified test records may be before it is revealed."""
        return self._tests + 2 * self._added(self._noises.accuracy)

    @staticmethod
    @abstractmethod
    def _added(lift: Lift) -> int:
        """Return the most noise that is in a number before it is revealed."""


class CountSender(_Side):
    """Adds our noise to numbers that we alone know, if there is any, checks them, and sends them.

    `sizes` are the numbers of training and test records.

    Discloses: to the peer, the counts that it asked for, exact or with our noise, once they have passed the checks.
    """

    @staticmethod
    def _added(lift: Lift) -> int:
        return lift.theirs

    def tell(self, queries: Sequence[Query], counts: Sequence[int]) -> Role[list[Answer]]:
        """Check numbers, in the order of the queries, with our noise; send them, and return the answers."""
        noise, lift = self._noises.of_cells(queries, self._checks.schema), self._noises.cells
        sent = [count - lift.theirs + own for count, own in zip(counts, noise, strict=True)]
        answers = self._checks.answers(queries, sent)
        yield Note(CountsFact(Way.BOTH, tuple(queries), tuple(sent)))
        yield Send(ExactCounts(tuple(number + lift.both for number in sent)))
        return answers

    def tell_correct(self, model: Learned, number: int) -> Role[Correct]:
        """Send the number of correctly classified test records."""
        if number > self.most_correct:
            raise DeviationError
        lift = self._noises.accuracy
        sent = number - lift.theirs + self._noises.of_accuracy(model.parts())
        yield Note(CorrectFact(Way.BOTH, sent, self._tests))
        yield Send(ExactCounts((sent + lift.both,)))
        return self._noises.correct(sent, self._tests)

    def tell_sets(self, asked: Sequence[Expression], counts: Sequence[int]) -> Role[list[int]]:
        """Send of how many training records each of these is true."""
        sent = _checked_sets(counts, asked, self._records)
        yield Note(SetsFact(Way.BOTH, tuple(asked), sent))
        yield Send(ExactCounts(sent))
        return list(sent)


class CountReceiver(_Side):
    """Sends what counts are made from, with our noise in it if there is any, and checks the answers.

    `sizes` are the numbers of training and test records.

    Discloses: to the peer, what the message holds that it is given: the counts that both ask for, exact or with our
        noise.
    """

    @staticmethod
    def _added(lift: Lift) -> int:
        return lift.own

    def lifted(self, queries: Sequence[Query]) -> list[int]:
        """Return our noise for each count of a batch, lifted so that it is not negative; zeros without noise."""
        return [each + self._noises.cells.own for each in self._noises.of_cells(queries, self._checks.schema)]

    def lifted_of(self, model: Learned) -> int:
        """Return our noise for the number of correctly classified test records, lifted."""
        return self._noises.of_accuracy(model.parts()) + self._noises.accuracy.own

    def hear(self, queries: Sequence[Query], sent: Message) -> Role[list[Answer]]:
        """Send what the counts of a batch are made from, and return the answers, checked."""
        yield Note(CountsFact(Way.TOLD, tuple(queries), None))
        yield Send(sent)
        counts = tuple(number - self._noises.cells.both for number in (yield from receive(ExactCounts)).values)
        answers = self._checks.answers(queries, counts)
        yield Note(CountsFact(Way.LEARNED, tuple(queries), counts))
        return answers

    def hear_correct(self, sent: Message) -> Role[Correct]:
        """Send what the number of correctly classified test records is made from, and return the answer."""
        lift = self._noises.accuracy
        yield Note(CorrectFact(Way.TOLD, None, self._tests))
        yield Send(sent)
        counts = [number - lift.both for number in (yield from receive(ExactCounts)).values]
        if len(counts) != 1 or not -lift.both <= counts[0] <= self._tests + lift.both:
            raise DeviationError
        yield Note(CorrectFact(Way.LEARNED, counts[0], self._tests))
        return self._noises.correct(counts[0], self._tests)

    def hear_sets(self, asked: Sequence[Expression], sent: Message) -> Role[list[int]]:
        """Send what the counts of these are made from, and return for how many records each is true."""
        yield Note(SetsFact(Way.TOLD, tuple(asked), None))
        yield Send(sent)
        counts = _checked_sets((yield from receive(ExactCounts)).values, asked, self._records)
        yield Note(SetsFact(Way.LEARNED, tuple(asked), counts))
        return list(counts)


def _checked_sets(counts: Sequence[int], asked: Sequence[Expression], records: int) -> tuple[int, ...]:
    if len(counts) != len(asked) or not all(0 <= count <= records for count in counts):
        raise DeviationError
    return tuple(counts)
