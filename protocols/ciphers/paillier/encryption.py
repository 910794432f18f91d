"""Encryption by the key holder, who knows `p` and `q` (DESIGN 6.4).

Modulo `p**2` the random factors `r**N` form a cyclic group of order `p - 1`. Instead of raising a new `r` to the
power `N`, take one random member `h` of the group, once, and raise it to a new uniform exponent below `p - 1` by
a table; the same modulo `q**2`; the Chinese remainder theorem joins the halves. Powers of a unit are units, so
every factor is one.

Security: the factor is uniform in the subgroup that `h` generates. Its index is tiny (no prime below 2**16
divides it), and hardness there follows from Paillier's own assumption: raise a challenge to the index and
multiply it by a random member. The base never crosses (FAULTS A5).
"""

from collections.abc import Sequence
from functools import cached_property

from protocols.ciphers.draws import WatchedRandomness, watched
from protocols.ciphers.paillier.arithmetic import Integer, invert, powmod, powmod_secret, primes_below
from protocols.ciphers.paillier.ciphertext import FreshCiphertext
from protocols.ciphers.paillier.fixed_base import FixedBase
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.errors import InputError
from protocols.randomness import Randomness

_INDEX_PRIME_LIMIT = 2**16
_MOST_TRIES = 10_000  # a random member passes more often than one time in twenty
_BATCH = 1000  # results that stay in the processor's cache with two rows of a table


class Encryptor:
    """Encrypts under our own key, many messages at a time.

    The tables are built at the first use: about half a second and 50 MB at 3072 bits.
    """

    def __init__(self, private_key: PrivateKey, randomness: Randomness) -> None:
        self._key = private_key
        self._randomness = watched(randomness)
        self._p_order, self._q_order = int(private_key.p) - 1, int(private_key.q) - 1
        self._p_square = private_key.p**2
        self._q_square = private_key.q**2
        self._join = invert(self._p_square, self._q_square)

    def __repr__(self) -> str:
        return f"Encryptor({self._key.public_key.bits} bits)"

    def encrypt(self, messages: Sequence[int]) -> list[FreshCiphertext]:
        """Encrypt integers.

        Raises:
            InputError: A message is not in `0 .. N - 1`, or the source of randomness failed.
        """
        n = self._key.public_key.n
        if not all(0 <= message < n for message in messages):
            raise InputError("a message must be at least 0 and below the modulus")
        return [
            FreshCiphertext(value)
            for start in range(0, len(messages), _BATCH)
            for value in self._encrypt_batch([Integer(message) for message in messages[start : start + _BATCH]])
        ]

    def _encrypt_batch(self, messages: Sequence[Integer]) -> list[Integer]:
        """Encrypt modulo `p**2` and `q**2`, where `1 + N*m` is `1 + p*(q*m)` and `1 + q*(p*m)`, and join."""
        p_table, q_table = self._tables
        p_exponents, q_exponents = [], []
        for _ in messages:
            p_exponents.append(self._randomness.randbelow(self._p_order))
            q_exponents.append(self._randomness.randbelow(self._q_order))
        p_values = p_table.powers(p_exponents, [message * self._key.q for message in messages])
        q_values = q_table.powers(q_exponents, [message * self._key.p for message in messages])
        p_square, q_square, join = self._p_square, self._q_square, self._join
        return [a + p_square * ((b - a) * join % q_square) for a, b in zip(p_values, q_values, strict=True)]

    @cached_property
    def _tables(self) -> tuple[FixedBase, FixedBase]:
        return self._table(self._key.p, self._p_order), self._table(self._key.q, self._q_order)

    def _table(self, prime: Integer, order: int) -> FixedBase:
        base = random_member(prime, self._key.public_key.n, self._randomness)
        return FixedBase(base, prime, (order - 1).bit_length())


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
