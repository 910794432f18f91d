"""Paillier behind the port of ciphers (`protocols.ciphers.port`), with the proof that a modulus hides (FAULTS A4).

Adding plaintexts is multiplying ciphertexts modulo `N**2`, and a public number `k` is added by
multiplying by `1 + N*k`. Nothing, a sum of no ciphertexts, is None.

The owner of a modulus `N` proves that it hides what is encrypted under it: `gcd(N, phi(N)) = 1`. Only then has every
residue one N-th root, so that a random N-th power hides a ciphertext perfectly. The key holder, who can take roots,
shows one of each of a few residues that a hash has drawn. Where a prime above the bound of trial division divides both
`N` and `phi(N)`, at most one residue in as many as that prime has a root, so that `ROUNDS` are found by luck with a
chance below `2**-128` (Goldberg, Reyzin, Sagga and Baldimtsi, Efficient Noninteractive Certification of RSA Moduli and
Beyond, ASIACRYPT 2019). The hash covers the run and the prover: no proof serves twice.

A prime would pass: compositeness, small factors and powers are tested beside it (`check_peer_modulus`).

Discloses: nothing of the factors; what is shown could be made by drawing the roots first.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.paillier.arithmetic import (
    SMALL_FACTOR_LIMIT,
    Integer,
    from_bytes,
    gcd,
    multiply_into,
    powmod,
    to_bytes,
)
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey, check_peer_modulus
from protocols.ciphers.paillier.packing import (
    pack_bits,
    pack_counts,
    read_page,
    slot_width,
    slots_per_reply,
    unpack_counts,
    write_page,
)
from protocols.ciphers.port import Reply, Shape
from protocols.errors import PeerError
from protocols.randomness import Randomness, canonical, watched
from protocols.tables import Index

SECURITY_BITS = 128
ROUNDS = -(-SECURITY_BITS // (SMALL_FACTOR_LIMIT.bit_length() - 1))
_EXCESS_BYTES = 16  # beyond the modulus, so that residues are drawn evenly but for 2**-128


def prove(key: PrivateKey, context: bytes) -> list[Integer]:
    """Return the N-th roots of the residues that this context, which names the run and the prover, draws."""
    return [key.root(residue) for residue in _residues(key.public_key, context)]


def verify(key: PublicKey, roots: Sequence[Integer], context: bytes) -> None:
    """Refuse a modulus, let in by `check_peer_modulus`, whose owner cannot take roots."""
    n = key.n
    found = len(roots) == ROUNDS and all(
        0 < root < n and gcd(residue, n) == 1 and powmod(root, n, n) == residue
        for root, residue in zip(roots, _residues(key, context), strict=True)
    )
    if not found:
        raise PeerError("the peer's modulus is not proved to hide what is encrypted under it")


def _residues(key: PublicKey, context: bytes) -> Iterator[Integer]:
    data = key.modulus_bytes
    for number in range(ROUNDS):
        seed = canonical(b"cotally modulus proof", context, data, number.to_bytes(4, "big"))
        yield from_bytes(hashlib.shake_256(seed).digest(len(data) + _EXCESS_BYTES)) % key.n


_KEYS_KEPT = 4
_LENGTH_BYTES = 2
_TABLE_BYTES_PER_BIT = 16 * 1024


class PaillierValues:
    """Ciphertexts modulo `N**2`, None for nothing; pickled as one string of bytes, at half the cost of one by one."""

    def __init__(self, numbers: list[Integer | None], ciphertext_bytes: int) -> None:
        self.numbers, self._bytes = numbers, ciphertext_bytes

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"<PaillierValues {len(self)}>"

    def __reduce__(self) -> tuple[Callable[..., "PaillierValues"], tuple[bytes, int]]:
        return _unpacked, (b"".join(to_bytes(Integer(n or 0), self._bytes) for n in self.numbers), self._bytes)


def _unpacked(data: bytes, length: int) -> PaillierValues:
    """Read a pickle; 0, which is no ciphertext, stands for nothing."""
    return PaillierValues([from_bytes(data[i : i + length]) or None for i in range(0, len(data), length)], length)


class PaillierSums:
    """Running products, one per group."""

    def __init__(self, groups: int, public_key: PublicKey) -> None:
        self._products: list[Integer | None] = [None] * groups
        self._key = public_key

    def add(self, values: PaillierValues, groups: Index) -> None:
        """Multiply each ciphertext into its group's product."""
        multiply_into(self._products, values.numbers, groups, self._key.n_square)

    def totals(self) -> PaillierValues:
        """Return the products."""
        return PaillierValues(self._products, self._key.ciphertext_bytes)


@dataclass(frozen=True, repr=False)
class PaillierCiphertexts:
    """Ciphertexts under a public key."""

    public_key: PublicKey

    def __repr__(self) -> str:
        return f"PaillierCiphertexts({self.public_key.bits} bits)"

    @property
    def ciphertext_bytes(self) -> int:
        """Length of one ciphertext on the wire."""
        return self.public_key.ciphertext_bytes

    def fingerprint(self) -> str:
        """Return the digest of the modulus."""
        return self.public_key.fingerprint()

    def read(self, page: bytes) -> PaillierValues:
        """Read units modulo `N**2`."""
        return self._values(list(read_page(self.public_key, page)))

    def join(self, parts: Sequence[PaillierValues]) -> PaillierValues:
        """Put lists one after the other."""
        return self._values([number for part in parts for number in part.numbers])

    def take(self, values: PaillierValues, rows: Index) -> PaillierValues:
        """Return some of the numbers."""
        return self._values([values.numbers[row] for row in rows.tolist()])

    def sums(self, groups: int) -> PaillierSums:
        """Begin products."""
        return PaillierSums(groups, self.public_key)

    def add_to_slots(self, values: PaillierValues, numbers: Sequence[Sequence[int]], largest: int) -> PaillierValues:
        """Lay the numbers side by side, and add them at once."""
        width = slot_width(largest)
        packed = [sum(number << (width * j) for j, number in enumerate(item)) for item in numbers]
        return self._plus(values, packed)

    def slots(self, largest: int) -> int:
        """Return how many slots of the width of a count fit below the mask."""
        return slots_per_reply(self.public_key, slot_width(largest))

    def packing_additions(self, largest: int) -> int:
        """Return the squarings that move a count up by its width."""
        return slot_width(largest)

    def seal(self, replies: Sequence[Reply[PaillierValues]], largest: int, randomness: Randomness) -> bytes:
        """Pack as many items as fit into each ciphertext, masked and fresh."""
        source, width = watched(randomness), slot_width(largest)
        packed = (pack_counts(self.public_key, reply.items.numbers, width * reply.slots, source) for reply in replies)
        return b"".join(write_page(self.public_key, page) for page in packed)

    def _plus(self, values: PaillierValues, numbers: Sequence[int]) -> PaillierValues:
        n, n_square = self.public_key.n, self.public_key.n_square
        return self._values(
            [
                (Integer(1) if value is None else value) * (1 + n * number) % n_square
                for value, number in zip(values.numbers, numbers, strict=True)
            ]
        )

    def _values(self, numbers: list[Integer | None]) -> PaillierValues:
        return PaillierValues(numbers, self.public_key.ciphertext_bytes)


class PaillierEncryptor:
    """Encrypts in this process; the tables of the key are made once."""

    def __init__(self, encryptor: Encryptor, public_key: PublicKey) -> None:
        self._encryptor, self._key = encryptor, public_key

    def __repr__(self) -> str:
        return f"Paillier{self._encryptor!r}"

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Encrypt page by page."""
        return (write_page(self._key, self._encryptor.encrypt(messages)) for messages in pages)


@dataclass(frozen=True, eq=False, repr=False)
class PaillierKeyHolder:
    """A private key. Two are equal if they have the same; a pickle holds the factors, which are not tested again."""

    private_key: PrivateKey

    def __repr__(self) -> str:
        return f"PaillierKeyHolder({self.bits} bits)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PaillierKeyHolder) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __reduce__(self) -> tuple[Callable[..., "PaillierKeyHolder"], tuple[Integer, Integer]]:
        return _holder, self._identity

    @property
    def _identity(self) -> tuple[Integer, Integer]:
        return self.private_key.p, self.private_key.q

    @cached_property
    def public(self) -> PaillierCiphertexts:
        """The evaluator's side."""
        return PaillierCiphertexts(self.private_key.public_key)

    @property
    def bits(self) -> int:
        """Length of the modulus."""
        return self.private_key.public_key.bits

    def announce(self, context: bytes) -> bytes:
        """Return the modulus and the roots that prove it, all of one length, which stands before them."""
        modulus = self.private_key.public_key.modulus_bytes
        roots = (to_bytes(root, len(modulus)) for root in prove(self.private_key, context))
        return b"".join((len(modulus).to_bytes(_LENGTH_BYTES, "big"), modulus, *roots))

    def read_peer(self, announcement: bytes, floor_bits: int, context: bytes) -> PaillierCiphertexts:
        """Check the peer's modulus against ours and the floor, then the proof."""
        length, numbers = int.from_bytes(announcement[:_LENGTH_BYTES], "big"), announcement[_LENGTH_BYTES:]
        if not length or len(numbers) != length * (1 + ROUNDS):
            raise PeerError(f"the peer must send its modulus and {ROUNDS} numbers of the same length that prove it")
        parts = [numbers[start : start + length] for start in range(0, len(numbers), length)]
        key = check_peer_modulus(parts[0], floor_bits, self.private_key.public_key.n)
        verify(key, [from_bytes(part) for part in parts[1:]], context)
        return PaillierCiphertexts(key)

    def encryption(self, randomness: Randomness) -> PaillierEncryptor:
        """Return an encryptor with tables of its own, made at its first use."""
        return PaillierEncryptor(Encryptor(self.private_key, randomness), self.private_key.public_key)

    def table_bytes(self, largest: int) -> int:
        """Of the powers of two bases; counts are read without."""
        del largest
        return self.bits * _TABLE_BYTES_PER_BIT

    def pack(self, columns: NDArray[np.bool_], largest: int) -> list[int]:
        """Lay bits side by side, each as wide as a count."""
        return pack_bits(columns, slot_width(largest))

    def counts(self, sealed: bytes, shapes: Sequence[Shape], largest: int) -> list[int]:
        """Decrypt, slot by slot."""
        key, width = self.private_key.public_key, slot_width(largest)
        ciphertexts = read_page(key, sealed)
        counts: list[int] = []
        for shape in shapes:
            fit = slots_per_reply(key, width * shape.slots)
            chunk = -(-shape.items // fit)
            part, ciphertexts = ciphertexts[:chunk], ciphertexts[chunk:]
            counts += unpack_counts(self.private_key, part, shape.items, width, largest, shape.slots)
        if ciphertexts:
            raise PeerError("the peer sent more replies than were asked for")
        return counts


@lru_cache(maxsize=_KEYS_KEPT)
def _holder(p: Integer, q: Integer) -> PaillierKeyHolder:
    """Make a key holder from a pickle, once per key: its primes are not tested for every page."""
    return PaillierKeyHolder(PrivateKey(p, q))
