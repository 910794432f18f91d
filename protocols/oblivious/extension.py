"""As many transfers as are wanted, from trees of seeds; no key of a page leaves before the page is checked.

SoftSpokenOT (Roy, CRYPTO 2022) with a repetition code; `k` trades bytes for work, `128/k` bits a transfer cross, and at
`k = 1` it is the extension of Ishai, Kilian, Nissim and Petrank as Asharov, Lindell, Schneider and Zohner have it (CCS
2013). With `r_y` the stream of leaf `y` of a tree, and `D` the place that the sender lacks:

    chooser    u = sum of all r_y, t_b = sum of the r_y of which bit b of y is set; sends u + x for the choices x
    sender     q_b = sum of the r_y of which bit b of y + D is set, and u + x besides where D_b is set
    both       q_b = t_b + D_b x: in all trees 128 columns, whose rows are keys that differ by the offset where x is 1

*Functionality*: correlated transfers, endemic; who chooses may deviate and learn some bits of the offset, each guess
halving its chance to go on, and not more.
*Check* (Roy 2022, section 4; the rows of Keller, Orsini and Scholl 2015 have no proof any more): columns and choices
are hashed linearly, `H(q_b) = H(t_b) + D_b H(x)` must hold for all 128 columns, and 128 transfers of random choice that
nothing else uses hide what the hashes would reveal. One check per page, with the page.
*Assumed*: AES in counter mode as a generator; SHA-256 as a random oracle for the key of the hash.
*Deviations*: the key of the hash is a digest of the page (Fiat and Shamir) in the place of a challenge, which saves an
exchange: two columns of a page agree with chance 2**-115 at most per digest that is tried.
*Never again*: transfers are numbered, over all pages of a session; the number is the place in the streams, and part of
every mask's tweak (`masks`). A failed check ends the session for good.

A session has both directions of transfers, made in three exchanges:

    both ways   a fresh nonce and the point of who will choose
    both ways   the points of who will send, which chooses its offset by them
    both ways   the hints of who will choose

Each direction has a name: a digest of both nonces, the chooser's first, and of its point. Nonces are drawn
when the session is made, and one of both suffices: a machine put back to an earlier state, which draws as before, has a
new name and new masks all the same. A nonce that comes back as the peer's is refused: both directions would be one.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocols.errors import DeviationError, InputError, PeerError
from protocols.messages import BaseOffer, BasePoints, ChoicePage
from protocols.oblivious.aes import BLOCK_BYTES, Blocks, Stream, hash_columns
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer
from protocols.oblivious.bits import WORD, Bytes, rows_of
from protocols.oblivious.masks import BothKeys, ChosenKeys, Keys, Numbering
from protocols.oblivious.seeds import Follower, Trees, grow
from protocols.randomness import Randomness, canonical
from protocols.role import Phase, Progress, Role, Send, exchange, receive
from protocols.work import AT_HOME, INLINE, Places, Underway, Workers

DEPTHS: Final = (1, 2, 4, 8)
"""Of trees (`k`): more are fewer bytes and more work."""
SACRIFICED: Final = 128
_PAGE_BYTES: Final = 1 << 20
Choices = NDArray[np.bool_]


class Direction:
    """What one side has of a direction of a session: seeds, and how many transfers there were.

    `trees` have the seeds of each, in the order of their places as seen from the one that a sender lacks, without it.
    """

    def __init__(self, session: bytes, depth: int, trees: Trees, workers: Workers) -> None:
        self.session, self.depth, self._trees, self._workers = session, depth, trees, workers
        self._streams = list[list[list[Stream]]]()  # of one thread each; each page says where it reads, and none twice
        self._fixed = hashlib.sha256(canonical(b"masks", session)).digest()[:BLOCK_BYTES]
        self._next, self._over = 0, False

    @property
    def _most(self) -> int:
        """How many transfers of a page are used."""
        return 8 * _PAGE_BYTES * self.depth // TRANSFERS - SACRIFICED

    def _pages(self, count: int) -> list[tuple[int, int, int]]:
        """Return for each page the number of its first transfer, how many are used, and how many it has.

        All are numbered before the first one crosses: another batch may be made meanwhile.
        """
        if self._over:
            raise DeviationError
        pages = []
        for start in range(0, count, self._most):
            used = min(self._most, count - start)
            length = -(-used // SACRIFICED) * SACRIFICED + SACRIFICED
            first, self._next = self._next, self._next + length
            pages.append((first, used, length))
        return pages

    def _columns(self, first: int, length: int) -> tuple[Bytes, Bytes]:
        """Return the sum of each tree's streams, and the sums for each bit of the places, seen from the missing one."""
        sums = np.empty((len(self._trees), length // 8), np.uint8)
        columns = np.empty((TRANSFERS, length // 8), np.uint8)
        try:
            trees = self._streams.pop()
        except IndexError:  # all are in use by other threads
            trees = [[Stream(seed) for seed in seeds] for seeds in self._trees]
        rows = np.zeros((1 << self.depth, length // 8), np.uint8)
        for number, known in enumerate(trees):
            for row, stream in zip(rows[-len(known) :], known, strict=True):
                stream.read(first // SACRIFICED, row)
            rows[: -len(known)] = 0
            for bit in reversed(range(self.depth)):
                low, high = rows[: 1 << bit], rows[1 << bit : 2 << bit]
                np.bitwise_xor.reduce(high, out=columns[number * self.depth + bit])
                low ^= high
            sums[number] = rows[0]
        self._streams.append(trees)
        return sums, columns

    def _hashes(self, first: int, matrix: bytes, columns: Bytes) -> Blocks:
        key = hashlib.sha256(canonical(b"check", self.session, first.to_bytes(8, "big"), matrix)).digest()
        return hash_columns(key[:BLOCK_BYTES], columns)

    def _empty(self, sizes: Sequence[int]) -> list[Keys]:
        """Return keys for the next transfers, vector by vector, which wait to be filled in."""
        starts = accumulate(sizes, initial=0)
        numberings = (Numbering(self._next, self._most, SACRIFICED, start) for start in starts)
        return [
            Keys(self._fixed, numbering, np.empty((size, 2), WORD))
            for numbering, size in zip(numberings, sizes, strict=False)
        ]


def _fill(vectors: Sequence[Keys], start: int, rows: Blocks) -> None:
    """Put the keys of consecutive transfers where they belong."""
    for vector in vectors:
        place = start - vector.numbering.start
        if -len(rows) < place < len(vector.keys):
            own = rows[max(0, -place) : len(vector.keys) - place]
            vector.keys[max(0, place) : max(0, place) + len(own)] = own


class Chooser(Direction):
    """Who chooses: knows all seeds. Workers get the seeds, so they are of this process alone.

    Discloses: nothing; who follows the protocol sends what is uniform to the sender.
    """

    def __init__(
        self, session: bytes, depth: int, trees: Trees, randomness: Randomness, workers: Workers = INLINE
    ) -> None:
        super().__init__(session, depth, trees, workers)
        self._randomness = randomness

    def extend(self, vectors: Sequence[Choices]) -> Role[list[ChosenKeys]]:
        """Choose in as many transfers as the vectors have choices, of which there is one at least."""
        choices, start, keys = np.concatenate(vectors), 0, self._empty(list(map(len, vectors)))
        pages = self._pages(len(choices))
        made = self._workers.map(self._choose, self._chosen(choices, pages))
        for (_, used, _), (page, rows) in zip(pages, made, strict=True):
            yield Send(page)
            _fill(keys, start, rows[:used])
            start += used
            yield Progress(Phase.COLUMNS, start, len(choices))
        return [ChosenKeys(vector, each) for vector, each in zip(vectors, keys, strict=True)]

    def _chosen(self, choices: Choices, pages: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, Bytes]]:
        """Yield for each page the number of its first transfer, its length, and its choices."""
        start = 0
        for first, used, length in pages:
            own = np.packbits(choices[start : start + used], bitorder="little")
            yield first, length, self._filled(own, used, length)
            start += used

    def _filled(self, choices: Bytes, used: int, length: int) -> Bytes:
        """Fill the choices of a page up by random ones."""
        chance = self._randomness.randbelow(1 << length - used) << used % 8
        filled = np.zeros(length // 8, np.uint8)
        filled[: len(choices)] = choices
        filled[used // 8 :] |= np.frombuffer(chance.to_bytes(length // 8 - used // 8, "little"), np.uint8)
        return filled

    def _choose(self, task: tuple[int, int, Bytes]) -> tuple[ChoicePage, Blocks]:
        first, length, choices = task
        sums, columns = self._columns(first, length)
        matrix = (sums ^ choices).tobytes()
        check = self._hashes(first, matrix, np.concatenate([choices[None], columns]))
        return ChoicePage(matrix, check.tobytes()), rows_of(columns)


class Sender(Direction):
    """Who sends: lacks one seed of each tree, whose places are its secret offset, tree by tree, the lowest bit first.

    Discloses: nothing; it only receives. Who deviates learns whether a guess of the offset was right: it goes on if so.
    """

    def __init__(
        self, session: bytes, depth: int, trees: Trees, offset: Sequence[int], workers: Workers = INLINE
    ) -> None:
        bits = np.array(offset, np.uint8).reshape(-1, depth)
        missing = [sum(bit << at for at, bit in enumerate(place)) for place in bits.tolist()]
        known = [[seeds[at ^ hole] for at in range(1, len(seeds))] for seeds, hole in zip(trees, missing, strict=True)]
        super().__init__(session, depth, known, workers)
        self._turned = np.flatnonzero(bits)
        self._offset = np.packbits(bits, bitorder="little").view(WORD)

    def extend(self, sizes: Sequence[int]) -> Role[list[BothKeys]]:
        """Receive the choices of vectors of these sizes, all of them hidden, and check each page."""
        start, vectors = 0, self._empty(sizes)

        def put(place: tuple[int, int], rows: Blocks) -> None:
            begin, used = place
            _fill(vectors, begin, rows[:used])

        underway = Underway(self._workers, self._take, put)
        for first, used, length in self._pages(sum(sizes)):
            underway.add((start, used), (first, length, (yield from receive(ChoicePage))))
            start += used
            yield Progress(Phase.COLUMNS, start, sum(sizes))
        underway.finish()
        return [BothKeys(keys, self._offset) for keys in vectors]

    def _take(self, task: tuple[int, int, ChoicePage]) -> Blocks:
        first, length, page = task
        trees = TRANSFERS // self.depth
        if len(page.matrix) != trees * length // 8 or len(page.check) != BLOCK_BYTES * (TRANSFERS + 1):
            raise PeerError("the peer sent a page of choices of another length")
        columns = self._columns_of(first, length, page.matrix)
        check = np.frombuffer(page.check, WORD).reshape(-1, 2)
        expected = check[1:].copy()
        expected[self._turned] ^= check[0]
        if not hmac.compare_digest(self._hashes(first, page.matrix, columns).tobytes(), expected.tobytes()):
            self._over = True
            raise DeviationError
        return rows_of(columns)

    def simulate(self, first: int, length: int, randomness: Randomness) -> ChoicePage:
        """Return a page as the sender sees it, from its own seeds and uniform strings."""
        matrix, choices = (
            randomness.randbelow(1 << 8 * size).to_bytes(size, "little")
            for size in (len(self._trees) * length // 8, BLOCK_BYTES)
        )
        hashes = self._hashes(first, matrix, self._columns_of(first, length, matrix)).copy()
        drawn = np.frombuffer(choices, WORD)
        hashes[self._turned] ^= drawn
        return ChoicePage(matrix, choices + hashes.tobytes())

    def _columns_of(self, first: int, length: int, matrix: bytes) -> Bytes:
        """Return the columns of this side, which differ from the chooser's where the offset and the choice are 1."""
        _, columns = self._columns(first, length)
        sent = np.frombuffer(matrix, np.uint8).reshape(len(self._trees), -1)
        columns[self._turned] ^= sent[self._turned // self.depth]
        return columns


TREE_DEPTH: Final = 4
"""Of the trees of seeds in every run: four bytes a transfer, and little more work than any other."""
_NONCE_BYTES: Final = 32


@dataclass(frozen=True, repr=False)
class Transfers:
    """Both directions of one session: what we choose, and what we send; and where we work at it."""

    chooser: Chooser
    sender: Sender
    places: Places = AT_HOME


def set_up(depth: int, randomness: Randomness, places: Places = AT_HOME) -> Role[Transfers]:
    """Make both directions of a session, from trees of seeds of one depth (`k`) at both sides.

    Discloses: nothing; a peer that deviates may guess bits of our offset, and a wrong guess ends the session.
    """
    if depth not in DEPTHS:
        raise InputError(f"must be one of {DEPTHS}", field="depth")
    nonce = randomness.randbelow(1 << 8 * _NONCE_BYTES).to_bytes(_NONCE_BYTES, "big")
    secret, point = make_offer(randomness)
    theirs = yield from exchange(BaseOffer(nonce, point))
    if len(theirs.nonce) != _NONCE_BYTES or theirs.nonce == nonce:
        raise PeerError("the peer sent no fresh bytes of its own")
    choosing, sending = _name(nonce, theirs.nonce, point), _name(theirs.nonce, nonce, theirs.point)
    offset = [randomness.randbelow(2) for _ in range(TRANSFERS)]
    points, keys = choose(sending, read_offer(theirs.point), [1 - bit for bit in offset], randomness)
    pairs = answer_choices(choosing, secret, (yield from exchange(BasePoints(points))).points)
    trees, hints = grow(choosing, pairs, depth)
    known = Follower(sending, depth, offset, keys).follow((yield from exchange(hints)))
    chooser = Chooser(choosing, depth, trees, randomness, places.home)
    return Transfers(chooser, Sender(sending, depth, known, offset, places.home), places)


def _name(chooser: bytes, sender: bytes, point: bytes) -> bytes:
    return hashlib.sha256(canonical(b"oblivious transfer", chooser, sender, point)).digest()
