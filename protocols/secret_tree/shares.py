"""Shares of counts `N(E)`: as `counting.oblivious`, of which no sum is opened.

A vector of transfers over all records serves each distinct part of the chooser's, for as long as a level needs it. What
the corrector can count alone, since the chooser's part is empty, crosses in no form.

    blocks      sums over blocks of fewer than 2**(w - 1) records cross modulo 2**w, w of a few bits
    carries     x + y of both shares is the sum, or 2**w more: the sum's highest bit is 0, so this is where the highest
                bit of x or of y is 1, and the bits' product one transfer, which the corrector chooses
    counts      the sums of x, less 2**w for each carry, modulo 2**width

`w` is what takes the fewest bytes for these records; where that is all of the width, there is one block and no carry.

Of what competes at the nodes of a tree, the last value's counts follow from the node's, and one child's from its
parent's and its siblings' where all have them: shares add up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protocols.counting.oblivious import MOST_TRANSFERS, AskedCount, ColumnSides, SatisfiedRows, keep_keys
from protocols.oblivious.base import TRANSFERS
from protocols.oblivious.bits import WORD, Uint64s, lanes_of
from protocols.oblivious.extension import TREE_DEPTH, Transfers
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.numbers import modulus_mask
from protocols.oblivious.products import BitsAsNumbers, BlockShares, bits_as_numbers, receive_products, send_products
from protocols.role import Role
from protocols.tables import ROOT, Codes, Expression, Schema, Term


class SharedCounts:
    """Counts records, joint codes with our own columns filled in, together with the peer; gives a share of each count.

    Who chooses is the side without the class; `room` is how much is added to a count before it is opened.

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
        """Return our shares of how many records satisfy each expression, modulo `2**width`: ours if None is given."""
        width = self.width if width is None else width
        vectors = self._sides.vectors([(place, width, each) for place, each in enumerate(what)])
        alone = vectors.pop(ROOT, [])
        result = np.zeros(len(what), WORD)
        if not self._is_chooser:
            for cell in alone:
                result[cell.place] = np.count_nonzero(cell.rows.satisfied_by(self._codes))
        if vectors:
            places = [cell.place for cells in vectors.values() for cell in cells]
            narrow = block_width(self.records, width)
            sums = yield from self._multiply(vectors, narrow, self.records if narrow == width else _block(narrow))
            result[places] = yield from self._widened(sums, narrow, width)
        return result

    def _multiply(self, vectors: Mapping[Expression, Sequence[AskedCount]], narrow: int, block: int) -> Role[Uint64s]:
        """Return our shares of the sums over blocks, cell by cell, modulo `2**narrow` (`cells x blocks`)."""
        widths = [[narrow] * len(cells) for cells in vectors.values()]
        shares = BlockShares([(self.records, each) for each in widths], max(block, 1))
        if self._is_chooser:
            chooser = self._transfers.chooser
            yield from keep_keys(
                self._chosen, vectors, lambda new: chooser.extend([own.satisfied_by(self._codes) for own in new])
            )
            receiving = [(self._chosen[own], each) for own, each in zip(vectors, widths, strict=True)]
            yield from receive_products(receiving, shares, self._transfers.places.blocks)
        else:
            sender = self._transfers.sender
            yield from keep_keys(self._both, vectors, lambda new: sender.extend([self.records] * len(new)))
            sending = [
                (
                    self._both[own],
                    each,
                    BitsAsNumbers(SatisfiedRows([cell.rows for cell in cells], self._codes), list(lanes_of(each))),
                )
                for (own, cells), each in zip(vectors.items(), widths, strict=True)
            ]
            yield from send_products(sending, shares, self._transfers.places.blocks)
        sums: Uint64s = np.concatenate(shares.shares) & modulus_mask(narrow)
        return sums

    def _widened(self, sums: Uint64s, narrow: int, width: int) -> Role[Uint64s]:
        """Return our shares of counts, modulo `2**width`, from those of the sums over their blocks."""
        result: Uint64s = sums.sum(1, dtype=WORD)
        if narrow < width:
            highest = (sums >> np.uint64(narrow - 1)).astype(np.bool_)
            most = max(1, MOST_TRANSFERS // sums.shape[1])
            for start in range(0, len(sums), most):
                both = yield from self._both_of(highest[start : start + most], width - narrow)
                carries = highest[start : start + most].sum(1, dtype=WORD) - both
                result[start : start + most] -= carries << np.uint64(narrow)
        result &= modulus_mask(width)
        return result

    def _both_of(self, bits: NDArray[np.bool_], width: int) -> Role[Uint64s]:
        """Return our shares, modulo `2**width`, of how many bits of a row are 1 at both sides."""
        own, widths, workers = bits.reshape(-1), [width], self._transfers.places.blocks
        shares = BlockShares([(len(own), widths)], bits.shape[1])
        if self._is_chooser:
            (pairs,) = yield from self._transfers.sender.extend([len(own)])
            yield from send_products([(pairs, widths, bits_as_numbers([own], widths))], shares, workers)
        else:
            (chosen,) = yield from self._transfers.chooser.extend([own])
            yield from receive_products([(chosen, widths)], shares, workers)
        result: Uint64s = shares.shares[0][0]
        return result


def block_width(records: int, width: int) -> int:
    """Return how many bits the sums over blocks have, such that the fewest bits cross for each count."""
    widths: list[int] = [width, *range(2, width)]
    return min(widths, key=lambda narrow: crossing_bits(records, width, narrow))


def crossing_bits(records: int, width: int, narrow: int) -> int:
    """Return how many bits cross for each count, beside the vector, whose sums over blocks have this many bits."""
    carries = 0 if narrow == width else -(-records // _block(narrow))
    return records * narrow + carries * (TRANSFERS // TREE_DEPTH + width - narrow)


def _block(narrow: int) -> int:
    """Return of how many records a sum has this many bits, the highest of which is 0."""
    block: int = (1 << narrow - 1) - 1
    return max(1, block)


Tables = Mapping[int, Uint64s]
"""Our shares of the counts of each candidate (`values x classes`)."""


@dataclass(frozen=True, eq=False, repr=False)
class HiddenNode:
    """A node of which nobody knows how many records it has.

    `counts` are our shares of its classes' counts; of its parent, if this session has split it, `of_parent` are those
    of the bits of its label, and `above` those of its candidates' counts. `candidates` may split the node: nothing if
    it is not asked.
    """

    expression: Expression
    counts: Uint64s
    of_parent: NDArray[np.bool_] | None = None
    above: Tables | None = None
    candidates: tuple[int, ...] = ()


def count_candidates(counts: SharedCounts, schema: Schema, nodes: Sequence[HiddenNode]) -> Role[list[Tables]]:
    """Return our shares of the counts of all candidates of each node.

    Discloses: nothing; what crosses is masked.
    """
    spared, classes, sizes = _spared(schema, nodes), schema.classes, [each.size for each in schema.attributes]
    counted = [(at, each) for at, node in enumerate(nodes) for each in node.candidates if (at, each) not in spared]
    what = [
        nodes[at].expression.child(candidate, value) & Term(schema.class_index, label)
        for at, candidate in counted
        for value in range(sizes[candidate] - 1)
        for label in range(classes)
    ]
    shares, start = (yield from counts.count(what)).reshape(-1, classes), 0
    tables: list[dict[int, Uint64s]] = [{} for _ in nodes]
    for at, candidate in counted:
        rows = shares[start : start + sizes[candidate] - 1]
        start += len(rows)
        tables[at][candidate] = np.concatenate([rows, (nodes[at].counts - rows.sum(0, dtype=WORD))[None]])
    for (at, candidate), (total, siblings) in spared.items():
        tables[at][candidate] = total
        for each in siblings:
            tables[at][candidate] = tables[at][candidate] - tables[each][candidate]
    return list(tables)


def _spared(schema: Schema, nodes: Sequence[HiddenNode]) -> dict[tuple[int, int], tuple[Uint64s, list[int]]]:
    """Return which candidates of which nodes follow from the parent's shares and those of the other branches: both.

    The node is the last branch of a split all of whose branches are counted; all windows have the candidate.
    """
    branches: dict[Expression, list[int]] = {}
    for at, node in enumerate(nodes):
        if node.above is not None:
            branches.setdefault(node.expression.parent, []).append(at)
    spared = {}
    for *siblings, at in branches.values():
        last = nodes[at]
        if last.above is not None and len(siblings) + 1 == schema.attributes[last.expression.terms[-1].column].size:
            windows = [last.above, *(nodes[each].candidates for each in siblings)]
            for candidate in last.candidates:
                if all(candidate in window for window in windows):
                    spared[at, candidate] = last.above[candidate], siblings
    return spared
