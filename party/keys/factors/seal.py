"""How a store of factors is sealed: its header, and its blocks, each encrypted and authenticated.

A block is a random nonce and what ChaCha20-Poly1305 makes of the factors, under a key that the party's `secret.key`
and the store's id give. Authenticated with it are the header (format, key, id), the block's number and the tag of the
block below. So no block can be changed, moved, left out, or brought from another store; and the topmost tag fixes all.
"""

import hashlib
import os
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from party.errors import FactorsError
from protocols.ciphers.port import AnyCiphertexts
from protocols.randomness import canonical

ID_BYTES = 16
TAG_BYTES = 16
BOTTOM = bytes(TAG_BYTES)  # what stands below the lowest block
MAGIC = b"cotally-factors/1\n"

_NONCE_BYTES = 12
_KEY_BYTES = 32
_HEADER = struct.Struct(f">{len(MAGIC)}s32sII{ID_BYTES}s")
HEADER_BYTES = _HEADER.size


def derive_key(secret: bytes, purpose: bytes, salt: bytes) -> bytes:
    """Return a key for one purpose by HKDF."""
    return HKDF(SHA256(), _KEY_BYTES, salt, b"cotally factors/1 " + purpose).derive(secret)


def key_digest(cipher: AnyCiphertexts) -> bytes:
    """Return the SHA-256 of the public key: the key to which factors belong."""
    return hashlib.sha256(cipher.key_bytes).digest()


class Seal:
    """Seals and opens the blocks of one store.

    Args:
        secret: The party's, from which the key is derived.
        cipher: Under the key that the factors are of.
        block_factors: How many make a block.
        store: The id of the store, random.
    """

    def __init__(self, secret: bytes, cipher: AnyCiphertexts, block_factors: int, store: bytes) -> None:
        self.store = store
        self._cipher, self._block_factors = cipher, block_factors
        self._box = ChaCha20Poly1305(derive_key(secret, b"seal", store))

    def __repr__(self) -> str:
        return f"Seal({self._cipher!r})"

    @property
    def header(self) -> bytes:
        """What the file begins with."""
        length = self._cipher.ciphertext_bytes
        return _HEADER.pack(MAGIC, key_digest(self._cipher), length, self._block_factors, self.store)

    @property
    def block_bytes(self) -> int:
        """Length of a sealed block."""
        return _NONCE_BYTES + self._block_factors * self._cipher.ciphertext_bytes + TAG_BYTES

    def close(self, factors: bytes, number: int, below: bytes) -> bytes:
        """Seal a block. NB: the nonce is drawn anew, as a number may come again after its block was taken."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._box.encrypt(nonce, factors, self._bound(number, below))

    def open(self, block: bytes, number: int, below: bytes) -> bytes:
        """Return the factors of a block.

        Raises:
            FactorsError: It is not the block that was sealed there.
        """
        try:
            return self._box.decrypt(block[:_NONCE_BYTES], block[_NONCE_BYTES:], self._bound(number, below))
        except InvalidTag:
            raise FactorsError(f"block {number} is damaged or does not belong there") from None

    def _bound(self, number: int, below: bytes) -> bytes:
        return canonical(self.header, number.to_bytes(8, "big"), below)


def read_header(data: bytes, secret: bytes, cipher: AnyCiphertexts, block_factors: int) -> Seal:
    """Return the seal of a store whose file begins with these bytes.

    Raises:
        FactorsError: It is not a store, or one of another format or key.
    """
    if len(data) != HEADER_BYTES or not data.startswith(MAGIC):
        raise FactorsError("it is cut short or not a store of factors")
    seal = Seal(secret, cipher, block_factors, data[-ID_BYTES:])
    if data != seal.header:
        raise FactorsError("its factors are of another key or cipher, or of another format")
    return seal
