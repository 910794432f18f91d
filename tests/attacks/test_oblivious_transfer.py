"""A chooser whose columns do not agree on its choices, and what two numbers under one mask tell.

The sender's key of a transfer is `t + D x`, row by row, `t` the chooser's own and `D` the offset. Where one tree's
masked choices have an error in one transfer, the key has that tree's part of `D` besides. Whether it has is heard as
soon as something that follows from the key is known, such as a count: its share has masks of the key in it. So a
chooser with a vector of its own for each tree reads that tree's part among `2**k` from one opened sum, and with all of
`D` both masks of every transfer, whole columns. The check of each page ends it.

An asker of joint predictions looks at all that it gets, chooses bits that are no route, or turns bits over: Alice asks,
and by Bob's columns alone it is decided where a row ends below each of her two branches.
"""

import hmac
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.errors import DeviationError
from protocols.learning.contest import Contest
from protocols.learning.routes import Routes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import ChoicePage, CorrectionPage
from protocols.oblivious.bits import Uint64s, lanes_of, rows_of, unpack
from protocols.oblivious.extension import Choices, Chooser, Sender, Transfers, _fill
from protocols.oblivious.gates import Gates, Triples
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import GivenNumbers, bits_as_numbers
from protocols.role import Role, Transcript, run_pair
from protocols.tables import Attribute, Schema
from protocols.two_party import ways
from protocols.two_party.ways import BayesWay, TreeWay
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import Bits, extend, meet, multiply, opened, random_bits
from tests.support.binomial import ShareTest
from tests.support.duel import replay
from tests.support.models import bayes_of

DEPTH = 4
TREES = 128 // DEPTH
RECORDS = 200
WIDTH = 40
NOBODY = np.zeros(RECORDS, bool)
Rows = NDArray[np.intp]
COLUMN = random_bits(RECORDS, 77)
"""The sender's, one bit for each record."""


def choosing_nobody(one: Transfers, trees: range) -> tuple[ChoicePage, list[ChosenKeys]]:
    """Choose nobody in a vector for each of these trees, err in that tree's first record, and prove it all the same."""
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
        if again:  # as a counter would that starts again
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


PEOPLE = 1000
SCHEMA = Schema(
    tuple(Attribute(party, name, ("0", "1")) for party, name in (("alice", "a"), ("bob", "b"), ("bob", "c"))),
    Attribute("", "class", ("0", "1")),
    (),
)
LEAVES = (Leaf((1, 0), 0), Leaf((0, 1), 1))
TREE = Tree(SCHEMA, Split((3, 2), 0, (Split((2, 1), 1, LEAVES), Split((1, 1), 2, LEAVES))))
"""By `b` where Alice's `a` is 0, by `c` where it is 1; class 0 where it is neither."""
WAY = TreeWay(Routes(TREE, "alice", probabilities=False))
OF_BOB = np.random.default_rng(7).integers(0, 2, (PEOPLE, 2)).astype(np.int16)
NEITHER, NOT_OURS = -1, -9


def sides() -> tuple[Gates, Gates]:
    one, other = meet(4)
    return Gates(True, one, Triples(one, Chance(3))), Gates(False, other, Triples(other, Chance(4)))


def asked(own: int, of_bob: NDArray[np.int16], gates: tuple[Gates, Gates]) -> tuple[list[int], Transcript]:
    """Ask with one value of Alice's for everybody."""
    crossed, one, other = Transcript(), *gates
    mine = np.full((len(of_bob), 3), NOT_OURS, np.int16)
    theirs = np.concatenate([mine[:, :1], of_bob], axis=1)
    mine[:, 0] = own
    told, _ = run_pair(WAY.ask(mine, one), WAY.tell(theirs, other), crossed)
    return told, crossed


def corrections(crossed: Transcript) -> NDArray[np.uint64]:
    """Return the one bit for each row and edge that Bob has sent (`rows x edges`)."""
    (page,) = (message.corrections for message in crossed.sent_by_b if isinstance(message, CorrectionPage))
    return unpack(page, 2 * PEOPLE, 1).reshape(PEOPLE, 2)


def keep_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both sides use the first keys of a session again, from their first use on."""
    choosing, sending = Chooser.extend, Sender.extend
    kept: dict[object, tuple[ChosenKeys | BothKeys, ...]] = {}

    def choose(self: Chooser, vectors: Sequence[Choices]) -> Role[list[ChosenKeys]]:
        if self not in kept:
            kept[self] = tuple((yield from choosing(self, vectors)))
        return [ChosenKeys(each.choices, each.chosen) for each in kept[self] if isinstance(each, ChosenKeys)]

    def send(self: Sender, sizes: Sequence[int]) -> Role[list[BothKeys]]:
        if self not in kept:
            kept[self] = tuple((yield from sending(self, sizes)))
        return [BothKeys(each.zero, each.offset) for each in kept[self] if isinstance(each, BothKeys)]

    monkeypatch.setattr(Chooser, "extend", choose)
    monkeypatch.setattr(Sender, "extend", send)


@pytest.mark.parametrize("again", [True, False])
def test_two_weights_under_one_mask_would_tell_both_columns_of_everybody_and_under_two_they_do_not(
    monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    """Alice takes no edge, so that her answers say nothing. Of the first rows she knows Bob's columns: all are 0."""
    if again:
        keep_keys(monkeypatch)
    session = sides()
    known, first = asked(NEITHER, np.zeros_like(OF_BOB), session)
    told, second = asked(NEITHER, OF_BOB, session)
    assert set(known) == set(told) == {0}
    read = corrections(first) ^ corrections(second) == OF_BOB
    if again:
        assert read.all()
    else:
        assert ShareTest(read.size, Fraction(1, 2), 1e-9).accepts(int(read.sum()))


def test_bits_that_are_no_route_read_one_other_sum_of_the_answers_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A route reads `b` or `c`, as an answer does; both edges at once read whether they differ, and neither of them."""
    for own in (0, 1):
        assert (np.array(asked(own, OF_BOB, sides())[0]) == OF_BOB[:, own]).all()
    monkeypatch.setattr(Routes, "bits", lambda routes, codes: np.ones((len(codes), routes.edges), np.bool_))
    told = np.array(asked(NEITHER, OF_BOB, sides())[0])
    assert (told == OF_BOB[:, 0] ^ OF_BOB[:, 1]).all()
    for answer in (0, 1):
        assert set(OF_BOB[told == answer, 0].tolist()) == {0, 1}


def test_a_bit_that_is_turned_over_reads_beside_the_class_how_two_losers_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alice turns over her share of whether the last class beats the second, in the last one's product alone.

    Where the second class wins, the last one's product is then whether it beats the first: 3 or 1 is told for 1.
    """
    model = bayes_of((3, 3, 3, 3), 3, seed=11)
    way = BayesWay(Contest(model, "alice"), 3)
    codes = np.random.default_rng(3).integers(0, 3, (600, 4)).astype(np.int16)
    joined = Gates.all_of

    def turned(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
        if gates.first:
            wires = wires.copy()
            wires[1, 2] ^= ~np.uint64(0)
        every: Uint64s = yield from joined(gates, wires)
        return every

    monkeypatch.setattr(Gates, "all_of", turned)
    monkeypatch.setattr(ways, "_outcomes", lambda sums, width, outcomes: sums.tolist())
    one, other = sides()
    answers, _ = run_pair(way.ask(codes, one), way.tell(codes, other))
    told = np.array(answers)
    scores = model.scores(codes)
    second = model.predict(codes) == 1
    assert set(told[second].tolist()) == {1, 3}
    assert ((told == 3) == (scores[:, 2] > scores[:, 0]))[second].all()
    assert (told[model.predict(codes) == 0] == 0).all()
