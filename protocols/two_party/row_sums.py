"""Encrypted bits of rows, page by page, as a pair of roles: so many for each row.

Every row is encrypted by itself: bits that equal rows share would tell the other side which of the asker's rows are
alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder
from protocols.counting.replies import page_length
from protocols.errors import PeerError
from protocols.messages import CiphertextPage
from protocols.role import Phase, Progress, Role, Send, receive
from protocols.tables.arrays import Index
from protocols.two_party.inputs import PartyInputs

Bits = Callable[[Index], NDArray[np.bool_]]
"""The asker's bits of some rows, by their positions (`rows x bits`)."""


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

    def pages(self, cipher: AnyCiphertexts) -> Iterator[Index]:
        """Cut rows into what a message holds."""
        page, rows = self._page(cipher), np.arange(self.rows, dtype=np.intp)
        return (rows[start : start + page] for start in range(0, len(rows), page))

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
