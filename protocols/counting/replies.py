"""The last step that both secure engines share: packed encryptions one way, checked counts the other (DESIGN 6.3).

With noise (DESIGN 14) each side adds its own before the other can see a number, and both check what is told. The
decision of a check is a function of told numbers, so it tells nothing that they do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from protocols.ciphers.port import AnyCiphertexts, Ciphertexts, KeyHolder, Reply, Shape, Values
from protocols.counting.checks import Checks
from protocols.counts import Answer, Correct, Learned, Query
from protocols.errors import DeviationError
from protocols.facts import CorrectFact, CountsFact, SetsFact, Way
from protocols.messages import ExactCounts, PackedCounts
from protocols.noise.both import EXACT, Noises
from protocols.randomness import Randomness
from protocols.role import Note, Role, Send, receive
from protocols.tables.expression import Expression

REPLY_PAGE_BYTES = 1 << 20


@dataclass(frozen=True, repr=False)
class PlacedReply(Generic[Values]):
    """A reply, and for each of its items which counts of the batch its slots are."""

    reply: Reply[Values]
    cells: Sequence[Sequence[int]]


def page_length(cipher: AnyCiphertexts) -> int:
    """Return how many ciphertexts make a page of about 1 MiB."""
    return max(1, REPLY_PAGE_BYTES // cipher.ciphertext_bytes)


class KeyHolderReplies(Generic[Values]):
    """The key holder's half: decrypt, add its own noise if there is any, check, tell.

    A raw decryption never leaves (FAULTS A12). `sizes` are the numbers of training and test records.

    Discloses: to the peer, the counts that it asked for, exact or with our noise, once they have passed the checks.
    """

    def __init__(self, key: KeyHolder[Values], checks: Checks, sizes: tuple[int, int], noises: Noises = EXACT) -> None:
        self.key, self._checks, self._noises = key, checks, noises
        self._records, self._tests = sizes

    @property
    def largest(self) -> int:
        """The largest number that a slot of a sealed count may hold."""
        return self._records + 2 * self._noises.cells.theirs

    def answers(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Receive the encrypted counts of a batch, one per item, check them and only then tell them.

        Raises:
            DeviationError: A check failed; nothing is told.
        """
        return (yield from self.tell(queries, (yield from self.decrypt([Shape(self._checks.size(queries), 1)]))))

    def tell(self, queries: Sequence[Query], counts: Sequence[int]) -> Role[list[Answer]]:
        """Check decrypted numbers, in the order of the queries, with our noise; tell them, and return the answers."""
        noise, lift = self._noises.of_cells(queries, self._checks.schema), self._noises.cells
        told = [count - lift.theirs + own for count, own in zip(counts, noise, strict=True)]
        answers = self._checks.answers(queries, told)
        yield Note(CountsFact(Way.BOTH, tuple(queries), tuple(told)))
        yield Send(ExactCounts(tuple(number + lift.both for number in told)))
        return answers

    def decrypt(self, shapes: Sequence[Shape]) -> Role[list[int]]:
        """Receive one message with all items of these shapes and return their numbers in order, lifted if noisy."""
        return self.key.counts((yield from receive(PackedCounts)).ciphertexts, shapes, self.largest)

    def correct(self, model: Learned) -> Role[Correct]:
        """Receive, decrypt and tell the number of correctly classified test records."""
        if not self._tests:
            return Correct(0.0)
        lift = self._noises.accuracy
        sealed = (yield from receive(PackedCounts)).ciphertexts
        (number,) = self.key.counts(sealed, [Shape(1, 1)], self._tests + 2 * lift.theirs)
        told = number - lift.theirs + self._noises.of_accuracy(model.parts())
        yield Note(CorrectFact(Way.BOTH, told, self._tests))
        yield Send(ExactCounts((told + lift.both,)))
        return self._noises.correct(told, self._tests)

    def sets(self, asked: Sequence[Expression]) -> Role[list[int]]:
        """Receive, decrypt and tell of how many training records each of these is true.

        Raises:
            DeviationError: They cannot be true; nothing is told.
        """
        sealed = (yield from receive(PackedCounts)).ciphertexts
        counts = self.key.counts(sealed, [Shape(len(asked), 1)], self._records)
        told = _checked_sets(counts, asked, self._records)
        yield Note(SetsFact(Way.BOTH, tuple(asked), told))
        yield Send(ExactCounts(told))
        return list(told)


class EvaluatorReplies(Generic[Values]):
    """The evaluator's half: add its own noise if there is any, seal, send, and check what the key holder tells.

    `sizes` are the numbers of training and test records.

    Discloses: to the peer, rerandomized encryptions of the counts that both ask for, exact or with our noise; of other
        sums, if it has encrypted anything but bits (DESIGN 6.5).
    """

    def __init__(
        self,
        cipher: Ciphertexts[Values],
        checks: Checks,
        sizes: tuple[int, int],
        randomness: Randomness,
        noises: Noises = EXACT,
    ) -> None:
        self.cipher, self._checks, self._noises = cipher, checks, noises
        (self._records, self._tests), self._randomness = sizes, randomness

    @property
    def largest(self) -> int:
        """The largest number that a slot of a sealed count may hold."""
        return self._records + 2 * self._noises.cells.own

    def answers(self, queries: Sequence[Query], replies: Sequence[PlacedReply[Values]]) -> Role[list[Answer]]:
        """Send the encrypted counts of a batch and return what the key holder tells, checked.

        Raises:
            DeviationError: The counts cannot be true.
        """
        lift = self._noises.cells
        noise = self._noises.of_cells(queries, self._checks.schema)
        yield Note(CountsFact(Way.TOLD, tuple(queries), None))
        yield Send(self._sealed([self._noised(reply, noise) for reply in replies], self.largest))
        told = tuple(number - lift.both for number in (yield from receive(ExactCounts)).values)
        answers = self._checks.answers(queries, told)
        yield Note(CountsFact(Way.LEARNED, tuple(queries), told))
        return answers

    def _noised(self, reply: PlacedReply[Values], noise: Sequence[int]) -> Reply[Values]:
        """Add our noise, lifted, to the numbers of a reply; without noise it stays as it is."""
        lift = self._noises.cells.own
        if not lift:
            return reply.reply
        numbers = [[noise[cell] + lift for cell in cells] for cells in reply.cells]
        return Reply(self.cipher.add_to_slots(reply.reply.items, numbers, self.largest), reply.reply.slots)

    def _sealed(self, replies: Sequence[Reply[Values]], largest: int) -> PackedCounts:
        return PackedCounts(self.cipher.seal(replies, largest, self._randomness))

    def correct(self, model: Learned, total: Values) -> Role[Correct]:
        """Send the encrypted number of correctly classified test records and return what the key holder tells."""
        if not self._tests:
            return Correct(0.0)
        lift = self._noises.accuracy
        largest = self._tests + 2 * lift.own
        noisy = self.cipher.add_to_slots(total, [[self._noises.of_accuracy(model.parts()) + lift.own]], largest)
        yield Note(CorrectFact(Way.TOLD, None, self._tests))
        yield Send(self._sealed([Reply(noisy, slots=1)], largest))
        told = [number - lift.both for number in (yield from receive(ExactCounts)).values]
        if len(told) != 1 or not -lift.both <= told[0] <= self._tests + lift.both:
            raise DeviationError
        yield Note(CorrectFact(Way.LEARNED, told[0], self._tests))
        return self._noises.correct(told[0], self._tests)

    def sets(self, asked: Sequence[Expression], totals: Values) -> Role[list[int]]:
        """Send of how many training records each of these is true, encrypted, and return what the key holder tells.

        Raises:
            DeviationError: It cannot be true.
        """
        yield Note(SetsFact(Way.TOLD, tuple(asked), None))
        yield Send(self._sealed([Reply(totals, slots=1)], self._records))
        told = _checked_sets((yield from receive(ExactCounts)).values, asked, self._records)
        yield Note(SetsFact(Way.LEARNED, tuple(asked), told))
        return list(told)


def _checked_sets(told: Sequence[int], asked: Sequence[Expression], records: int) -> tuple[int, ...]:
    if len(told) != len(asked) or not all(0 <= count <= records for count in told):
        raise DeviationError
    return tuple(told)
