"""Paillier keys, and what is asked of a modulus before it is used.

A modulus from the peer is untrusted: a bad one would undo the hiding of our replies (FAULTS A3, A4). What cannot be
seen from the modulus alone (`p` dividing `q - 1` for large `p`, `p**2 q`) its owner proves (`cipher`).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from protocols.ciphers.paillier.arithmetic import (
    Integer,
    from_bytes,
    gcd,
    has_close_factors,
    has_small_factor,
    invert,
    is_perfect_power,
    is_prime,
    powmod_secret,
    to_bytes,
)
from protocols.errors import DeviationError, InputError, PeerError

MODULUS_BITS_LIMIT = 16384
_CLOSENESS_MARGIN_BITS = 100


@dataclass(frozen=True, repr=False)
class PublicKey:
    """A Paillier modulus `N`, as we made it or as `check_peer_modulus` let it in."""

    n: Integer
    n_square: Integer = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.n < 15 or self.n % 2 == 0:
            raise InputError("a Paillier modulus must be odd and at least 15")
        object.__setattr__(self, "n", Integer(self.n))
        object.__setattr__(self, "n_square", self.n * self.n)

    def __repr__(self) -> str:
        return f"PublicKey({self.bits} bits)"

    @property
    def bits(self) -> int:
        """Length of the modulus."""
        return self.n.bit_length()

    @property
    def modulus_bytes(self) -> bytes:
        """The modulus as it crosses: big-endian, without leading zeros."""
        return to_bytes(self.n, (self.bits + 7) // 8)

    @property
    def ciphertext_bytes(self) -> int:
        """Length of one ciphertext on the wire."""
        return 2 * ((self.bits + 7) // 8)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the modulus in groups of four digits, for two people to compare."""
        digest = hashlib.sha256(self.modulus_bytes).hexdigest()
        return " ".join(digest[start : start + 4] for start in range(0, len(digest), 4))

    def require_units(self, ciphertexts: Iterable[Integer]) -> None:
        """Refuse all of the ciphertexts unless each is reduced and a unit modulo `N**2` (FAULTS A1, A14).

        Decrypting anything else, `0` or a multiple of `p` for instance, would give the key away. One gcd for all.
        """
        n, n_square = self.n, self.n_square
        residue = Integer(1)
        for ciphertext in ciphertexts:
            if not 0 < ciphertext < n_square:
                raise DeviationError
            residue = residue * (ciphertext % n) % n
        if gcd(residue, n) != 1:
            raise DeviationError

    def require_hidden(self, ciphertexts: Iterable[Integer]) -> None:
        """Refuse all of the ciphertexts if one shows its plaintext: its randomness is 1 or -1, as nobody draws it."""
        if any(ciphertext % self.n in {1, self.n - 1} for ciphertext in ciphertexts):
            raise DeviationError


def check_peer_modulus(data: bytes, floor_bits: int, own_modulus: Integer | None = None) -> PublicKey:
    """Let in the peer's modulus (big-endian, no leading zeros), or refuse it (FAULTS cases 10-15 and 18).

    Ours, where we have one, must have nothing in common with it.
    """
    longest = MODULUS_BITS_LIMIT // 8
    if not data or len(data) > longest or data[0] == 0:
        raise PeerError(f"the peer's modulus must be 1 to {longest} bytes without leading zeros")
    n = from_bytes(data)
    if n.bit_length() < floor_bits:
        raise PeerError(f"the peer's modulus must have at least {floor_bits} bits")
    if own_modulus is not None and gcd(n, own_modulus) != 1:
        raise PeerError("the peer's modulus is ours or shares a factor with it")
    if has_small_factor(n):  # 2 among them
        raise PeerError("the peer's modulus has a factor below 2**20")
    if is_perfect_power(n):
        raise PeerError("the peer's modulus is a perfect power")
    if is_prime(n):
        raise PeerError("the peer's modulus is prime")
    if has_close_factors(n):
        raise PeerError("the peer's modulus has factors so close that anybody finds them")
    return PublicKey(n)


class PrivateKey:
    """The factors of a modulus, and decryption with them."""

    def __init__(self, p: Integer, q: Integer) -> None:
        p, q = Integer(p), Integer(q)
        if not (is_prime(p) and is_prime(q)):
            raise InputError("a factor of the private key is not prime")
        if p.bit_length() != q.bit_length():
            raise InputError("the factors of the private key differ in length")
        if p == q or abs(p - q).bit_length() <= p.bit_length() - _CLOSENESS_MARGIN_BITS:
            raise InputError("the factors of the private key are equal or too close to each other")
        if gcd(p * q, (p - 1) * (q - 1)) != 1:  # NB: among odd primes of equal length this cannot happen
            raise InputError("the modulus of the private key shares a factor with its order")
        self.public_key = PublicKey(p * q)
        self.p, self.q = p, q
        self._p_square, self._q_square = p * p, q * q
        self._p_scale, self._q_scale = invert(-q % p, p), invert(-p % q, q)
        self._p_inverse = invert(p, q)
        self._p_root, self._q_root = invert(self.public_key.n, p - 1), invert(self.public_key.n, q - 1)

    def __repr__(self) -> str:
        return f"PrivateKey({self.public_key.bits} bits)"

    def decrypt(self, ciphertext: Integer) -> Integer:
        """Decrypt by the Chinese remainder theorem (Paillier 1999, section 7).

        NB: the plaintext never leaves the node; only counts that were reduced and checked do (FAULTS A12).
        """
        self.public_key.require_units([ciphertext])
        modulo_p = _decrypt_half(ciphertext, self.p, self._p_square, self._p_scale)
        modulo_q = _decrypt_half(ciphertext, self.q, self._q_square, self._q_scale)
        return self._joined(modulo_p, modulo_q)

    def root(self, residue: Integer) -> Integer:
        """Return the N-th root of a residue modulo `N`."""
        modulo_p = powmod_secret(residue % self.p, self._p_root, self.p)
        modulo_q = powmod_secret(residue % self.q, self._q_root, self.q)
        return self._joined(modulo_p, modulo_q)

    def _joined(self, modulo_p: Integer, modulo_q: Integer) -> Integer:
        return modulo_p + self.p * ((modulo_q - modulo_p) * self._p_inverse % self.q)


def _decrypt_half(ciphertext: Integer, prime: Integer, square: Integer, scale: Integer) -> Integer:
    """Return the plaintext modulo one prime: `L(c**(p-1)) / L((1+N)**(p-1))`, `L(u) = (u-1)/p`.

    The divisor is `-q` modulo `p`, and `scale` its inverse.
    """
    power = powmod_secret(ciphertext % square, prime - 1, square)
    return (power - 1) // prime * scale % prime
