"""Encryption by the key holder, and the only way in and out for ciphertexts (DESIGN 6.5).

    Enc(m; r) = (rG, rX + mG) = (rG, (rx + m)G)

`read_pairs` is the only way in. `write_pairs` is the only way out, and takes only what the encryptor or `sealing` made:
a sum of received ciphertexts would show the peer, by its randomness, which of them were added (FAULTS A2).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from protocols.ciphers.curve import (
    FORM_BYTES,
    ORDER,
    POINT_BYTES,
    NotAPointError,
    Points,
    read_points,
    write_points,
)
from protocols.ciphers.draws import watched
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.elgamal.point_table import GENERATOR, table_of
from protocols.ciphers.elgamal.values import HALVES
from protocols.errors import DeviationError, InputError, PeerError
from protocols.randomness import Randomness

CIPHERTEXT_BYTES = HALVES * POINT_BYTES


@dataclass(frozen=True, repr=False)
class FreshPairs:
    """Ciphertexts as they cross, whose randomness is new, uniform and used nowhere else.

    NB: constructed in `encryption` and `sealing` only; a test reads the sources for it.
    """

    page: bytes

    def __len__(self) -> int:
        return len(self.page) // CIPHERTEXT_BYTES

    def __repr__(self) -> str:
        return f"FreshPairs({len(self)})"


def read_pairs(data: bytes) -> Points:
    """Read ciphertexts, one after the other; one bad ciphertext refuses them all (FAULTS A14).

    Raises:
        PeerError: The length is not a multiple of a ciphertext's.
        DeviationError: A half of one of them is not a point of the curve, or is at infinity; or its randomness is 1 or
            -1, as nobody draws it, so that it shows its plaintext to everybody.
    """
    if len(data) % CIPHERTEXT_BYTES:
        raise PeerError("a page must hold whole ciphertexts")
    multiples = np.frombuffer(data, dtype=np.uint8).reshape(-1, CIPHERTEXT_BYTES)[:, 1:POINT_BYTES]
    if (multiples == np.frombuffer(GENERATOR[1:], dtype=np.uint8)).all(axis=1).any():
        raise DeviationError
    try:
        return read_points(data).reshape(-1, HALVES, FORM_BYTES)
    except NotAPointError:
        raise DeviationError from None


def write_pairs(ciphertexts: FreshPairs) -> bytes:
    """Write fresh ciphertexts for the wire.

    Raises:
        InputError: They are not `FreshPairs`.
    """
    if not isinstance(ciphertexts, FreshPairs):
        raise InputError("only fresh ciphertexts may leave")
    return ciphertexts.page


class CurveEncryptor:
    """Encrypts under our own key, many messages at a time; the table of G is made at the first use, in 40 ms."""

    def __init__(self, private_key: CurvePrivateKey, randomness: Randomness) -> None:
        self._key, self._randomness = private_key, watched(randomness)

    def __repr__(self) -> str:
        return "CurveEncryptor(secp256k1)"

    def encrypt(self, messages: Sequence[int]) -> FreshPairs:
        """Encrypt integers.

        Raises:
            InputError: A message is not in `0 .. ORDER - 2`, or the source of randomness failed.
        """
        _check(messages)
        secret, base = self._key.secret, table_of(GENERATOR)
        randoms = [self._randomness.randbelow(ORDER) for _ in messages]
        points = np.empty((len(messages), HALVES, FORM_BYTES), dtype=np.uint8)
        points[:, 0] = base.multiply(randoms)
        points[:, 1] = base.multiply([r * secret + m for r, m in zip(randoms, messages, strict=True)])
        return FreshPairs(write_fresh(points))

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Encrypt page by page."""
        return (write_pairs(self.encrypt(messages)) for messages in pages)


def write_fresh(points: Points) -> bytes:
    """Write points made with fresh chance.

    Raises:
        InputError: One of them is at infinity, which happens by chance once in 2**255 times.
    """
    try:
        return write_points(points)
    except NotAPointError:
        raise InputError("the source of randomness failed") from None


def _check(messages: Sequence[int]) -> None:
    if not all(0 <= message < ORDER - 1 for message in messages):
        raise InputError("a message must be at least 0 and below the order of the group")
