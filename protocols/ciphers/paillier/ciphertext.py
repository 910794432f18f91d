"""Ciphertexts crossing the wire: what comes in is checked, what goes out is fresh.

Inside the core a ciphertext is an `Integer` modulo `N**2`, and adding plaintexts is multiplying such integers.
`read_page` is the only way in. `write_page` is the only way out, and takes only what the encryptor or the packing
of replies made: a product of received ciphertexts would show the peer, by its randomness, which of them were
multiplied (FAULTS A2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.ciphers.paillier.arithmetic import Integer, from_bytes, to_bytes
from protocols.ciphers.paillier.keys import PublicKey
from protocols.errors import InputError, PeerError


@dataclass(frozen=True, slots=True, repr=False)
class FreshCiphertext:
    """A ciphertext whose randomness is new, uniform and used nowhere else.

    NB: constructed in `encryption` and `packing` only; a test reads the sources for it.
    """

    value: Integer

    def __repr__(self) -> str:
        return f"FreshCiphertext({self.value.bit_length()} bits)"


def read_page(public_key: PublicKey, data: bytes) -> list[Integer]:
    """Read ciphertexts of fixed length, one after the other; one bad ciphertext refuses them all.

    Raises:
        PeerError: The length is not a multiple of a ciphertext's.
        DeviationError: One of them is not a reduced unit modulo `N**2`, or shows its plaintext (FAULTS cases 1-5, 34).
    """
    length = public_key.ciphertext_bytes
    if len(data) % length:
        raise PeerError("a page must hold whole ciphertexts")
    ciphertexts = [from_bytes(data[start : start + length]) for start in range(0, len(data), length)]
    public_key.require_units(ciphertexts)
    public_key.require_hidden(ciphertexts)
    return ciphertexts


def write_page(public_key: PublicKey, ciphertexts: Sequence[FreshCiphertext]) -> bytes:
    """Write fresh ciphertexts for the wire.

    Raises:
        InputError: One of them is not a `FreshCiphertext`.
    """
    if not all(isinstance(ciphertext, FreshCiphertext) for ciphertext in ciphertexts):
        raise InputError("only fresh ciphertexts may leave")
    length = public_key.ciphertext_bytes
    return b"".join(to_bytes(ciphertext.value, length) for ciphertext in ciphertexts)
