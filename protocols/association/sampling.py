"""Randomized transactions are sampled exactly, by coins that a secret makes once for each record (DESIGN 4.6).

In whole numbers alone the number of foreign items is drawn first, exactly (`chances.py`), and then which, by Floyd's
algorithm: step `s` draws a number below its bound, and takes it, or the largest one still allowed if it is taken
already. A coin for each of `n - m` foreign items would cost as many words as there are items.

Coins are a function of the owner's secret, data set, record and purpose. Each record has a stream of its own: SHAKE-256
of a key, which HMAC makes from secret, data set and purpose, and of the record's id, read from the start as far as
needed.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.association.chances import WORD_BITS, Chances, outcomes
from protocols.association.operators import Operator
from protocols.association.transactions import Randomized, TransactionDesign, Transactions
from protocols.errors import InputError
from protocols.randomness import canonical, keyed_digest

_BLOCK_CELLS = 2**23

Integers = NDArray[np.int64]
RowNumbers = NDArray[np.intp]


class Words(Protocol):
    """Chance as an argument: uniform 64-bit words of transactions, the same for the same purpose and transaction.

    A longer answer starts with the shorter one.
    """

    def __call__(self, purpose: bytes, rows: RowNumbers, count: int, /) -> NDArray[np.uint64]:
        """Return `count` words for each of these transactions (`len(rows) x count`)."""


def randomize(
    transactions: Transactions,
    design: TransactionDesign,
    words: Words,
    watch: Callable[[int, int], None] = lambda *_: None,
) -> Randomized:
    """Return the randomized transactions, in the same order; `watch` is called with how many are done, and of how many.

    Discloses: Of each transaction its original size, and what `breaches.py` says of its items.
    """
    if transactions.universe != design.universe:
        raise InputError(f"the design has {design.universe} items, the transactions {transactions.universe}")
    sizes = transactions.sizes
    design.check_sizes(sizes.tolist())
    lengths = np.zeros(len(transactions), dtype=np.int64)
    parts: list[tuple[RowNumbers, NDArray[np.int32]]] = []
    done = 0
    for rows in _blocks(sizes, design.universe):
        sent = _sent(transactions.matrix(rows), design.operator(int(sizes[rows[0]])), words, rows)
        lengths[rows] = sent.sum(axis=1)
        parts.append((rows, np.nonzero(sent)[1].astype(np.int32)))
        done += len(rows)
        watch(done, len(transactions))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.empty(starts[-1], dtype=np.int32)
    for rows, held in parts:
        before = np.concatenate([[0], np.cumsum(lengths[rows])])[:-1]
        items[np.arange(len(held)) + np.repeat(starts[rows] - before, lengths[rows])] = held
    return Randomized(Transactions(design.universe, starts, items), sizes)


def _blocks(sizes: Integers, universe: int) -> Iterator[RowNumbers]:
    """Yield rows of one size, at most as many at once as fit in memory."""
    most = max(1, _BLOCK_CELLS // max(universe, 1))
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        yield from (rows[start : start + most] for start in range(0, len(rows), most))


def _sent(held: NDArray[np.bool_], operator: Operator, words: Words, rows: RowNumbers) -> NDArray[np.bool_]:
    """Randomize transactions of one size, given and returned as `transactions x items`."""
    size, foreign = operator.size, held.shape[1] - operator.size
    kept = draw(operator.kept, words, b"kept", rows)
    added = np.zeros(len(rows), dtype=np.int64)
    for j in np.unique(kept).tolist():
        same = np.flatnonzero(kept == j)
        added[same] = draw(operator.entering(j, foreign), words, b"added", rows[same])
    sent = np.zeros_like(held)
    sent[held] = chosen(kept, size, words, b"own", rows).ravel()
    sent[~held] = chosen(added, foreign, words, b"foreign", rows).ravel()
    return sent


def draw(chances: Chances, words: Words, purpose: bytes, rows: RowNumbers) -> Integers:
    """Draw one outcome per transaction, each with its chance exactly."""
    first = words(purpose, rows, 1)[:, 0]
    drawn, open_ones = outcomes(chances, first)
    for position in open_ones.tolist():
        drawn[position] = _go_on(chances, words, purpose, rows[position : position + 1])
    return drawn


def _go_on(chances: Chances, words: Words, purpose: bytes, row: RowNumbers) -> int:
    """Read more words until they decide."""
    count, found = 1, None
    while found is None:
        count += 1
        start = 0
        for word in words(purpose, row, count)[0].tolist():
            start = (start << WORD_BITS) | word
        found = chances.outcome(start, WORD_BITS * count)
    return found


def chosen(counts: Integers, population: int, words: Words, purpose: bytes, rows: RowNumbers) -> NDArray[np.bool_]:
    """Choose `counts[i]` of `population` things for transaction `i`, all choices being equally likely."""
    most = int(counts.max(initial=0))
    bounds = np.maximum(population - counts[:, None] + np.arange(1, most + 1), 1)
    bounds[np.arange(most) >= counts[:, None]] = 1  # beyond its number nothing is drawn
    return subsets(below(bounds, words, purpose, rows), counts, population)


def below(bounds: Integers, words: Words, purpose: bytes, rows: RowNumbers) -> Integers:
    """Draw uniform numbers in `0 .. bound - 1`: a word among the `2^64 mod bound` lowest is drawn again."""
    limit = bounds.astype(np.uint64)
    word = words(purpose, rows, bounds.shape[1])
    short = (np.uint64(0) - limit) % limit
    again, turn = np.flatnonzero((word < short).any(axis=1)), 0
    while len(again):
        turn += 1
        fresh = words(purpose + b" again " + str(turn).encode(), rows[again], bounds.shape[1])
        word[again] = np.where(word[again] < short[again], fresh, word[again])
        again = again[(word[again] < short[again]).any(axis=1)]
    return (word % limit).astype(np.int64)


def subsets(uniform: Integers, counts: Integers, population: int) -> NDArray[np.bool_]:
    """Return subsets (`transactions x population`) by Floyd's algorithm; steps at and after a count are not read.

    Numbers are uniform below `population - count + 1 + step`.
    """
    taken = np.zeros((len(counts), population), dtype=np.bool_)
    for step in range(uniform.shape[1]):
        rows = np.flatnonzero(counts > step)
        wanted, last = uniform[rows, step], population - counts[rows] + step
        taken[rows, np.where(taken[rows, wanted], last, wanted)] = True
    return taken


_WORD_BYTES = WORD_BITS // 8


def keyed_words(secret: bytes, dataset: str, records: Sequence[str]) -> Words:
    """Return words that depend on secret, data set and record ids alone."""
    labels = [canonical(record.encode()) for record in records]

    def words(purpose: bytes, rows: NDArray[np.intp], count: int) -> NDArray[np.uint64]:
        key = keyed_digest(secret, b"cotally transaction", dataset.encode(), purpose)
        streams = [hashlib.shake_256(key + labels[row]).digest(_WORD_BYTES * count) for row in rows.tolist()]
        return np.frombuffer(b"".join(streams), dtype="<u8").astype(np.uint64).reshape(len(rows), count)

    return words
