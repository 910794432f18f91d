"""Ranking the candidates of a level by estimated gains (Hybrid section 3.1, steps 4a and 4b; DESIGN 14).

Two ways: the mean of what both parties estimate from their own true and the other's disguised columns, as in the paper,
told no finer than it is known; or what both disguised copies together say, which both know, so that nothing is told.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counts import Estimates, Query
from protocols.errors import PeerError
from protocols.facts import GainsFact, Way
from protocols.learning.impurity import TIE, most_merit
from protocols.learning.merit import CANNOT, coarseness, estimated_merits
from protocols.messages import EstimatedGains
from protocols.role import Note, Role, exchange
from protocols.tables.expression import Expression
from protocols.terms import TO_THE_END, Growth

GainStep = Callable[[float], float]
"""From a node's number of records, a power of two, in bits; gains are told as multiples of it."""

FINEST_STEP: Final = 2.0**-20
"""What gains are rounded to where nothing hides them."""


class Ranking(Protocol):
    """Estimated gains on which both parties agree."""

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        ...

    def gains(self, queries: Sequence[Query]) -> Role[Sequence[float]]:
        """Return the gain of every candidate of every query, in bits: the same numbers on both sides."""
        ...


class MeanGains:
    """The mean of both parties' estimated gains.

    Args:
        estimates: Our own.
        classes: Number of classes.
        step: How coarsely the gains of a node are told; equal on both sides.
        growth: The measure, and the limits: what may not split a node, as we estimate, has no gain there.
        answers: What both remember of the run.

    Discloses: to the peer, our estimated gain of every candidate by that measure, less what noise adds to it (DESIGN
        5.3), from the least that it can be, rounded to the nearest multiple of the node's step, or of a multiple of it
        where an error in the counts tells more. It is the least where a branch has too few records, its share of the
        node rounded to a multiple of the step too. What it could make of exact numbers, whole tables, the rounding
        hides as well as the coins hide the copy.
    """

    def __init__(
        self,
        estimates: Estimates,
        classes: int,
        step: GainStep,
        growth: Growth = TO_THE_END,
        answers: KeptAnswers | None = None,
    ) -> None:
        self._estimates, self._classes, self._step, self._growth = estimates, classes, step, growth
        self._answers = KeptAnswers() if answers is None else answers

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        self._estimates.advance(expressions)

    def gains(self, queries: Sequence[Query]) -> Role[Sequence[float]]:
        """Tell each other the rounded gains.

        Raises:
            PeerError: The peer's gains cannot be those of this level.
        """
        if not queries:
            return ()
        of_nodes = [self._step(_records(query)) for query in queries]
        steps = [step for step, query in zip(of_nodes, queries, strict=True) for _ in query.candidates]
        sums = yield from self._answers.ask(self._exchanged(queries, of_nodes, steps))
        return [both / 2 * step - self._most for both, step in zip(sums, steps, strict=True)]

    @property
    def _most(self) -> float:
        """What no gain is above. Noise brings no more than that, so none is told that is below its negative."""
        return most_merit(self._classes, self._growth.impurity)

    def _exchanged(
        self, queries: Sequence[Query], of_nodes: Sequence[float], steps: Sequence[float]
    ) -> Role[AnswerNumbers]:
        """Return the sums of both sides' multiples."""
        own = tuple(self._told(queries, of_nodes, steps))
        yield Note(GainsFact(Way.TOLD, tuple(queries), own))
        theirs = (yield from exchange(EstimatedGains(own))).values
        most = 2 * self._most + TIE
        if len(theirs) != len(own) or any(told * step > most + step for told, step in zip(theirs, steps, strict=True)):
            raise PeerError("the peer's estimated gains do not fit the level")
        yield Note(GainsFact(Way.LEARNED, tuple(queries), theirs))
        return tuple(float(a + b) for a, b in zip(own, theirs, strict=True))

    def _told(self, queries: Sequence[Query], of_nodes: Sequence[float], steps: Sequence[float]) -> Iterator[int]:
        answers = self._estimates.answers(queries)
        gains = _flat(estimated_merits(answers, list(map(_records, queries)), self._growth, of_nodes))
        for gain, step, coarse in zip(gains, steps, coarseness(answers, self._growth.impurity), strict=True):
            yield round((max(gain, -self._most) + self._most) / (step * coarse)) * round(coarse)


class CopyGains:
    """Gains estimated from both disguised copies.

    Noisier than the mean by one more factor `1/|contrast|` wherever both a candidate and the class are disguised.

    Args:
        estimates: From both copies: equal on both sides. What their processors round differently is rounded away.
        growth: The measure, and the limits: what may not split a node, by these estimates, has no gain there.

    Discloses: nothing; nothing is sent.
    """

    def __init__(self, estimates: Estimates, growth: Growth = TO_THE_END) -> None:
        self._estimates, self._growth = estimates, growth

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        self._estimates.advance(expressions)

    def gains(self, queries: Sequence[Query]) -> Role[Sequence[float]]:
        """Compute the gains; yields nothing."""
        yield from ()
        answers = self._estimates.answers(queries)
        gains = _flat(estimated_merits(answers, list(map(_records, queries)), self._growth))
        return [gain if gain == CANNOT else round(gain / FINEST_STEP) * FINEST_STEP for gain in gains]


def _flat(values: Iterable[Iterable[float]]) -> list[float]:
    return [value for each in values for value in each]


def _records(query: Query) -> float:
    assert query.class_counts is not None  # noqa: S101  # told before a tree is grown by two parties
    return sum(query.class_counts)
