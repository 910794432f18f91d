"""The last step that both secure engines share: packed encryptions one way, checked counts the other (DESIGN 6.3)."""

from collections.abc import Sequence
from typing import Generic

from protocols.ciphers.port import AnyCiphertexts, Ciphertexts, KeyHolder, Reply, Shape, Values
from protocols.counting.checks import Checks
from protocols.counts import Answer, Query
from protocols.errors import DeviationError
from protocols.messages import ExactCounts, PackedCounts
from protocols.randomness import Randomness
from protocols.role import Role, Send, receive

REPLY_PAGE_BYTES = 1 << 20


def page_length(cipher: AnyCiphertexts) -> int:
    """Return how many ciphertexts make a page of about 1 MiB."""
    return max(1, REPLY_PAGE_BYTES // cipher.ciphertext_bytes)


class KeyHolderReplies(Generic[Values]):
    """The key holder's half: decrypt, check, tell. A raw decryption never leaves (FAULTS A12).

    Discloses: to the peer, the exact counts that it asked for, once they have passed the checks.
    """

    def __init__(self, key: KeyHolder[Values], checks: Checks, records: int, tests: int) -> None:
        self.key, self._checks, self._records, self._tests = key, checks, records, tests

    def answers(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Receive the encrypted counts of a batch, one per item, check them and only then tell them.

        Raises:
            DeviationError: A check failed; nothing is told.
        """
        counts = yield from self.decrypt([Shape(self._checks.size(queries), 1)], self._records)
        return (yield from self.tell(queries, counts))

    def tell(self, queries: Sequence[Query], counts: Sequence[int]) -> Role[list[Answer]]:
        """Check counts in the order of the queries, tell them, and return the answers."""
        answers = self._checks.answers(queries, counts)
        yield Send(ExactCounts(tuple(counts)))
        return answers

    def decrypt(self, shapes: Sequence[Shape], largest: int) -> Role[list[int]]:
        """Receive one message with all items of these shapes and return their counts in order."""
        return self.key.counts((yield from receive(PackedCounts)).ciphertexts, shapes, largest)

    def correct(self) -> Role[float]:
        """Receive, decrypt and tell the number of correctly classified test records."""
        if not self._tests:
            return 0.0
        (count,) = yield from self.decrypt([Shape(1, 1)], self._tests)
        yield Send(ExactCounts((count,)))
        return float(count)


class EvaluatorReplies(Generic[Values]):
    """The evaluator's half: seal, send, and check what the key holder tells.

    Discloses: to the peer, rerandomized encryptions of the exact counts that both ask for; of other sums, if it has
        encrypted anything but bits (DESIGN 6.5).
    """

    def __init__(
        self, cipher: Ciphertexts[Values], checks: Checks, records: int, tests: int, randomness: Randomness
    ) -> None:
        self.cipher, self._checks = cipher, checks
        self._records, self._tests, self._randomness = records, tests, randomness

    def answers(self, queries: Sequence[Query], replies: Sequence[Reply[Values]]) -> Role[list[Answer]]:
        """Send the encrypted counts of a batch and return what the key holder tells, checked.

        Raises:
            DeviationError: The counts cannot be true.
        """
        yield Send(self._sealed(replies, self._records))
        return self._checks.answers(queries, (yield from receive(ExactCounts)).values)

    def _sealed(self, replies: Sequence[Reply[Values]], largest: int) -> PackedCounts:
        return PackedCounts(self.cipher.seal(replies, largest, self._randomness))

    def correct(self, total: Values) -> Role[float]:
        """Send the encrypted number of correctly classified test records and return what the key holder tells."""
        if not self._tests:
            return 0.0
        yield Send(self._sealed([Reply(total, slots=1)], self._tests))
        counts = (yield from receive(ExactCounts)).values
        if len(counts) != 1 or not 0 <= counts[0] <= self._tests:
            raise DeviationError
        return float(counts[0])
