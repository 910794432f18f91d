"""A chooser whose columns do not agree on its choices, and what two numbers under one mask show.

The sender's key of a transfer is `t + D x`, row by row, `t` the chooser's own and `D` the offset. Where one tree's
masked choices have an error in one transfer, the key has that tree's part of `D` besides. Whether it has is heard as
soon as something that follows from the key is known, such as a count: its share has masks of the key in it. So a
chooser with a vector of its own for each tree reads that tree's part among `2**k` from one opened sum, and with all of
`D` both masks of every transfer, whole columns. The check of each page ends it.

An asker of joint predictions looks at all that it gets, chooses bits that are no route, or turns bits over: Alice asks,
and by Bob's columns alone it is decided where a row ends below each of her two branches.
"""

import hmac
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor
from numpy.typing import NDArray

from party.wire.codec import encode
from party.wire.v1 import node_pb2 as wire
from protocols.errors import DeviationError
from protocols.learning.routes import Contest, Routes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import ChoicePage, ClassCounts, CorrectionPage, ExactCounts, SetCounts
from protocols.oblivious.bits import Uint64s, lanes_of, rows_of, unpack
from protocols.oblivious.extension import Choices, Chooser, Sender, Transfers, _fill
from protocols.oblivious.gates import Gates, Triples
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.products import GivenNumbers, bits_as_numbers
from protocols.role import Message, Role, Transcript, run_pair
from protocols.tables import Attribute, Codes, Schema
from protocols.terms import Learner, Method, RuleTerms
from protocols.two_party import ways
from protocols.two_party.ways import BayesWay, TreeWay
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import Bits, extend, meet, multiply, opened, random_bits
from tests.support.binomial import ShareTest
from tests.support.duel import replay
from tests.support.examples import few
from tests.support.joint_itemsets import RuleCase, rule_terms
from tests.support.models import bayes_of
from tests.support.parties import Case, make_terms, play

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
    """With `k = 1` a part is one bit, and the guess that it is 0: right half of the time, and nothing else is shown."""
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


def test_corrections_for_the_rows_of_a_node_alone_would_show_who_is_in_it() -> None:
    """A chooser has to hear whose keys to take, or hears no count: with another row in one's place it is noise."""
    rows = np.flatnonzero(COLUMN)
    other = np.sort(np.append(rows[1:], np.flatnonzero(~COLUMN)[0]))
    assert count_of(COLUMN, rows, rows)[0] == len(rows)
    assert count_of(COLUMN, rows, other)[0] != len(rows)
    read = np.isin(np.arange(RECORDS), rows)  # of what it is told
    assert (read == COLUMN).all()


def test_corrections_for_all_records_are_of_one_length_and_show_nobody() -> None:
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
def test_two_weights_under_one_mask_would_show_both_columns_of_everybody_and_under_two_they_do_not(
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

    Where the second class wins, the last one's product is then whether it beats the first: 3 or 1 is heard for 1.
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


LENGTHS_RECORDS = 600
WAYS: dict[str, dict[str, Any]] = {
    "all candidates": {"test": Fraction(0)},
    "the best candidate": {"omega": 1, "test": Fraction(0)},
    "dot products": {"counting": "paillier"},
    "smc": {"method": "smc", "test": Fraction(0)},
    "noise": {"method": "smc", "noise": Fraction(50)},
    "a tree alone": {"method": "smc", "reveal": "tree", "min_leaf": 20},
    "mined": {"method": "randomized"},
    "naive Bayes": {"learner": Learner.NAIVE_BAYES, "method": "smc", "max_depth": None, "test": Fraction(0)},
}
COLUMNS = {
    # of the records, how many have each of Alice's two columns, Bob's column and the class, and differ from the class
    "few": (20, 40, 60, 30),
    "half": (300, 290, 310, 300),
    "nearly all": (580, 560, 550, 570),
}

OF_ONE_LENGTH = {"few": (20, 40, 60, 290), "half": (150, 140, 160, 300), "nearly all": (580, 560, 550, 310)}
"""The same, but the classes of all of them have counts of as many binary digits."""
TRANSFERS = {"all candidates", "the best candidate", "smc", "naive Bayes"}


def table(ones: tuple[int, ...]) -> Codes:
    """Return columns in which this many records have the second value, all of them in the same corner."""
    return np.column_stack([np.arange(LENGTHS_RECORDS) < count for count in ones]).astype(np.uint8)


def tree_case(ones: tuple[int, ...], changes: dict[str, Any]) -> Case:
    """Return a case with columns of two values; a tree has one split, whichever column makes it."""
    usual = {"max_depth": 1, "theta": Fraction(19, 20), "test": Fraction(1, 4)}
    terms = make_terms(**usual | changes)
    return Case({"alice": (2, 2), "bob": (2,)}, ("bob",), 2, table(ones), {"alice": 2, "bob": 2}, terms)


def crossed(transcript: Transcript) -> list[Message]:
    return [*transcript.sent_by_a, *transcript.sent_by_b]


def widths(messages: list[Message]) -> int:
    """Return how many bytes the numbers of a run take if each is as short as it can be, as they were."""
    told = [each for each in messages if isinstance(each, ClassCounts | ExactCounts)]
    numbers = [number for each in told for number in each.values]
    numbers += [n for each in messages if isinstance(each, SetCounts) for n in each.counts]
    return sum(max(1, -(-int(number).bit_length() // 7)) for number in numbers)


def lengths_by_purity(strays: int, changes: dict[str, Any]) -> tuple[set[int], tuple[int, ...]]:
    """Return the columns of a tree of two levels, and all lengths; in a branch this many are of the rarer class."""
    first = np.arange(LENGTHS_RECORDS) < LENGTHS_RECORDS // 2
    label = first ^ (np.arange(LENGTHS_RECORDS) % 300 < strays)
    second = label ^ (np.arange(LENGTHS_RECORDS) % 4 == 0)
    codes = np.column_stack([first, np.zeros(LENGTHS_RECORDS), second, label]).astype(np.uint8)
    terms = make_terms(**{"method": "smc", "test": Fraction(0), "max_depth": 2} | changes)
    seen = Transcript()
    outcome, _ = play(Case({"alice": (2, 2), "bob": (2,)}, ("bob",), 2, codes, {"alice": 2, "bob": 2}, terms), seen)
    split = {node.attribute for _, node in outcome.tree.walk() if isinstance(node, Split)}
    return split, tuple(len(encode(message)) for message in crossed(seen))


def test_transfers_are_as_long_as_a_nodes_counts_of_the_classes_have_binary_digits() -> None:
    """This is what lengths show who watches the line (SECURITY); by dot products they show the tree alone."""
    for changes, tells in [({}, True), ({"counting": "paillier"}, False)]:
        (tree, few), (other, many) = (lengths_by_purity(strays, changes) for strays in (10, 60))
        assert tree == other == {0, 2}
        assert (few != many) == tells


@pytest.mark.parametrize("way", few([*WAYS], 2))
def test_no_frame_of_a_run_is_longer_or_shorter_for_the_counts_in_it(way: str) -> None:
    lengths, short = set(), set()
    for ones in (OF_ONE_LENGTH if way in TRANSFERS else COLUMNS).values():
        seen = Transcript()
        play(tree_case(ones, WAYS[way]), seen)
        lengths.add(tuple(len(encode(message)) for message in crossed(seen)))
        short.add(widths(crossed(seen)))
    assert len(lengths) == 1
    hides = way in ("a tree alone", "mined")  # of others the lengths would have told
    assert (len(short) > 1) != hides


@pytest.mark.parametrize("method", Method)
def test_no_frame_of_rules_is_longer_or_shorter_for_the_counts_in_it(method: Method) -> None:
    """All sets of items are frequent in each of these tables."""
    lengths, short = set(), set()
    for shares in ((1 / 2, 1 / 2), (1 / 6, 1 / 8), (7 / 8, 4 / 5)):
        codes = (np.random.default_rng(1).random((LENGTHS_RECORDS, 4)) < [*shares, *shares]).astype(np.uint8)
        terms = rule_terms(RuleTerms(Fraction(1, 200), 2, 60), method=method)
        seen = Transcript()
        RuleCase({"alice": (2, 2), "bob": (2, 2)}, codes, terms).play(seen)
        lengths.add(tuple(len(encode(message)) for message in crossed(seen)))
        short.add(widths(crossed(seen)))
    assert len(lengths) == 1
    assert (len(short) > 1) == (method != Method.RANDOMIZED)  # by copies alone no count crosses


OF_NO_COUNT = {
    "Greeting",  # terms, of the job
    "Share", "Attribute", "Group",  # names, and how many records both have
    "Terms", "RuleTerms", "PredictionTerms", "Alignment",
    "IdList", "PeopleOffer", "RowsShare", "ListCommitment",  # how long lists are
    "MemoryHeads", "SignedHead", "KeptParts",  # how many entries, answers and bytes are kept
}  # fmt: skip


def below(kind: Any) -> Iterator[Any]:
    """Yield a kind of message and all that it is made of."""
    yield kind
    for field in kind.fields:
        if field.message_type is not None:
            yield from below(field.message_type)


def test_every_number_that_crosses_has_one_width_or_follows_from_no_count() -> None:
    """A number without a width of its own is new here: say why it shows no count, or give it one."""
    fixed = {"fixed32", "fixed64", "sfixed32", "sfixed64", "float", "double"}
    names = {getattr(FieldDescriptor, f"TYPE_{name.upper()}") for name in fixed}
    texts = {FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE}
    loose = {
        kind.name for kind in below(wire.Frame.DESCRIPTOR) for field in kind.fields if field.type not in names | texts
    }
    assert loose <= OF_NO_COUNT
    present = [
        (kind.name, field.name)
        for kind in below(wire.Frame.DESCRIPTOR)
        for field in kind.fields
        if field.type in names and not (field.is_repeated or field.has_presence)
    ]
    assert present == []  # a single number that is 0 would be left out
