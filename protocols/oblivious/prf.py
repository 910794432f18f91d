"""A random function of ids, of which one side has the key, and the other one value in each place of a table.

Oblivious pseudorandom functions in bulk (Kolesnikov, Kumaresan, Rosulek and Trieu, CCS 2016), by an extension whose
code is a pseudorandom one of 448 bits. With `C(x)` the code word of an id and `s` the key holder's 448 choices:

    448 transfers    the asker has both seeds of each, the key holder the one that `s` chooses
    asker            columns T of the first seeds; sends T + T' + C, row b of C the code word of whom it has there
    key holder       Q: row b is T_b + (C_b and s)
    both             F(b, x) = H(Q_b + (C(x) and s)), which is H(T_b) for whom the asker has in place b, for no other

*Functionality*: for each place one value for the asker, of an id of its choice; all values for the key holder, who does
not learn which were asked for.
*Assumed*: two code words differ in 128 bits at least, but for once in 2**40 runs (Kolesnikov et al., table 1), so that
`(C(x) + C(y)) and s` has as many unknown bits; H, BLAKE2b on row, place and way, is a random oracle.
*Deviations*: the code is AES of a digest of the id under four public keys of the session. **No check**: who asks may
bring rows that are no code words. A row that departs from a code word in a few bits shows these bits of `s`, if the
values of an id that it knows the key holder to have are shown: after a few dozen such ids it knows `s`, and can try any
id at home. Who keeps to the protocol tries one id in each place.
*Never again*: a seed has one stream, of which no block hides two things; a key serves one session.

The table has one of three places for each id, and one id in each place: cuckoo hashing without a stash (Pagh and
Rodler, J. Algorithms 2004; Fotakis et al., Theory of Computing Systems 2005; for intersections Pinkas, Schneider and
Zohner, ACM TOPS 2018). A table has 1.27 places per id and 4,096 at least. The three places of an id are unequal, so
that all ids have rows of one kind. It fails where some ids have fewer places than they are: of up to 400 ids, by a sum
over all such sets, once in 2**58 tables of 3,225 ids, which is the worst; of more at this load never in any trial
(Pinkas et al. 2018 extrapolate less than 2**-40). Digests are keyed by the session, so who starts again has other
places.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from protocols.errors import InputError, PeerError
from protocols.messages import CodePage
from protocols.oblivious.aes import BLOCK_BYTES, Blocks, permute, stream
from protocols.oblivious.bits import WORD, Bytes, Uint64s, columns_of, rows_of
from protocols.oblivious.extension import Transfers
from protocols.randomness import Randomness, canonical
from protocols.role import Phase, Progress, Role, Send, receive
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


CODE_BITS: Final = 448
VALUE_BYTES: Final = 24
PAGE_PLACES: Final = 1 << 14
"""Rows that cross together: 917,504 bytes."""
_PARTS: Final = CODE_BITS // 64
_ROW: Final = 10  # words that are hashed: the name of the session, the row, its place and way
_ROW_BYTES: Final = 8 * _ROW


def code_words(session: bytes, digests: Blocks) -> Uint64s:
    """Return the code word of each digest (`ids x 7` words)."""
    if not len(digests):
        return np.zeros((0, _PARTS), WORD)
    keys = (hashlib.sha256(canonical(b"code", session, bytes([part]))).digest()[:BLOCK_BYTES] for part in range(4))
    return np.concatenate([permute(key, digests) for key in keys], axis=1)[:, :_PARTS]


def _hashed(session: bytes, rows: Uint64s, places: Index, way: int | Index) -> Bytes:
    """Return H of some rows, `VALUE_BYTES` each."""
    inputs = np.empty((len(rows), _ROW), WORD)
    inputs[:, :2] = np.frombuffer(hashlib.sha256(canonical(b"function", session)).digest(), WORD)[:2]
    inputs[:, 2:-1] = rows
    inputs[:, -1] = places * WAYS + way
    data, hashing = inputs.tobytes(), hashlib.blake2b
    starts = range(0, len(data), _ROW_BYTES)
    values = [hashing(data[start : start + _ROW_BYTES], digest_size=VALUE_BYTES).digest() for start in starts]
    return np.frombuffer(b"".join(values), np.uint8).reshape(-1, VALUE_BYTES)


def _pages(size: int) -> Iterator[slice]:
    return (slice(start, min(start + PAGE_PLACES, size)) for start in range(0, size, PAGE_PLACES))


def _columns(seeds: Blocks, rows: slice) -> Bytes:
    """Return the part of each seed's stream that is in a page of rows."""
    first, length = rows.start // (8 * BLOCK_BYTES), (rows.stop - rows.start) // 8
    return np.stack([stream(seed.tobytes(), first, length) for seed in seeds])


def ask_values(
    transfers: Transfers, digests: Blocks, owners: Index, ways: Index, randomness: Randomness
) -> Role[Bytes]:
    """Return a value for each place of our table, of whom we have there; of nobody where it is empty.

    `owners` are as many as a multiple of 128; of each id `ways` says which of its three places it has.

    Discloses: how many places the table has.
    """
    session = transfers.sender.session
    (pairs,) = yield from transfers.sender.extend([CODE_BITS])
    seeds, others = pairs.strings(1)
    seed, values = randomness.randbelow(1 << 128).to_bytes(BLOCK_BYTES, "big"), []
    for page in _pages(len(owners)):
        own = owners[page]
        taken = own != EMPTY
        asked = stream(seed, page.start, BLOCK_BYTES * len(own)).view(WORD).reshape(-1, 2)
        asked[taken] = digests[own[taken]]
        columns = _columns(seeds, page)
        yield Send(CodePage((columns ^ _columns(others, page) ^ columns_of(code_words(session, asked))).tobytes()))
        way = np.where(taken, ways[own] if len(ways) else 0, 0)
        values.append(_hashed(session, rows_of(columns), np.arange(page.start, page.stop), way))
        yield Progress(Phase.MATCHING, page.stop, len(owners))
    return np.concatenate(values)


@dataclass(frozen=True, eq=False, repr=False)
class FunctionKey:
    """The key: of each place its row, and which bits of a code word count."""

    session: bytes
    rows: Uint64s
    choices: Uint64s

    def values(self, digests: Blocks, places: Index) -> Bytes:
        """Return the value of each id in each of its places (`ids x 3 x VALUE_BYTES`)."""
        result = np.empty((len(digests), WAYS, VALUE_BYTES), np.uint8)
        for start in range(0, len(digests), PAGE_PLACES):
            some = slice(start, start + PAGE_PLACES)
            masked = code_words(self.session, digests[some]) & self.choices
            for way in range(WAYS):
                at = places[some, way]
                result[some, way] = _hashed(self.session, self.rows[at] ^ masked, at, way)
        return result


def give_key(transfers: Transfers, size: int, randomness: Randomness) -> Role[FunctionKey]:
    """Return the key of the function that the peer asks for values of, in a table of this size.

    Discloses: nothing; the peer gets a value in each place, of an id of its choice.
    """
    bits = randomness.randbelow(1 << CODE_BITS).to_bytes(CODE_BITS // 8, "little")
    choices = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little").astype(np.bool_)
    (chosen,) = yield from transfers.chooser.extend([choices])
    seeds, rows = chosen.strings(1), []
    for page in _pages(size):
        sent = (yield from receive(CodePage)).rows
        if len(sent) != CODE_BITS * (page.stop - page.start) // 8:
            raise PeerError("the peer sent a page of rows of another length")
        columns = _columns(seeds, page)
        columns[choices] ^= np.frombuffer(sent, np.uint8).reshape(CODE_BITS, -1)[choices]
        rows.append(rows_of(columns))
        yield Progress(Phase.MATCHING, page.stop, size)
    return FunctionKey(transfers.chooser.session, np.concatenate(rows), np.frombuffer(bits, WORD))
