"""Encryption by the key holder, who knows `p` and `q` (DESIGN 6.4).

Modulo `p**2` the random factors `r**N` form a cyclic group of order `p - 1`. Instead of raising a new `r` to the power
`N`, take one random member `h` of the group, once, and raise it to a new uniform exponent below `p - 1` by a table; the
same modulo `q**2`; the Chinese remainder theorem joins the halves.

Security: the factor is uniform in the subgroup that `h` generates. Its index is tiny (no prime below 2**16 divides it),
and hardness there follows from Paillier's own assumption: raise a challenge to the index and multiply it by a random
member. The base never crosses (FAULTS A5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from protocols.errors import InputError
from protocols.paillier.arithmetic import Integer, invert, powmod, powmod_secret, primes_below
from protocols.paillier.ciphertext import FreshCiphertext
from protocols.paillier.draws import WatchedRandomness, watched
from protocols.paillier.fixed_base import FixedBase
from protocols.paillier.keys import PrivateKey
from protocols.randomness import Randomness

_INDEX_PRIME_LIMIT = 2**16
_MOST_TRIES = 10_000  # a random member passes more often than one time in twenty
_SHORT_EXPONENT_BITS = 256


@dataclass(frozen=True)
class ShortExponents:
    """Ask for exponents of 256 bits, five times faster, at the price of one more assumption (FAULTS A10).

    The assumption: modulo `p` and modulo `q`, powers of a random base with uniform 256-bit exponents cannot be told
    from powers with uniform full-length exponents (the *discrete logarithm with short exponents* assumption, of
    strength 128 bits). Without this object an encryptor uses full-length exponents and assumes nothing beyond Paillier.
    """


class Encryptor:
    """Encrypts under our own key, many messages at a time.

    The tables are built at the first use: about half a second and 50 MB at 3072 bits.
    """

    def __init__(
        self, private_key: PrivateKey, randomness: Randomness, short_exponents: ShortExponents | None = None
    ) -> None:
        self._key = private_key
        self._randomness = watched(randomness)
        self._short = short_exponents is not None
        self._p_square = private_key.p**2
        self._q_square = private_key.q**2
        self._join = invert(self._p_square, self._q_square)

    def __repr__(self) -> str:
        exponents = "short" if self._short else "full-length"
        return f"Encryptor({self._key.public_key.bits} bits, {exponents} exponents)"

    def encrypt_bits(self, bits: Sequence[int]) -> list[FreshCiphertext]:
        """Encrypt zeros and ones.

        Raises:
            InputError: Something else is among them.
        """
        if not all(bit in (0, 1) for bit in bits):
            raise InputError("a bit must be 0 or 1")
        return self.encrypt(bits)

    def encrypt(self, messages: Sequence[int]) -> list[FreshCiphertext]:
        """Encrypt integers.

        Raises:
            InputError: A message is not in `0 .. N - 1`, or the source of randomness failed.
        """
        n = self._key.public_key.n
        if not all(0 <= message < n for message in messages):
            raise InputError("a message must be at least 0 and below the modulus")
        return [FreshCiphertext(self._encrypt_one(Integer(message))) for message in messages]

    def _encrypt_one(self, message: Integer) -> Integer:
        (p_table, p_bound), (q_table, q_bound) = self._tables
        draw = self._randomness.randbelow
        modulo_p = p_table.power(draw(p_bound), message * self._key.q)
        modulo_q = q_table.power(draw(q_bound), message * self._key.p)
        return modulo_p + self._p_square * ((modulo_q - modulo_p) * self._join % self._q_square)

    @cached_property
    def _tables(self) -> tuple[tuple[FixedBase, int], tuple[FixedBase, int]]:
        return self._table(self._key.p), self._table(self._key.q)

    def _table(self, prime: Integer) -> tuple[FixedBase, int]:
        """Return a table of a random member's powers, and the bound of the exponents."""
        bound = int(prime) - 1
        if self._short:
            bound = min(bound, 2**_SHORT_EXPONENT_BITS)
        base = random_member(prime, self._key.public_key.n, self._randomness)
        return FixedBase(base, prime, (bound - 1).bit_length()), bound


def random_member(prime: Integer, n: Integer, randomness: WatchedRandomness) -> Integer:
    """Draw an N-th residue modulo `prime**2` whose order has no prime below 2**16 in its index.

    Raises:
        InputError: The source of randomness failed.
    """
    order = prime - 1
    cofactors = [order // small for small in primes_below(_INDEX_PRIME_LIMIT) if order % small == 0]
    for _ in range(_MOST_TRIES):
        unit = Integer(1 + randomness.randbelow(int(order)))
        member = powmod(unit, n, prime * prime)
        if all(powmod_secret(member % prime, cofactor, prime) != 1 for cofactor in cofactors):
            return member
    raise InputError("the source of randomness failed")
