"""THE PORT of additively homomorphic ciphers: all that counting may ask of one (DESIGN 6).

The key holder encrypts, packs and decrypts; the evaluator adds ciphertexts and seals what it returns. A cipher keeps
its ciphertexts in a form of its own, `Values`: many at a time, so that an implementation may hold them in one array.
One of them may be *nothing*: a sum of no ciphertexts, which counts as zero and costs no operation.

How many counts fit a plaintext, how they are packed, masked and looked up is the cipher's own affair: here a reply has
`items`, each with as many `slots` as the key holder packed columns into one plaintext.

Security: each method says what it lets out. `seal` and the encryptor are the only ways out, and everything that they
write is fresh; `read` is the only way in.
"""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from protocols.randomness import Randomness
from protocols.tables import Index
from protocols.work import PageEncryptor

Values = TypeVar("Values", bound=Sized)


@dataclass(frozen=True)
class Shape:
    """What the key holder knows of a reply before it comes: `items` of `slots` counts each."""

    items: int
    slots: int


@dataclass(frozen=True, repr=False)
class Reply(Generic[Values]):
    """Encrypted items of one shape: each holds `slots` counts, the lowest first."""

    items: Values
    slots: int


class Sums(Protocol[Values]):
    """Running sums of ciphertexts by group: an encrypted, weighted `numpy.bincount` (DESIGN 5.1)."""

    def add(self, values: Values, groups: Index) -> None:
        """Add each value to the sum of its group; nothing adds nothing."""

    def totals(self) -> Values:
        """Return the sum of each group; nothing for a group to which nothing was added."""


class Ciphertexts(Protocol[Values]):
    """The evaluator's side: ciphertexts under the key holder's public key. Picklable, and it holds no private key."""

    @property
    def ciphertext_bytes(self) -> int:
        """Length of one ciphertext on the wire."""

    def fingerprint(self) -> str:
        """Return a digest of the public key, for two people to compare."""

    def read(self, page: bytes) -> Values:
        """Read the ciphertexts of a page; one bad ciphertext refuses them all."""

    def join(self, parts: Sequence[Values]) -> Values:
        """Put the ciphertexts of all parts one after the other."""

    def take(self, values: Values, rows: Index) -> Values:
        """Return these rows of the values, in this order."""

    def sums(self, groups: int) -> Sums[Values]:
        """Begin sums of `groups` groups, each of nothing."""

    def add_to_slots(self, values: Values, numbers: Sequence[Sequence[int]], largest: int) -> Values:
        """Add public numbers, none negative, to each item, the lowest slot first; nothing becomes the numbers.

        Slots are made for numbers of up to `largest`, as in `seal`.
        """

    def slots(self, largest: int) -> int:
        """Return how many counts of up to `largest` one plaintext may hold.

        Raises:
            InputError: Not even one (FAULTS A13, case 32).
        """

    def packing_additions(self, largest: int) -> int:
        """Return how many additions of ciphertexts it costs to lay a count of up to `largest` beside others."""

    def seal(self, replies: Sequence[Reply[Values]], largest: int, randomness: Randomness) -> bytes:
        """Write replies, items of any shapes, so that the key holder learns their counts and nothing else (FAULTS A2).

        `largest` is the largest count that can be true, `randomness` the evaluator's.
        """


class KeyHolder(Protocol[Values]):
    """The key holder's side. Picklable, and anybody who has it can decrypt."""

    def __hash__(self) -> int:
        """Equal keys have equal hashes: what is made once per key is kept under it."""

    @property
    def public(self) -> Ciphertexts[Values]:
        """What the evaluator works with."""

    @property
    def bits(self) -> int:
        """Strength of the key in the measure of the terms: the length of a modulus that is as hard to factor."""

    def announce(self, context: bytes) -> bytes:
        """Return the public key as it crosses, with what proves it for the run and side that `context` names alone."""

    def read_peer(self, announcement: bytes, floor_bits: int, context: bytes) -> Ciphertexts[Values]:
        """Let in a peer's public key of this cipher, or refuse it (FAULTS cases 10-18)."""

    def encryption(self, randomness: Randomness) -> PageEncryptor:
        """Return an encryptor that works in this process."""

    def table_bytes(self, largest: int) -> int:
        """Return the memory of what is made once to encrypt, and to read counts of up to `largest`."""

    def pack(self, columns: NDArray[np.bool_], largest: int) -> list[int]:
        """For each record, return a plaintext that holds its bits, column `j` in slot `j`."""

    def counts(self, sealed: bytes, shapes: Sequence[Shape], largest: int) -> list[int]:
        """Decrypt replies to the counts of all their slots, in order. Nothing else of a plaintext is returned."""


AnyCiphertexts = Ciphertexts[Any]
AnyKeyHolder = KeyHolder[Any]


def sum_by_group(cipher: Ciphertexts[Values], values: Values, groups: Index, count: int) -> Values:
    """Return the sum of each of `count` groups at once."""
    sums = cipher.sums(count)
    sums.add(values, groups)
    return sums.totals()
