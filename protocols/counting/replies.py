"""The last step that both secure engines share: packed encryptions one way, checked counts the other (DESIGN 6.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.counting.checks import Checks
from protocols.counting.engine import Answer, Query
from protocols.errors import DeviationError, PeerError
from protocols.messages import ExactCounts, PackedCounts
from protocols.paillier.arithmetic import Integer
from protocols.paillier.ciphertext import read_page, write_page
from protocols.paillier.keys import PrivateKey, PublicKey
from protocols.paillier.packing import pack_counts, slot_width, slots_per_reply, unpack_counts
from protocols.randomness import Randomness
from protocols.role import Role, Send, receive

PAGE_BYTES = 1 << 20


def page_length(public_key: PublicKey) -> int:
    """Return how many ciphertexts make a page of about 1 MiB."""
    return max(1, PAGE_BYTES // public_key.ciphertext_bytes)


@dataclass(frozen=True, repr=False)
class Reply:
    """Encrypted items of one shape: each holds `slots` counts, the lowest first; None is a zero item."""

    cells: tuple[Integer | None, ...]
    slots: int


@dataclass(frozen=True)
class Shape:
    """What the key holder knows of a `Reply` before it comes."""

    items: int
    slots: int


class Telling:
    """The key holder's half: decrypt, check, tell. A raw decryption never leaves (FAULTS A12).

    Discloses: to the peer, the exact counts that it asked for, once they have passed the checks.
    """

    def __init__(self, private_key: PrivateKey, checks: Checks, records: int, tests: int) -> None:
        self._key, self._checks, self._records, self._tests = private_key, checks, records, tests

    @property
    def public_key(self) -> PublicKey:
        """The key under which the evaluator works."""
        return self._key.public_key

    def answers(self, queries: Sequence[Query]) -> Role[list[Answer]]:
        """Receive the encrypted counts of a batch, one an item, check them and only then tell them.

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
        ciphertexts = read_page(self.public_key, (yield from receive(PackedCounts)).ciphertexts)
        counts: list[int] = []
        width = slot_width(largest)
        for shape in shapes:
            fit = slots_per_reply(self.public_key, width * shape.slots)
            chunk = -(-shape.items // fit)
            part, ciphertexts = ciphertexts[:chunk], ciphertexts[chunk:]
            counts += unpack_counts(self._key, part, shape.items, width, largest, shape.slots)
        if ciphertexts:
            raise PeerError("the peer sent more replies than were asked for")
        return counts

    def correct(self) -> Role[float]:
        """Receive, decrypt and tell the number of rightly classified test records."""
        if not self._tests:
            return 0.0
        (count,) = yield from self.decrypt([Shape(1, 1)], self._tests)
        yield Send(ExactCounts((count,)))
        return float(count)


class Replying:
    """The evaluator's half: pack, rerandomize, send, and check what the key holder tells.

    Discloses: to the peer, rerandomized encryptions of the exact counts that both ask for.
    """

    def __init__(self, public_key: PublicKey, checks: Checks, records: int, tests: int, randomness: Randomness) -> None:
        self._key, self._checks = public_key, checks
        self._records, self._tests, self._randomness = records, tests, randomness

    def answers(self, queries: Sequence[Query], replies: Sequence[Reply]) -> Role[list[Answer]]:
        """Send the encrypted counts of a batch and return what the key holder tells, checked.

        Raises:
            DeviationError: The counts cannot be true.
        """
        yield Send(self._packed(replies, self._records))
        return self._checks.answers(queries, (yield from receive(ExactCounts)).values)

    def _packed(self, replies: Sequence[Reply], largest: int) -> PackedCounts:
        width = slot_width(largest)
        pages = (
            write_page(self._key, pack_counts(self._key, reply.cells, width * reply.slots, self._randomness))
            for reply in replies
        )
        return PackedCounts(b"".join(pages))

    def correct(self, total: Integer | None) -> Role[float]:
        """Send the encrypted number of rightly classified test records and return what the key holder tells."""
        if not self._tests:
            return 0.0
        yield Send(self._packed([Reply((total,), slots=1)], self._tests))
        counts = (yield from receive(ExactCounts)).values
        if len(counts) != 1 or not 0 <= counts[0] <= self._tests:
            raise DeviationError
        return float(counts[0])
