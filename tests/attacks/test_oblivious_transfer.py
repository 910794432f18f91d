"""A chooser whose columns do not agree on its choices, and what two numbers under one mask tell.

The sender's key of a transfer is `t + D x`, row by row, `t` the chooser's own and `D` the offset. Where one tree's
masked choices have an error in one transfer, the key has that tree's part of `D` besides. Whether it has is heard as
soon as something that follows from the key is known, such as a count: its share has masks of the key in it. So a
chooser with a vector of its own for each tree reads that tree's part among `2**k` from one opened sum, and with all of
`D` both masks of every transfer, whole columns. The check of each page ends it.
"""

import hmac
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.errors import DeviationError
from protocols.messages import ChoicePage, CorrectionPage
from protocols.oblivious.aes import Uint64s
from protocols.oblivious.bits import rows_of, unpack
from protocols.oblivious.extension import _fill
from protocols.oblivious.lanes import lanes_of
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import GivenNumbers, bits_as_numbers
from protocols.oblivious.session import Transfers
from protocols.role import Transcript
from tests.protocols.oblivious.parts import Bits, extend, meet, multiply, opened, random_bits
from tests.support.duel import replay

DEPTH = 4
TREES = 128 // DEPTH
RECORDS = 200
WIDTH = 40
NOBODY = np.zeros(RECORDS, bool)
Rows = NDArray[np.intp]
COLUMN = random_bits(RECORDS, 77)
"""The sender's, one bit for each record."""


def choosing_nobody(one: Transfers, trees: range) -> tuple[ChoicePage, list[ChosenKeys]]:
    """Choose nobody in a vector for each of so many trees, err in that tree's first record, and prove it as if not."""
    chooser, length = one.chooser, -(-RECORDS * TREES // 128) * 128 + 128
    sums, columns = chooser._columns(0, length)
    for tree in trees:
        sums[tree, RECORDS * tree // 8] ^= 1 << RECORDS * tree % 8
    check = chooser._hashes(0, sums.tobytes(), np.concatenate([np.zeros((1, length // 8), np.uint8), columns]))
    keys = chooser._empty([RECORDS] * TREES)
    _fill(keys, 0, rows_of(columns)[: RECORDS * TREES])
    return ChoicePage(sums.tobytes(), check.tobytes()), [ChosenKeys(NOBODY, each) for each in keys]


def taken(other: Transfers, page: ChoicePage) -> list[BothKeys]:
    keys = replay(other.sender.extend([RECORDS] * TREES), [page]).result
    assert keys is not None
    return keys


def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the check out."""
    monkeypatch.setattr(hmac, "compare_digest", lambda *_: True)


def shifted(keys: ChosenKeys, tree: int, part: int) -> Uint64s:
    """Return the masks as they are if this is the tree's part of the offset: it is in the key of the first record."""
    moved = keys.chosen.keys.copy()
    moved[0] ^= np.frombuffer((part << DEPTH * tree).to_bytes(16, "little"), np.uint64)
    return next(replace(keys.chosen, keys=moved).masks([0]))[:, 0] & np.uint64(2**WIDTH - 1)


def read_offset(chosen: list[ChosenKeys], both: list[BothKeys]) -> int:
    """Hear one opened sum per tree, and find the part of the offset with which it comes out as a count of nobody."""
    offset = 0
    for tree in range(TREES):
        source = bits_as_numbers([COLUMN], [WIDTH])
        ours, theirs = multiply([chosen[tree]], [both[tree]], [[WIDTH]], [source])
        told = opened(ours, theirs, [[WIDTH]])[0][0]  # what is opened in the place of 0
        mine = int(ours.shares[0][0])
        for part in range(2**DEPTH):
            if (int(shifted(chosen[tree], tree, part).sum()) - mine + told) % 2**WIDTH == 0:
                offset |= part << DEPTH * tree
    return offset


def test_a_chooser_reads_the_offset_where_the_check_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    unchecked(monkeypatch)
    one, other = meet(DEPTH)
    page, chosen = choosing_nobody(one, range(TREES))
    both = taken(other, page)
    assert read_offset(chosen, both) == int.from_bytes(other.sender._offset.tobytes(), "little")


def test_with_the_offset_it_reads_whole_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    unchecked(monkeypatch)
    one, other = meet(DEPTH)
    page, chosen = choosing_nobody(one, range(1, TREES))  # the first vector has no error
    both = taken(other, page)
    offset = other.sender._offset
    crossed = Transcript()
    multiply(chosen[:1], both[:1], [[WIDTH]], [bits_as_numbers([COLUMN], [WIDTH])], crossed)
    (sent,) = crossed.sent_by_b
    assert isinstance(sent, CorrectionPage)
    (lanes,) = lanes_of([WIDTH])
    masks = [next(chosen[0].chosen.masks([0], offset=each))[:, 0] & lanes.used for each in (None, offset)]
    read = lanes.subtract(unpack(sent.corrections, RECORDS, WIDTH), lanes.subtract(*masks))
    assert (read == COLUMN).all()


def test_the_check_ends_it() -> None:
    one, other = meet(DEPTH)
    page, _ = choosing_nobody(one, range(TREES))
    assert isinstance(replay(other.sender.extend([RECORDS] * TREES), [page]).error, DeviationError)


def test_who_errs_in_one_tree_goes_on_where_it_guessed_its_part_of_the_offset() -> None:
    """With `k = 1` a part is one bit, and the guess that it is 0: right half of the time, and nothing else is told."""
    went_on, bits = [], []
    for tree in range(16):
        one, other = meet(1)  # with the same chance: the same offset
        page, _ = choosing_nobody(one, range(tree, tree + 1))
        end = replay(other.sender.extend([RECORDS] * TREES), [page])
        assert end.error is None or isinstance(end.error, DeviationError)
        went_on.append(end.error is None)
        bits.append(int(other.sender._offset[0]) >> tree & 1)
    assert went_on == [not bit for bit in bits]
    assert 0 < sum(went_on) < len(went_on)


@pytest.mark.parametrize("again", [True, False])
def test_two_numbers_under_one_mask_give_a_column_and_under_two_they_do_not(*, again: bool) -> None:
    """The first numbers are known to be 0, the second are the sender's column; the chooser takes no mask off."""
    one, other = meet(DEPTH)
    (chosen,), (both,) = extend(one.chooser, other.sender, [NOBODY])
    told = []
    for column in (np.zeros(RECORDS, bool), COLUMN):
        if again:  # as a counter would that starts anew
            chosen, both = ChosenKeys(chosen.choices, chosen.chosen), BothKeys(both.zero, both.offset)
        crossed = Transcript()
        multiply([chosen], [both], [[WIDTH]], [bits_as_numbers([column], [WIDTH])], crossed)
        (page,) = crossed.sent_by_b
        assert isinstance(page, CorrectionPage)
        told.append(unpack(page.corrections, RECORDS, WIDTH))
    (lanes,) = lanes_of([WIDTH])
    difference = lanes.subtract(told[1], told[0])
    if again:
        assert (difference == COLUMN).all()
    else:
        assert not np.isin(difference, (0, 1)).any()  # each by chance of 2**-39


def test_a_corrector_that_sends_weights_for_bits_reads_as_many_records_as_a_count_has_bits() -> None:
    """Not bounded: what is opened in the place of a count is the sum of any numbers that it sent for records."""
    one, other = meet(DEPTH)
    column, width = random_bits(RECORDS, 9), RECORDS.bit_length()
    chosen, both = extend(one.chooser, other.sender, [column])
    weights = np.zeros(RECORDS, np.uint64)
    weights[:width] = 1 << np.arange(width)
    told = opened(*multiply(chosen, both, [[width]], [GivenNumbers([weights])]), [[width]])
    assert [told[0][0] >> at & 1 for at in range(width)] == column[:width].tolist()


def count_of(column: Bits, rows: Rows, chosen_rows: Rows) -> tuple[int, int]:
    """Return the opened count and how long corrections are: for some rows, the chooser taking its keys of others.

    It chooses everybody, and the sender means who has the bit in its column.
    """
    one, other = meet(DEPTH)
    (chosen,), (both,) = extend(one.chooser, other.sender, [~NOBODY])
    ours = replace(chosen.chosen, keys=chosen.chosen.keys[chosen_rows])
    theirs = replace(both.zero, keys=both.zero.keys[rows])
    crossed, source = Transcript(), bits_as_numbers([column[rows]], [WIDTH])
    pair = ChosenKeys(~NOBODY[rows], ours), BothKeys(theirs, both.offset)
    shares = multiply([pair[0]], [pair[1]], [[WIDTH]], [source], crossed)
    (page,) = crossed.sent_by_b
    assert isinstance(page, CorrectionPage)
    return opened(*shares, [[WIDTH]])[0][0], len(page.corrections)


def test_corrections_for_the_rows_of_a_node_alone_would_tell_who_is_in_it() -> None:
    """A chooser has to be told whose keys to take, or hears no count: with another row in one's place it is noise."""
    rows = np.flatnonzero(COLUMN)
    other = np.sort(np.append(rows[1:], np.flatnonzero(~COLUMN)[0]))
    assert count_of(COLUMN, rows, rows)[0] == len(rows)
    assert count_of(COLUMN, rows, other)[0] != len(rows)
    read = np.isin(np.arange(RECORDS), rows)  # of what it is told
    assert (read == COLUMN).all()


def test_corrections_for_all_records_are_of_one_length_and_tell_nobody() -> None:
    every, lengths = np.arange(RECORDS), set()
    for column in (COLUMN, np.arange(RECORDS) < 30, ~NOBODY):
        count, length = count_of(column, every, every)
        assert count == column.sum()
        lengths.add(length)
        rows = np.flatnonzero(column)
        assert (count_of(column, rows, rows)[1] == length) == column.all()  # the control
    assert len(lengths) == 1
