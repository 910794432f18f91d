"""Ids as digests, and a table in which each of them has one of three places, and each place one of them at most.

Cuckoo hashing with three functions and no stash (Pagh and Rodler, J. Algorithms 2004; Fotakis et al., Theory of
Computing Systems 2005; for intersections Pinkas, Schneider and Zohner, ACM TOPS 2018). A table has 1.27 places per id
and 4,096 at least. The three places of an id are unequal, so that all ids have rows of one kind.

*Fails* where some ids have fewer places than they are: of up to 400 ids, by a sum over all such sets, once in 2**58
tables of 3,225 ids, which is the worst; of more at this load never in any trial (Pinkas et al. 2018 extrapolate less
than 2**-40). Digests are keyed by the session, so who starts again has other places.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import numpy as np

from protocols.errors import InputError
from protocols.oblivious.aes import WORD, Blocks
from protocols.tables import Index

WAYS: Final = 3
LEAST_PLACES: Final = 4096
"""So that a handful of ids fails no more often than many."""
EMPTY: Final = -1
_BLOCK: Final = 128
_MOST_ROUNDS: Final = 100_000
_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)


def table_size(ids: int) -> int:
    """Return how many places a table for this many ids has: a multiple of 128.

    >>> table_size(1), table_size(100_000)
    (4096, 127104)
    """
    return max(LEAST_PLACES, -(-127 * ids // (100 * _BLOCK)) * _BLOCK)


def digests_of(session: bytes, ids: Iterable[str]) -> Blocks:
    """Return digests of 128 bits, keyed by the name of a session."""
    key = hashlib.sha256(session).digest()
    joined = b"".join(hashlib.blake2b(each.encode(), digest_size=16, key=key).digest() for each in ids)
    return np.frombuffer(joined, WORD).reshape(-1, 2)


def places_of(digests: Blocks, size: int) -> Index:
    """Return three unequal places for each digest (`ids x 3`), in a table of this size."""
    parts = (digests[:, 0] >> _HALF, digests[:, 0] & _LOW, digests[:, 1] >> _HALF)
    first, second, third = (((part * np.uint64(size - at)) >> _HALF).astype(np.intp) for at, part in enumerate(parts))
    second += second >= first
    for other in (np.minimum(first, second), np.maximum(first, second)):
        third += third >= other
    return np.stack([first, second, third], axis=1)


def _coins(ids: Index, turn: int) -> Index:
    """Return a bit for each id, unlike from turn to turn."""
    mixed = (ids.astype(WORD) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(
        turn * 0xD1B54A32D192ED03 % 2**64
    )
    mixed = (mixed ^ (mixed >> _HALF)) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(63)).astype(np.intp)


def place(places: Index, size: int) -> tuple[Index, Index]:
    """Return who stands in each place of a table, or `EMPTY`, and which of the three places each has.

    All who have no place move at once, each to its next place, and turn out who is there.
    """
    owners = np.full(size, EMPTY, np.intp)
    ways = np.zeros(len(places), np.intp)
    moving = np.arange(len(places), dtype=np.intp)
    for turn in range(_MOST_ROUNDS):
        if not len(moving):
            return owners, ways
        wanted = places[moving, ways[moving]]
        before = owners[wanted]
        owners[wanted] = moving
        lost = moving[owners[wanted] != moving]
        turned_out = np.unique(before[before != EMPTY])
        moving = np.concatenate([lost, turned_out])
        ways[moving] = (ways[moving] + 1 + _coins(moving, turn)) % WAYS
    raise InputError("these ids do not fit into a table, which happens about never: begin again")
