"""Chance as an argument.

Two kinds of chance occur. *Secret* chance (Paillier) is a `Randomness`: in production the operating system's, in
tests a fixed stream. *Coins* (randomized response) are a deterministic function of the owner's secret, so that the
same data set always yields the same disguised copy (DESIGN 4.6, FAULTS B1). Nothing here uses floats.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Protocol

from protocols.errors import InputError

_BLOCK_BITS = 256
_BLOCK_BYTES = _BLOCK_BITS // 8
_CHUNK_BLOCKS = 64
_HASH_BLOCK_BYTES = 64


class Randomness(Protocol):
    """A source of secret uniform integers, such as the module `secrets`."""

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        """Draw uniformly from `0 .. bound - 1`."""


def canonical(*fields: bytes) -> bytes:
    """Join fields so that no two different splits give the same bytes (FAULTS A8): each length goes first."""
    return b"".join(map(_with_length, fields))


def _with_length(field: bytes) -> bytes:
    return len(field).to_bytes(8, "big") + field


def keyed_digest(key: bytes, *fields: bytes) -> bytes:
    """HMAC-SHA-256 of length-prefixed fields."""
    return hmac.digest(key, canonical(*fields), "sha256")


def keyed_uniforms(key: bytes, labels: Iterable[bytes], bound: int) -> Iterator[int]:
    """Yield for each label an integer uniform in `0 .. bound - 1` that depends on key and label only.

    Rejection from 256-bit blocks, each the keyed digest of the label and the number of tries: exact, no modulo bias.
    """
    limit, digest = _limit(bound), _digest_under(key)
    first = _with_length(bytes(4))
    for label in labels:
        named, tries = _with_length(label), 0
        value = int.from_bytes(digest(named + first), "big")
        while value >= limit:
            tries += 1
            value = int.from_bytes(digest(named + _with_length(tries.to_bytes(4, "big"))), "big")
        yield value % bound


def _digest_under(key: bytes) -> Callable[[bytes], bytes]:
    """Return HMAC-SHA-256 under one key, for many messages: what depends on the key alone is hashed once (RFC 2104)."""
    block = (key if len(key) <= _HASH_BLOCK_BYTES else hashlib.sha256(key).digest()).ljust(_HASH_BLOCK_BYTES, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest


def _limit(bound: int) -> int:
    """Return the greatest multiple of a bound that a block can hold: what is below it is fair."""
    if not 1 <= bound <= 2 ** (_BLOCK_BITS // 2):
        raise InputError("the bound of a coin must be between 1 and 2**128")
    return (1 << _BLOCK_BITS) // bound * bound


class KeyedRandomness:
    """A stream of uniform integers that depends on key and label only: SHAKE-256 (FIPS 202) on a key of its own."""

    def __init__(self, key: bytes, label: bytes) -> None:
        self._blocks = _stream(keyed_digest(key, b"stream", label))

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        """Draw the next integer of `0 .. bound - 1`."""
        limit = _limit(exclusive_upper_bound)
        values = (int.from_bytes(block, "big") for block in self._blocks)
        return next(value for value in values if value < limit) % exclusive_upper_bound


def _stream(key: bytes) -> Iterator[bytes]:
    for chunk in count():
        data = hashlib.shake_256(key + chunk.to_bytes(8, "big")).digest(_CHUNK_BLOCKS * _BLOCK_BYTES)
        yield from (data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES))


def public_order(seed: int, size: int) -> Sequence[int]:
    """Return `0 .. size - 1` in an order that everyone who knows the seed can compute."""
    first = canonical(str(seed).encode()) + (8).to_bytes(8, "big")
    digests = [hashlib.sha256(first + index.to_bytes(8, "big")).digest() for index in range(size)]
    return sorted(range(size), key=digests.__getitem__)


_WATCHED_BITS = 128


class WatchedRandomness:
    """A source of chance that ends the run when it repeats itself (FAULTS case 26).

    Draws from a range of 2**128 or more never repeat by chance, neither consecutively nor consecutively for one bound.
    """

    def __init__(self, source: Randomness) -> None:
        self._source = source
        self._latest: dict[int, int] = {}
        self._last = -1

    def __repr__(self) -> str:
        return "WatchedRandomness()"

    def randbelow(self, exclusive_upper_bound: int, /) -> int:
        """Draw uniformly from `0 .. bound - 1`."""
        value = self._source.randbelow(exclusive_upper_bound)
        if not 0 <= value < exclusive_upper_bound:
            raise InputError("the source of randomness left its range")
        if exclusive_upper_bound >> _WATCHED_BITS:
            if value in (self._last, self._latest.get(exclusive_upper_bound)):
                raise InputError("the source of randomness repeated itself")
            self._last = self._latest[exclusive_upper_bound] = value
        return value


def watched(randomness: Randomness) -> WatchedRandomness:
    """Watch a source; one that is watched already stays as it is, with its memory."""
    return randomness if isinstance(randomness, WatchedRandomness) else WatchedRandomness(randomness)
