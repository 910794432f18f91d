"""ElGamal on a curve behind the port (`protocols.ciphers.port`): the names of that port for this package.

Adding plaintexts is adding points, negating is negating both, and a public number stands beside the pair until it
leaves. A plaintext holds one count: what can be told from it is what can be looked up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.curve import ORDER, Points, add_points, multiply_secretly, negate_points
from protocols.ciphers.elgamal.encryption import (
    CIPHERTEXT_BYTES,
    CurveEncryptor,
    read_pairs,
    write_pairs,
)
from protocols.ciphers.elgamal.keys import MODULUS_BITS, CurvePrivateKey, CurvePublicKey, check_peer_key
from protocols.ciphers.elgamal.logarithms import BABY_BYTES, MOST_BABIES, logarithms
from protocols.ciphers.elgamal.point_table import TABLE_BYTES
from protocols.ciphers.elgamal.sealing import seal_pairs
from protocols.ciphers.elgamal.values import HELD_BYTES, CurveSums, CurveValues
from protocols.ciphers.port import Reply, Shape
from protocols.errors import InputError, PeerError
from protocols.randomness import Randomness
from protocols.tables.arrays import Index

MOST_COUNT = 1 << 32
"""The largest count that is looked up: 65,536 giant steps, a fifth of a second."""


@dataclass(frozen=True, repr=False)
class CurveCiphertexts:
    """Ciphertexts under a public key."""

    public_key: CurvePublicKey

    def __repr__(self) -> str:
        return "CurveCiphertexts(secp256k1)"

    @property
    def name(self) -> str:
        """As in the terms."""
        return "curve"

    @property
    def key_bytes(self) -> bytes:
        """The point, compressed."""
        return self.public_key.point

    @property
    def ciphertext_bytes(self) -> int:
        """Length of one ciphertext on the wire."""
        return CIPHERTEXT_BYTES

    @property
    def held_bytes(self) -> int:
        """Memory of two points and a number."""
        return HELD_BYTES

    def fingerprint(self) -> str:
        """Return the digest of the point."""
        return self.public_key.fingerprint()

    def read(self, page: bytes) -> CurveValues:
        """Read pairs of points."""
        return CurveValues.of(read_pairs(page))

    def join(self, parts: Sequence[CurveValues]) -> CurveValues:
        """Put arrays one after the other."""
        return CurveValues.join(parts)

    def take(self, values: CurveValues, rows: Index) -> CurveValues:
        """Return some of the rows."""
        return CurveValues(values.points[rows], values.numbers[rows])

    def sums(self, groups: int) -> CurveSums:
        """Begin sums."""
        return CurveSums(groups)

    def negate(self, values: CurveValues) -> CurveValues:
        """Negate both points, and the number."""
        return CurveValues(negate_points(values.points), -values.numbers)

    def add_numbers(self, values: CurveValues, numbers: NDArray[np.integer]) -> CurveValues:
        """Add to the numbers that stand beside the points."""
        return CurveValues(values.points, values.numbers + numbers)

    def add_to_slots(self, values: CurveValues, numbers: Sequence[Sequence[int]], largest: int) -> CurveValues:
        """Add each item's only number."""
        del largest
        return self.add_numbers(values, np.array([number for (number,) in numbers], dtype=np.int64))

    def slots(self, largest: int) -> int:
        """Return 1: a number made of two counts would be too large to look up."""
        if largest > MOST_COUNT:
            raise InputError(f"counts above {MOST_COUNT} cannot be looked up: use cipher paillier")
        return 1

    def packing_additions(self, largest: int) -> int:
        """Return 0: every count travels by itself."""
        del largest
        return 0

    def seal(self, replies: Sequence[Reply[CurveValues]], largest: int, randomness: Randomness) -> bytes:
        """Write each item as a fresh pair."""
        if any(reply.slots > self.slots(largest) for reply in replies):
            raise InputError("an item on the curve has one slot")
        return write_pairs(seal_pairs(self.public_key, self.join([reply.items for reply in replies]), randomness))


@dataclass(frozen=True, eq=False, repr=False)
class CurveKeyHolder:
    """A private key. Two are equal if they have the same number."""

    private_key: CurvePrivateKey

    def __repr__(self) -> str:
        return "CurveKeyHolder(secp256k1)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CurveKeyHolder) and self.private_key.secret == other.private_key.secret

    def __hash__(self) -> int:
        return hash(self.private_key.secret)

    def __reduce__(self) -> tuple[Callable[..., "CurveKeyHolder"], tuple[int]]:
        return _holder, (self.private_key.secret,)

    @property
    def public(self) -> CurveCiphertexts:
        """The evaluator's side."""
        return CurveCiphertexts(self.private_key.public_key)

    @property
    def bits(self) -> int:
        """The strength of the curve as that of a modulus: 128 bits of security, as 3,072 bits have (NIST SP 800-57)."""
        return MODULUS_BITS

    def announce(self, context: bytes) -> bytes:
        """Return the point; nothing has to be proved of it."""
        del context
        return self.public.key_bytes

    def read_peer(self, announcement: bytes, floor_bits: int, context: bytes) -> CurveCiphertexts:
        """Check the peer's point, and whether the curve reaches the floor."""
        del context
        if floor_bits > MODULUS_BITS:
            raise PeerError(
                f"the peer's key is as strong as a modulus of {MODULUS_BITS} bits; {floor_bits} are asked for"
            )
        return CurveCiphertexts(check_peer_key(announcement, self.private_key.public_key))

    def encryption(self, randomness: Randomness) -> CurveEncryptor:
        """Return an encryptor."""
        return CurveEncryptor(self.private_key, randomness)

    def table_bytes(self, largest: int) -> int:
        """Memory of the multiples of G, and of the table of the smallest of them."""
        return TABLE_BYTES + BABY_BYTES * min(largest, MOST_BABIES)

    def pack(self, columns: NDArray[np.bool_], largest: int) -> list[int]:
        """Return the bits of the only column."""
        if columns.shape[1] > self.public.slots(largest):
            raise InputError("a plaintext on the curve holds one column")
        bits: list[int] = columns[:, 0].astype(int).tolist()
        return bits

    def counts(self, sealed: bytes, shapes: Sequence[Shape], largest: int) -> list[int]:
        """Decrypt `B - xA` and look the counts up."""
        return logarithms(self._decrypted(sealed, sum(shape.items * shape.slots for shape in shapes)), largest)

    def _decrypted(self, sealed: bytes, items: int) -> Points:
        """Return `B - xA` of each pair."""
        pairs = read_pairs(sealed)
        if len(pairs) != items:
            raise PeerError("the peer sent more or fewer replies than were asked for")
        first, second = (np.ascontiguousarray(pairs[:, half]) for half in (0, 1))
        minus = [ORDER - self.private_key.secret] * len(pairs)
        return add_points(second, multiply_secretly(first, minus))


def _holder(secret: int) -> CurveKeyHolder:
    """Make a key holder from a pickle."""
    return CurveKeyHolder(CurvePrivateKey(secret))
