"""Shares of counts `N(E)`: as `counting.oblivious`, of which no sum is opened.

A vector of transfers over all records serves each distinct part of the chooser's, for as long as a level needs it. What
the corrector can count alone, since the chooser's part is empty, crosses in no form.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from protocols.counting.oblivious import AskedCount, ColumnSides, SatisfiedRows
from protocols.oblivious.aes import WORD, Uint64s
from protocols.oblivious.lanes import lanes_of
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import BitsAsNumbers, SummedShares, receive_products, send_products
from protocols.oblivious.session import Transfers
from protocols.role import Role
from protocols.tables.table import ROOT, Codes, Expression


class SharedCounts:
    """Counts records together with the peer, and gives a share of each count.

    Args:
        sides: Who holds which columns.
        codes: Joint codes with our own columns filled in.
        transfers: Of the session.
        is_chooser: Whether we choose: we are the side without the class.
        room: How much is added to a count before it is opened.

    Discloses: nothing; what crosses is masked.
    """

    def __init__(
        self, sides: ColumnSides, codes: Codes, transfers: Transfers, *, is_chooser: bool, room: int = 0
    ) -> None:
        self._sides, self._codes, self._transfers, self._is_chooser = sides, codes, transfers, is_chooser
        self.records, self.width = len(codes), (len(codes) + room).bit_length()
        self._chosen: dict[Expression, ChosenKeys] = {}
        self._both: dict[Expression, BothKeys] = {}

    def count(self, what: Sequence[Expression], width: int | None = None) -> Role[Uint64s]:
        """Return our shares of how many records satisfy each expression, modulo `2**width`: ours if None is given.

        Raises:
            PeerError: The peer sent what the protocol does not allow.
        """
        width = self.width if width is None else width
        vectors = self._sides.vectors([(place, width, each) for place, each in enumerate(what)])
        alone = vectors.pop(ROOT, [])
        result = np.zeros(len(what), WORD)
        if not self._is_chooser:
            for cell in alone:
                result[cell.place] = np.count_nonzero(cell.rows.satisfied_by(self._codes))
        if vectors:
            shares = yield from self._multiply(vectors)
            for cells, own in zip(vectors.values(), shares.shares, strict=True):
                for cell, share in zip(cells, own, strict=True):
                    result[cell.place] = share
        return result

    def _multiply(self, vectors: Mapping[Expression, Sequence[AskedCount]]) -> Role[SummedShares]:
        widths = [[cell.width for cell in cells] for cells in vectors.values()]
        shares = SummedShares([(len(self._codes), each) for each in widths])
        if self._is_chooser:
            kept = {own: keys for own, keys in self._chosen.items() if own in vectors}
            new = [own for own in vectors if own not in kept]
            self._chosen = kept
            if new:
                fresh = yield from self._transfers.chooser.extend([own.satisfied_by(self._codes) for own in new])
                self._chosen |= dict(zip(new, fresh, strict=True))
            yield from receive_products(
                [(self._chosen[own], each) for own, each in zip(vectors, widths, strict=True)],
                shares,
                self._transfers.places.blocks,
            )
        else:
            kept_both = {own: keys for own, keys in self._both.items() if own in vectors}
            new = [own for own in vectors if own not in kept_both]
            self._both = kept_both
            if new:
                pairs = yield from self._transfers.sender.extend([len(self._codes)] * len(new))
                self._both |= dict(zip(new, pairs, strict=True))
            sending = [
                (
                    self._both[own],
                    each,
                    BitsAsNumbers(SatisfiedRows([cell.rows for cell in cells], self._codes), list(lanes_of(each))),
                )
                for (own, cells), each in zip(vectors.items(), widths, strict=True)
            ]
            yield from send_products(sending, shares, self._transfers.places.blocks)
        return shares
