"""Arithmetic on large integers: the only file that knows gmpy2.

`powmod` is for public exponents; a secret exponent goes through `powmod_secret`, whose time does not depend on
the exponent's bits (FAULTS A11). The Python code around it is not constant-time, so no party may learn the time of a
single decryption.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import gmpy2  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError

if TYPE_CHECKING:
    Integer: TypeAlias = int  # to the type checker: everything an int can do
else:
    Integer = gmpy2.mpz

SMALL_FACTOR_LIMIT = 2**20
FERMAT_STEPS = 1 << 24
_PRIMALITY_ROUNDS = 40
_SIEVES = (64, 81, 25, 49, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def powmod(base: Integer, exponent: Integer, modulus: Integer) -> Integer:
    """Raise to a public exponent. NB: the time taken shows the exponent."""
    return gmpy2.powmod(base, exponent, modulus)  # type: ignore[no-any-return]


def powmod_secret(base: Integer, exponent: Integer, modulus: Integer) -> Integer:
    """Raise to a secret positive exponent modulo an odd number, in a time that does not show it."""
    return gmpy2.powmod_sec(base, exponent, modulus)  # type: ignore[no-any-return]


def power_of_two(base: Integer, bits: int, modulus: Integer) -> Integer:
    """Raise to `2**bits`: a shift of a ciphertext's plaintext. Faster than `powmod` here."""
    for _ in range(bits):
        base = base * base % modulus
    return base


def invert(value: Integer, modulus: Integer) -> Integer:
    """Return the inverse of a unit."""
    try:
        return gmpy2.invert(value, modulus)  # type: ignore[no-any-return]
    except ZeroDivisionError:
        raise InputError("a number without an inverse cannot be inverted") from None


def multiply_into(
    products: list[Integer | None], values: Sequence[Integer | None], groups: NDArray[np.integer], modulus: Integer
) -> None:
    """Multiply each value into the product of its group: the encrypted form of a weighted `numpy.bincount`.

    This loop is where a run spends its time. Products are changed in place, None while they have no value; a value of
    None is passed over. The modulus is the square of the public one.
    """
    if len(groups) != len(values):
        raise InputError("each value needs exactly one group")
    if len(groups) and not 0 <= groups.min() <= groups.max() < len(products):
        raise InputError("a group must be at least 0 and below the number of groups")
    for value, group in zip(values, groups.tolist(), strict=True):
        if value is None:
            continue
        current = products[group]
        products[group] = value if current is None else current * value % modulus


def gcd(left: Integer, right: Integer) -> Integer:
    """Return the greatest common divisor."""
    return gmpy2.gcd(left, right)  # type: ignore[no-any-return]


def is_prime(value: Integer) -> bool:
    """Test primality. NB: never False for a prime; True for a composite only if it was built to deceive."""
    return bool(gmpy2.is_prime(value, _PRIMALITY_ROUNDS))


def is_perfect_power(value: Integer) -> bool:
    """Say whether the value is `a**b` for some `b > 1`."""
    return bool(gmpy2.is_power(value))


def has_small_factor(value: Integer) -> bool:
    """Say whether a prime below 2**20 divides the value."""
    return gcd(_product_of_small_primes() % value, value) != 1


def has_close_factors(value: Integer) -> bool:
    """Say whether Fermat's method finds two factors of an odd value within this many steps from its root.

    So it does where they differ by less than `2**13` times the value's fourth root. A step is tried only where
    `x**2 - value` is a square modulo each of a few small numbers, which is so about once in 30,000.
    """
    first = gmpy2.isqrt(value - 1) + 1
    steps, period = np.zeros(1, np.int64), 1
    for modulus in _SIEVES:
        roots = (int(first % modulus) + np.arange(modulus)) ** 2
        squares = np.isin((roots - int(value % modulus)) % modulus, np.arange(modulus) ** 2 % modulus)
        if period < FERMAT_STEPS:  # `steps` are those below it that all moduli so far allow; it grows by each of them
            steps, period = np.add.outer(period * np.arange(modulus), steps).ravel(), period * modulus
        steps = steps[squares[steps % modulus] & (steps < FERMAT_STEPS)]
    return any(gmpy2.is_square((first + int(step)) ** 2 - value) for step in steps)


@cache
def _product_of_small_primes() -> Integer:
    return gmpy2.primorial(SMALL_FACTOR_LIMIT)  # type: ignore[no-any-return]


@cache
def primes_below(limit: int) -> tuple[int, ...]:
    """List the primes below a limit.

    >>> primes_below(12)
    (2, 3, 5, 7, 11)
    """
    sieve = np.ones(max(limit, 2), dtype=bool)
    sieve[:2] = False
    for candidate in range(2, int(limit**0.5) + 1):
        if sieve[candidate]:
            sieve[candidate * candidate :: candidate] = False
    return tuple(np.flatnonzero(sieve).tolist())


def from_bytes(data: bytes) -> Integer:
    """Read an unsigned big-endian integer."""
    return Integer.from_bytes(data, "big")


def to_bytes(value: Integer, length: int) -> bytes:
    """Write an unsigned big-endian integer of a fixed length."""
    return value.to_bytes(length, "big")
