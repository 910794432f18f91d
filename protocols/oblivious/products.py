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
numbers for bits, and so a weighted sum for a count.
*Never again*: corrections are sent for all records of the chooser's vector, always: which records have one would show
the chooser the sender's columns, record by record. Each number has a use of its own of its transfer's keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from protocols.errors import PeerError
from protocols.messages import CorrectionPage
from protocols.oblivious.aes import WORD, Blocks, Uint64s
from protocols.oblivious.bits import pack, packed_bytes, unpack
from protocols.oblivious.lanes import Lanes, lanes_of
from protocols.oblivious.masks import BothKeys, ChosenKeys, Uses
from protocols.randomness import Randomness
from protocols.role import Phase, Progress, Role, Send, receive

NumberSource = Callable[[int, slice], Uint64s]
"""The sender's numbers: those of one word, for some transfers."""

_PAGE_BYTES: Final = 1 << 20
_AT_ONCE: Final = 1 << 14
"""Transfers whose masks are formed together: a multiple of 64."""


@dataclass(frozen=True)
class Piece:
    """What is masked by one use of the keys of some transfers of a vector: up to two words of numbers each."""

    vector: int
    use: int
    first: int
    words: tuple[Lanes, ...]
    transfers: slice

    @property
    def sizes(self) -> list[int]:
        """How many bytes each word's corrections have."""
        return [packed_bytes(self.transfers.stop - self.transfers.start, lanes.bits) for lanes in self.words]

    @property
    def size(self) -> int:
        """How many bytes all corrections have."""
        return sum(self.sizes)


def _pages(vectors: Sequence[tuple[int, Uses, Sequence[int]]]) -> list[list[Piece]]:
    """Deal uses to vectors, given by length, uses and the widths of their numbers, and group the pieces into pages."""
    pieces = []
    for vector, (length, uses, widths) in enumerate(vectors):
        words = list(lanes_of(widths))
        for at, use in zip(range(0, len(words), 2), uses.deal(-(-len(words) // 2)), strict=True):
            for start in range(0, length, _AT_ONCE):
                transfers = slice(start, min(start + _AT_ONCE, length))
                pieces.append(Piece(vector, use, at, tuple(words[at : at + 2]), transfers))
    ends = accumulate(piece.size for piece in pieces)
    pages = groupby(zip(pieces, ends, strict=True), lambda placed: placed[1] // _PAGE_BYTES)
    return [[piece for piece, _ in page] for _, page in pages]


def _words(piece: Piece, masks: Blocks) -> list[Uint64s]:
    return [words & lanes.used for lanes, words in zip(piece.words, masks.T, strict=False)]


def correct(piece: Piece, keys: BothKeys, numbers: NumberSource) -> tuple[bytes, list[Uint64s]]:
    """Return the corrections of a piece, and the sender's shares, word by word."""
    corrections, shares = [], []
    zeros, ones = (_words(piece, masks) for masks in keys.masks(piece.use, piece.transfers))
    for at, (lanes, zero, one) in enumerate(zip(piece.words, zeros, ones, strict=True), piece.first):
        values = numbers(at, piece.transfers)
        corrections.append(pack(lanes.add(lanes.subtract(zero, one), values), lanes.bits))
        shares.append(lanes.subtract(np.zeros_like(zero), zero))
    return b"".join(corrections), shares


def complete(piece: Piece, keys: ChosenKeys, data: bytes) -> list[Uint64s]:
    """Return the chooser's shares of a piece, word by word, from its corrections."""
    choices = keys.choices[piece.transfers]
    wanted, start, shares = np.where(choices, ~np.uint64(0), np.uint64(0)), 0, []
    masks = _words(piece, keys.masks(piece.use, piece.transfers))
    for lanes, size, mask in zip(piece.words, piece.sizes, masks, strict=True):
        told = unpack(data[start : start + size], len(choices), lanes.bits)
        shares.append(lanes.add(mask, told & wanted))
        start += size
    return shares


class ProductShares:
    """Shares of each product: for each vector an array with a row per transfer, its words side by side.

    Args:
        shapes: Of each vector the number of transfers and the widths of the numbers.
    """

    def __init__(self, shapes: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.shares = [np.zeros((length, len(list(lanes_of(widths)))), WORD) for length, widths in shapes]

    def put(self, piece: Piece, shares: Sequence[Uint64s]) -> None:
        """Take the shares of a piece."""
        for at, words in enumerate(shares, piece.first):
            self.shares[piece.vector][piece.transfers, at] = words


class SummedShares:
    """Shares of sums of products over all transfers: for each vector a number per width, modulo its power of two.

    Args:
        shapes: Of each vector the number of transfers and the widths of the numbers.
    """

    def __init__(self, shapes: Sequence[tuple[int, Sequence[int]]]) -> None:
        self.shares = [[0] * len(widths) for _, widths in shapes]
        self._firsts = [[0, *accumulate(len(lanes.widths) for lanes in lanes_of(widths))] for _, widths in shapes]

    def put(self, piece: Piece, shares: Sequence[Uint64s]) -> None:
        """Add the shares of a piece."""
        totals = self.shares[piece.vector]
        for lanes, words, first in zip(piece.words, shares, self._firsts[piece.vector][piece.first :], strict=False):
            for at, (total, width) in enumerate(zip(lanes.sums(words), lanes.widths, strict=True), first):
                totals[at] = (totals[at] + total) % (1 << width)


Sending = tuple[BothKeys, Sequence[int], NumberSource]
"""Transfers of one vector, the widths of the numbers that are multiplied by its choices, and these numbers."""
Receiving = tuple[ChosenKeys, Sequence[int]]
"""Transfers of one vector, and the widths of the numbers that its choices are multiplied by."""


def send_products(vectors: Sequence[Sending], shares: ProductShares | SummedShares) -> Role[None]:
    """Multiply our numbers by the peer's choices, and put our shares where they are wanted.

    Discloses: nothing; the corrections are uniform to who lacks one key of each transfer.
    """
    pages = _pages([(len(pairs), pairs.uses, widths) for pairs, widths, _ in vectors])
    for number, page in enumerate(pages, 1):
        corrections = []
        for piece in page:
            pairs, _, numbers = vectors[piece.vector]
            data, own = correct(piece, pairs, numbers)
            corrections.append(data)
            shares.put(piece, own)
        yield Send(CorrectionPage(b"".join(corrections)))
        yield Progress(Phase.COUNTS, number, len(pages))


def receive_products(vectors: Sequence[Receiving], shares: ProductShares | SummedShares) -> Role[None]:
    """Multiply our choices by the peer's numbers, and put our shares where they are wanted.

    Discloses: nothing; it only receives.

    Raises:
        PeerError: A page has another length.
    """
    pages = _pages([(len(chosen), chosen.uses, widths) for chosen, widths in vectors])
    for number, page in enumerate(pages, 1):
        data, start = (yield from receive(CorrectionPage)).corrections, 0
        if len(data) != sum(piece.size for piece in page):
            raise PeerError("the peer sent corrections of another length")
        for piece in page:
            shares.put(piece, complete(piece, vectors[piece.vector][0], data[start : start + piece.size]))
            start += piece.size
        yield Progress(Phase.COUNTS, number, len(pages))


class BitColumn(Protocol):
    """A column of bits, such as an array of them."""

    def __getitem__(self, records: slice, /) -> NDArray[np.bool_]:
        """Return those of some records."""
        ...


def bits_as_numbers(columns: Sequence[BitColumn], widths: Sequence[int]) -> NumberSource:
    """Return numbers that are bits, from one column of bits for each width."""
    words = list(lanes_of(widths))
    ends = list(accumulate(len(lanes.widths) for lanes in words))

    def numbers(word: int, transfers: slice) -> Uint64s:
        lanes = words[word]
        result = np.zeros(transfers.stop - transfers.start, WORD)
        own = columns[ends[word] - len(lanes.widths) : ends[word]]
        for start, column in zip(lanes.starts, own, strict=True):
            result |= column[transfers].astype(WORD) << np.uint64(start)
        return result

    return numbers


def simulate_page(size: int, randomness: Randomness) -> CorrectionPage:
    """Return a page as the chooser sees it: uniform bytes."""
    return CorrectionPage(randomness.randbelow(1 << 8 * size).to_bytes(size, "big"))
