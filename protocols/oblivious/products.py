"""A bit of one side times numbers of the other, as shares of both; and sums of such products over all transfers.

The sender's number `v` of a transfer crosses as `d = H(K_0) - H(K_1) + v`, and `x v` has two shares, modulo a power of
two (correlated transfer: Asharov, Lindell, Schneider and Zohner, CCS 2013; products of Gilboa, CRYPTO 1999):

    sender     -H(K_0)
    chooser    H(K_x) + x d

At a width of 1 these are shares of bits, and a word of 64 such lanes is a string. With `v_i = [E_b holds of i]` and
choices `x_i = [E_a holds of i]` the sums over all records are shares of the count `N(E_a and E_b)`.

*Functionality*: shares of products; the sender learns nothing, the chooser its share.
*Assumed*: what `masks` assumes: `d` is uniform to who lacks one key.
*Deviations*: several numbers share one mask of 128 bits, each with bits of its own. A sender that deviates may take any
numbers for bits, and so a weighted sum for a count: of no more bits than the width of what is opened.
*Never again*: corrections are sent for all records of the chooser's vector, always: which records have one would show
the chooser the sender's columns, record by record. Each number has a use of its own of its transfer's keys.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate, groupby
from operator import or_
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.errors import PeerError
from protocols.messages import CorrectionPage
from protocols.oblivious.bits import WORD, Lanes, Uint64s, lanes_of, pack, packed_bytes, unpack
from protocols.oblivious.masks import BothKeys, ChosenKeys, Uses
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.work import INLINE, Underway, Workers

_PAGE_BYTES: Final = 1 << 20
_AT_ONCE: Final = 1 << 14
"""Transfers whose masks are formed together, a block of records: a multiple of 64."""
_USES_AT_ONCE: Final = 4


class Numbers(Protocol):
    """The sender's numbers, one for each transfer and width, side by side in words."""

    def part(self, transfers: slice, words: slice) -> "Numbers":
        """Return what a worker needs of some words of consecutive transfers."""

    def words(self) -> Iterable[Uint64s]:
        """Return the words one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class GivenNumbers:
    """Numbers that are at hand, word by word."""

    values: Sequence[Uint64s]

    def part(self, transfers: slice, words: slice) -> "GivenNumbers":
        """Return some words of consecutive transfers."""
        return GivenNumbers([each[transfers] for each in self.values[words]])

    def words(self) -> Iterable[Uint64s]:
        """Return the words one by one."""
        return self.values


class BitColumns(Protocol):
    """Columns of bits, one for each width."""

    def part(self, records: slice, columns: slice) -> "BitColumns":
        """Return what a worker needs of some columns of consecutive records."""

    def columns(self) -> Iterable[NDArray[np.bool_]]:
        """Return the columns one by one."""


@dataclass(frozen=True, eq=False, repr=False)
class GivenBits:
    """Columns of bits that are at hand."""

    given: Sequence[NDArray[np.bool_]]

    def part(self, records: slice, columns: slice) -> "GivenBits":
        """Return some columns of consecutive records."""
        return GivenBits([each[records] for each in self.given[columns]])

    def columns(self) -> Iterable[NDArray[np.bool_]]:
        """Return the columns one by one."""
        return self.given


@dataclass(frozen=True, eq=False, repr=False)
class BitsAsNumbers:
    """Numbers that are bits: a column of them for each lane."""

    bits: BitColumns
    lanes: Sequence[Lanes]

    def part(self, transfers: slice, words: slice) -> "BitsAsNumbers":
        """Return some words of consecutive transfers."""
        own = self.lanes[words]
        first = sum(len(each.widths) for each in self.lanes[: words.start])
        columns = slice(first, first + sum(len(each.widths) for each in own))
        return BitsAsNumbers(self.bits.part(transfers, columns), own)

    def words(self) -> Iterator[Uint64s]:
        """Return the words one by one."""
        columns = iter(self.bits.columns())
        for lanes in self.lanes:
            yield reduce(or_, (next(columns).astype(WORD) << np.uint64(start) for start in lanes.starts))


def bits_as_numbers(columns: Sequence[NDArray[np.bool_]], widths: Sequence[int]) -> BitsAsNumbers:
    """Return numbers that are bits, from one column of bits for each width."""
    return BitsAsNumbers(GivenBits(columns), list(lanes_of(widths)))


@dataclass(frozen=True)
class Piece:
    """What is masked by some uses of the keys of a block of transfers of a vector: up to two words of numbers each."""

    vector: int
    uses: range
    first: int
    lanes: tuple[Lanes, ...]
    transfers: slice

    @property
    def words(self) -> slice:
        """Which words of the vector."""
        return slice(self.first, self.first + len(self.lanes))

    @property
    def sizes(self) -> list[int]:
        """How many bytes each word's corrections have."""
        return [packed_bytes(self.transfers.stop - self.transfers.start, lanes.bits) for lanes in self.lanes]

    @property
    def size(self) -> int:
        """How many bytes all corrections have."""
        return sum(self.sizes)


def _pages(vectors: Sequence[tuple[int, Uses, Sequence[int]]]) -> list[list[Piece]]:
    """Deal uses to vectors, given by length, uses and the widths of their numbers, and group the pieces into pages."""
    pieces = []
    for vector, (length, uses, widths) in enumerate(vectors):
        lanes = tuple(lanes_of(widths))
        dealt = uses.deal(-(-len(lanes) // 2))
        for start in range(0, length, _AT_ONCE):
            transfers = slice(start, min(start + _AT_ONCE, length))
            for at in range(0, len(dealt), _USES_AT_ONCE):
                own, first = dealt[at : at + _USES_AT_ONCE], 2 * at
                pieces.append(Piece(vector, own, first, lanes[first : first + 2 * _USES_AT_ONCE], transfers))
    ends = accumulate(piece.size for piece in pieces)
    pages = groupby(zip(pieces, ends, strict=True), lambda placed: placed[1] // _PAGE_BYTES)
    return [[piece for piece, _ in page] for _, page in pages]


def corrections_of(piece: Piece, keys: BothKeys, numbers: Numbers) -> tuple[bytes, list[Uint64s]]:
    """Return the corrections of a piece, and the sender's shares, word by word."""
    corrections, shares = [], []
    masks = (pair for zeros, ones in keys.masks(piece.uses) for pair in zip(zeros.T, ones.T, strict=True))
    for lanes, values, pair in zip(piece.lanes, numbers.words(), masks, strict=False):
        zero, one = (mask & lanes.used for mask in pair)
        corrections.append(pack(lanes.add(lanes.subtract(zero, one), values), lanes.bits))
        shares.append(lanes.subtract(np.zeros_like(zero), zero))
    return b"".join(corrections), shares


def complete(piece: Piece, keys: ChosenKeys, data: bytes) -> list[Uint64s]:
    """Return the chooser's shares of a piece, word by word, from its corrections."""
    wanted, start, shares = np.where(keys.choices, ~np.uint64(0), np.uint64(0)), 0, []
    masks = (mask for blocks in keys.masks(piece.uses) for mask in blocks.T)
    for lanes, size, mask in zip(piece.lanes, piece.sizes, masks, strict=False):
        correction = unpack(data[start : start + size], len(keys), lanes.bits)
        shares.append(lanes.add(mask & lanes.used, correction & wanted))
        start += size
    return shares


Condense = Callable[[Piece, Sequence[Uint64s]], Sequence[Any]]


class SharesTaken(Protocol):
    """Where shares go."""

    @property
    def condensed(self) -> Condense:
        """Return for each word of a piece what is wanted of its shares: a function that workers get."""

    def put(self, piece: Piece, condensed: Sequence[Any]) -> None:
        """Take it."""


class ProductShares:
    """Shares of each product: for each vector an array with a row per transfer, its words side by side."""

    def __init__(self, shapes: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.shares = [np.zeros((length, len(list(lanes_of(widths)))), WORD) for length, widths in shapes]

    @staticmethod
    def condensed(_piece: Piece, shares: Sequence[Uint64s]) -> Sequence[Uint64s]:
        """Return all of them."""
        return shares

    def put(self, piece: Piece, condensed: Sequence[Uint64s]) -> None:
        """Take the shares of a piece."""
        for at, words in enumerate(condensed, piece.first):
            self.shares[piece.vector][piece.transfers, at] = words


class SummedShares:
    """Shares of sums of products over all transfers: for each vector a number per width, modulo its power of two."""

    def __init__(self, shapes: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.shares = [[0] * len(widths) for _, widths in shapes]
        self._firsts = [[0, *accumulate(len(lanes.widths) for lanes in lanes_of(widths))] for _, widths in shapes]

    @staticmethod
    def condensed(piece: Piece, shares: Sequence[Uint64s]) -> Sequence[Sequence[int]]:
        """Return the sums of a block of records: sums of blocks add up."""
        return [lanes.sums(words) for lanes, words in zip(piece.lanes, shares, strict=True)]

    def put(self, piece: Piece, condensed: Sequence[Sequence[int]]) -> None:
        """Add the sums of a piece."""
        totals = self.shares[piece.vector]
        for lanes, sums, first in zip(piece.lanes, condensed, self._firsts[piece.vector][piece.words], strict=True):
            for at, (total, width) in enumerate(zip(sums, lanes.widths, strict=True), first):
                totals[at] = (totals[at] + total) % (1 << width)


class BlockShares:
    """Shares of sums over blocks of transfers: for each vector a row per width, a word for each block.

    Only the lowest bits of a word, as many as the width, are of its sum.
    """

    def __init__(self, shapes: Sequence[tuple[int, Sequence[int]]], block: int) -> None:
        self.shares = [np.zeros((len(widths), -(-length // block)), WORD) for length, widths in shapes]
        self._firsts = [[0, *accumulate(len(lanes.widths) for lanes in lanes_of(widths))] for _, widths in shapes]
        self._block, self.condensed = block, partial(_block_sums, block)

    def put(self, piece: Piece, condensed: Sequence[Uint64s]) -> None:
        """Add the sums of a piece, which may begin and end within a block."""
        totals, begin = self.shares[piece.vector], piece.transfers.start // self._block
        for sums, first in zip(condensed, self._firsts[piece.vector][piece.words], strict=True):
            totals[first : first + len(sums), begin : begin + sums.shape[1]] += sums


def _block_sums(block: int, piece: Piece, shares: Sequence[Uint64s]) -> list[Uint64s]:
    """Return for each word of a piece the sums over the blocks that it has a part of, a row per lane."""
    edges = np.arange(-(piece.transfers.start % block), piece.transfers.stop - piece.transfers.start, block).clip(0)
    return [
        np.stack([np.add.reduceat(words >> np.uint64(start), edges) for start in lanes.starts])
        for lanes, words in zip(piece.lanes, shares, strict=True)
    ]


Sending = tuple[BothKeys, Sequence[int], Numbers]
"""Transfers of one vector, the widths of the numbers that are multiplied by its choices, and these numbers."""
Receiving = tuple[ChosenKeys, Sequence[int]]
"""Transfers of one vector, and the widths of the numbers that its choices are multiplied by."""


@dataclass(frozen=True, eq=False, repr=False)
class CorrectionTask:
    """A page to send: the keys of some blocks of transfers, whose uses are dealt, and their numbers."""

    parts: Sequence[tuple[Piece, BothKeys, Numbers]]
    condensed: Condense


@dataclass(frozen=True, eq=False, repr=False)
class CompletionTask:
    """A page that has come, and the chosen keys of its blocks of transfers."""

    parts: Sequence[tuple[Piece, ChosenKeys]]
    data: bytes
    condensed: Condense


def make_corrections(task: CorrectionTask) -> tuple[bytes, list[Sequence[Any]]]:
    """Return a page of corrections, and what is wanted of the shares of each piece."""
    corrections, wanted = [], []
    for piece, keys, numbers in task.parts:
        data, shares = corrections_of(piece, keys, numbers)
        corrections.append(data)
        wanted.append(task.condensed(piece, shares))
    return b"".join(corrections), wanted


def complete_page(task: CompletionTask) -> list[Sequence[Any]]:
    """Return what is wanted of the shares of each piece of a page."""
    wanted, start = [], 0
    for piece, keys in task.parts:
        shares = complete(piece, keys, task.data[start : start + piece.size])
        wanted.append(task.condensed(piece, shares))
        start += piece.size
    return wanted


def send_products(vectors: Sequence[Sending], shares: SharesTaken, workers: Workers = INLINE) -> Role[None]:
    """Multiply our numbers by the peer's choices, and put our shares where they are wanted.

    Discloses: nothing; the corrections are uniform to who lacks one key of each transfer.
    """
    pages = _pages([(len(pairs), pairs.uses, widths) for pairs, widths, _ in vectors])

    def part(piece: Piece) -> tuple[Piece, BothKeys, Numbers]:
        pairs, _, numbers = vectors[piece.vector]
        return piece, pairs.part(piece.transfers), numbers.part(piece.transfers, piece.words)

    tasks = (CorrectionTask(list(map(part, page)), shares.condensed) for page in pages)
    made = workers.map(make_corrections, tasks)
    for number, (page, (corrections, wanted)) in enumerate(zip(pages, made, strict=True), 1):
        for piece, own in zip(page, wanted, strict=True):
            shares.put(piece, own)
        yield Send(CorrectionPage(corrections))
        yield Progress(Phase.COUNTS, number, len(pages))


def receive_products(vectors: Sequence[Receiving], shares: SharesTaken, workers: Workers = INLINE) -> Role[None]:
    """Multiply our choices by the peer's numbers, and put our shares where they are wanted.

    Discloses: nothing; it only receives.
    """
    pages = _pages([(len(chosen), chosen.uses, widths) for chosen, widths in vectors])

    def task(page: list[Piece], message: CorrectionPage) -> CompletionTask:
        if len(message.corrections) != sum(piece.size for piece in page):
            raise PeerError("the peer sent corrections of another length")
        parts = [(piece, vectors[piece.vector][0].part(piece.transfers)) for piece in page]
        return CompletionTask(parts, message.corrections, shares.condensed)

    def put(page: list[Piece], wanted: list[Sequence[Any]]) -> None:
        for piece, own in zip(page, wanted, strict=True):
            shares.put(piece, own)

    underway = Underway(workers, complete_page, put)
    for number, page in enumerate(pages, 1):
        underway.add(page, task(page, (yield from receive(CorrectionPage))))
        yield Progress(Phase.COUNTS, number, len(pages))
    underway.finish()
