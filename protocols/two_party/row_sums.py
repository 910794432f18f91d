"""One number per row, a sum of one side's bits with weights of the other side (DESIGN 13), as a pair of roles.

    encrypted bits     from the asker: so many for each row
    sealed answers     to the asker: one number for each row

Every row is encrypted by itself: bits that equal rows share would tell the other side which of the asker's rows are
alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder, Ciphertexts, Reply, Shape, Values
from protocols.counting.replies import page_length
from protocols.errors import DeviationError, PeerError
from protocols.messages import CiphertextPage, SealedAnswers
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables.arrays import Index
from protocols.two_party.inputs import PartyInputs

_BATCH_PAGES = 8

Bits = Callable[[Index], NDArray[np.bool_]]
"""The asker's bits of some rows, by their positions (`rows x bits`)."""
Weights = Callable[[Index], tuple[Index, NDArray[np.int32]]]
"""What each of some rows adds without any bit, and for each of them."""


@dataclass(frozen=True)
class RowPages:
    """How rows travel, and what they add up to.

    Args:
        rows: How many there are.
        bits: How many each has; maybe none.
        largest: The largest sum.
    """

    rows: int
    bits: int
    largest: int

    def pages(self, cipher: AnyCiphertexts, batch: Index | None = None) -> Iterator[Index]:
        """Cut rows, all or those of a batch, into what a message holds."""
        page, rows = self._page(cipher), np.arange(self.rows, dtype=np.intp) if batch is None else batch
        return (rows[start : start + page] for start in range(0, len(rows), page))

    def batches(self, cipher: AnyCiphertexts) -> Iterator[Index]:
        """Cut all rows into what is answered at once."""
        batch, rows = self._page(cipher) * _BATCH_PAGES, np.arange(self.rows, dtype=np.intp)
        return (rows[start : start + batch] for start in range(0, len(rows), batch))

    def _page(self, cipher: AnyCiphertexts) -> int:
        return max(1, page_length(cipher) // max(1, self.bits))


def send_bits(layout: RowPages, bits: Bits, key: AnyKeyHolder, local: PartyInputs, phase: Phase) -> Role[None]:
    """Send the encrypted bits of all rows, page by page.

    Discloses: to the peer, fresh ciphertexts under our own key.
    """
    pages = (bits(rows).astype(int).ravel().tolist() for rows in layout.pages(key.public) if layout.bits)
    done = 0
    for page in local.computing.encryption(key).encrypt_pages(pages):
        yield Send(CiphertextPage(page))
        done += len(page) // (layout.bits * key.public.ciphertext_bytes)
        yield Progress(phase, done, layout.rows)


def receive_bits(layout: RowPages, rows: Index, cipher: AnyCiphertexts) -> Role[bytes]:
    """Receive the encrypted bits of a page.

    Discloses: nothing; nothing is sent.

    Raises:
        PeerError: There are more or fewer than these rows have.
    """
    page = (yield from receive(CiphertextPage)).ciphertexts if layout.bits else b""
    if len(page) != len(rows) * layout.bits * cipher.ciphertext_bytes:
        raise PeerError("the peer sent more or fewer encrypted bits than the model asks for")
    return page


def ask_row_sums(layout: RowPages, bits: Bits, key: AnyKeyHolder, local: PartyInputs) -> Role[list[int]]:
    """Send the bits of all rows, then receive the sums, batch by batch.

    Discloses: to the peer, how many rows there are, and fresh ciphertexts.

    Raises:
        DeviationError: A number is no sum.
    """
    yield from send_bits(layout, bits, key, local, Phase.ROWS)
    told: list[int] = []
    for batch in layout.batches(key.public):
        sealed = (yield from receive(SealedAnswers)).ciphertexts
        told += key.counts(sealed, [Shape(len(batch), 1)], max(1, layout.largest))
        yield Progress(Phase.ROWS, len(told), layout.rows)
    if not all(number <= layout.largest for number in told):
        raise DeviationError
    return told


def tell_row_sums(layout: RowPages, weights: Weights, cipher: AnyCiphertexts, local: PartyInputs) -> Role[None]:
    """Receive the bits of a batch, add them up by our own weights, and return one sealed number per row.

    Discloses: to the peer, one number for each row: the sum, if it has encrypted bits; else, of the curve, whatever it
        can guess of another sum of weights, of Paillier as many bits as the largest sum needs.
    """
    done = 0
    for batch in layout.batches(cipher):
        tasks: list[RowsTask[Any]] = []
        for rows in layout.pages(cipher, batch):
            page = yield from receive_bits(layout, rows, cipher)
            tasks.append(RowsTask(cipher, page, *weights(rows)))
        sums = cipher.join(list(local.computing.workers.map(add_rows, tasks)))
        sealed = cipher.seal([Reply(sums, slots=1)], max(1, layout.largest), local.secrets.randomness)
        yield Send(SealedAnswers(sealed))
        done += len(batch)
        yield Progress(Phase.ROWS, done, layout.rows)


@dataclass(frozen=True, eq=False, repr=False)
class RowsTask(Generic[Values]):
    """A page of encrypted bits, and how each row adds them: picklable, and without a private key."""

    cipher: Ciphertexts[Values]
    page: bytes
    constants: Index
    weights: NDArray[np.int32]


def add_rows(task: RowsTask[Values]) -> Values:
    """Return the encrypted sum of each row, not yet fresh.

    A weight is added bit by bit, the highest first: all sums are doubled, then those bits are added whose weight has
    the binary digit, negative weights as the negated bits.

    Raises:
        DeviationError: A ciphertext is not one.
    """
    cipher, bits, weights = task.cipher, task.cipher.read(task.page), task.weights
    rows = np.arange(len(weights))
    total = cipher.sums(len(weights)).totals()
    for digit in reversed(range(int(np.abs(weights).max(initial=0)).bit_length())):
        sums = cipher.sums(len(weights))
        sums.add(total, rows)
        sums.add(total, rows)
        has = (np.abs(weights) >> digit & 1).astype(np.bool_)
        for positive in (True, False):
            places = np.flatnonzero(has & ((weights > 0) == positive))
            added = cipher.take(bits, places)
            sums.add(added if positive else cipher.negate(added), places // weights.shape[1])
        total = sums.totals()
    return cipher.add_numbers(total, task.constants)
