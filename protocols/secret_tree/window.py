"""Which candidates of a node are among the omega best, of gains that nobody sees (Hybrid section 3.1, step 4b).

Each side's estimated gains (`learning.merit`) are its own shares of their sums. Of each pair of candidates a sign
says which is the better one, of equals the first; how many are better than a candidate is a sum of shares of such
bits, and one more sign says whether that is below omega. That bit is opened, of each candidate of all nodes of a level
at once; no gain, no order, no sum is.

*Functionality*: the windows of the sums; nothing else is learned.
*Assumed*: as `oblivious.numbers`.
*Deviations*: as `oblivious.gates`; and a side may bring any gains, and so compare the other's with numbers of its
choice: at each node it hears in the window whether the other's leads of some candidates pass them.
*Never again*: as `oblivious.triples`; windows that both remember are not asked for again.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.counts import Estimates, Query
from protocols.errors import DeviationError
from protocols.facts import Way, WindowsFact
from protocols.learning.merit import sum_bits, whole_gains
from protocols.learning.whole import Whole
from protocols.oblivious.bits import WORD, Uint64s
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import are_negative, as_numbers, bits_of_lanes, filled, modulus_mask
from protocols.role import Note, Role
from protocols.tables import Expression
from protocols.terms import Growth


class SecretRanking:
    """One side's part of finding the windows of a run; what may not split a node, as we estimate, is the last there.

    Discloses: to both, which candidates of each node are in its window.
    """

    def __init__(
        self, estimates: Estimates, classes: int, growth: Growth, gates: Gates, answers: KeptAnswers | None = None
    ) -> None:
        self._estimates, self._classes, self._growth, self._gates = estimates, classes, growth, gates
        self._answers = KeptAnswers() if answers is None else answers

    def advance(self, expressions: Sequence[Expression]) -> None:
        """Move on to the nodes of the next level."""
        self._estimates.advance(expressions)

    def windows(self, queries: Sequence[Query], omega: int) -> Role[list[tuple[int, ...]]]:
        """Return the window of each node."""

        def fits(places: AnswerNumbers) -> bool:
            are_in, each = np.array(places), len(queries[0].candidates)
            if len(places) != len(queries) * each or not np.isin(are_in, (0, 1)).all():
                return False
            return bool((are_in.reshape(-1, each).sum(1) == omega).all())

        places = yield from self._answers.ask(self._opened(queries, omega), fits)
        return list(_chosen(queries, np.array(places, np.bool_).reshape(len(queries), -1)))

    def _opened(self, queries: Sequence[Query], omega: int) -> Role[AnswerNumbers]:
        gains = whole_gains(self._estimates, queries, self._classes, self._growth)
        fact = WindowsFact(Way.TOLD, tuple(queries), None)
        inside = yield from open_windows(self._gates, gains, omega, sum_bits(self._classes), fact)
        yield Note(WindowsFact(Way.BOTH, tuple(queries), tuple(_chosen(queries, inside))))
        return tuple(inside.ravel().astype(np.float64).tolist())


def _chosen(queries: Sequence[Query], inside: NDArray[np.bool_]) -> Iterator[tuple[int, ...]]:
    for query, row in zip(queries, inside, strict=True):
        yield tuple(candidate for candidate, is_in in zip(query.candidates, row.tolist(), strict=True) if is_in)


def open_windows(
    gates: Gates, gains: Whole, omega: int, width: int, fact: WindowsFact | None = None
) -> Role[NDArray[np.bool_]]:
    """Open which candidates, `omega` of more, are in the window of each node (`nodes x candidates`).

    `gains` are our summands of what is compared, alike; any two sums differ by less than `2**(width - 1)`. The fact is
    noted before.

    Discloses: to both, the windows.
    """
    nodes, count = gains.shape
    shares = yield from are_first(gates, gains.T.astype(WORD), omega, width)
    if fact is not None:
        yield Note(fact)
    opened = yield from gates.opened(shares)
    inside: NDArray[np.bool_] = bits_of_lanes(opened)[: nodes * count].reshape(count, nodes).T
    if (inside.sum(1) != omega).any():
        raise DeviationError
    return inside


def are_first(gates: Gates, numbers: Uint64s, omega: int, width: int) -> Role[Uint64s]:
    """Return shares of which numbers (`contestants x contests`) are among the omega largest, of equals the first.

    All lie one after the other in the lanes of what is returned.

    Discloses: nothing; what crosses is masked.
    """
    one, other = np.triu_indices(len(numbers), 1)
    leads = (numbers[one] - numbers[other]) & modulus_mask(width)
    behind = yield from are_negative(gates, filled(leads.reshape(-1)), width)
    places = len(numbers).bit_length() + 1
    (lanes,) = yield from as_numbers(gates, behind[None], [1], places)
    losses, ranks = lanes[: leads.size].reshape(leads.shape), np.zeros_like(numbers)
    np.add.at(ranks, one, losses)
    np.add.at(ranks, other, np.uint64(gates.first) - losses)
    ranks = (ranks - np.uint64(gates.first * omega)) & modulus_mask(places)
    return (yield from are_negative(gates, filled(ranks.reshape(-1)), places))
