"""Windows of gains that nobody sees are those of who sorts them, and nothing but the windows is opened."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.answers import KeptAnswers
from protocols.counting.oblivious import sides_of
from protocols.counts import Query
from protocols.errors import DeviationError, InputError, PeerError
from protocols.facts import Way, WindowsFact
from protocols.learning.merit import best, sum_bits, whole_gains
from protocols.learning.tree import Leaf, Split, Tree
from protocols.learning.whole import MOST_GINI_RECORDS, Gini, Whole, entropy_part
from protocols.messages import CountShares, MaskedPage, OpenedPage
from protocols.oblivious.extension import Transfers
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import bits_of_lanes, filled, modulus_mask, summand_bits, wires_of
from protocols.role import Message, Note, Role, Save, Send, Transcript, run_alone, run_pair
from protocols.secret_tree.bits import Allowance, deduce, what_follows
from protocols.secret_tree.cost import GiniCost, cost_by, entropy_parts
from protocols.secret_tree.growth import place_of_least, two_or_more
from protocols.secret_tree.held_out import (
    LeafStatement,
    Scores,
    noise_of_table,
    open_scores,
    room_for_table,
    said_by,
    said_rows,
)
from protocols.secret_tree.shares import SharedCounts, block_width
from protocols.secret_tree.window import SecretRanking, open_windows
from protocols.tables import ROOT, Attribute, Codes, Expression, Term, joint_schema, two_way
from protocols.terms import ALL, Growth, Impurity, Leaves, Window
from tests.protocols.oblivious.parts import lengths, meet, pages_opened
from tests.protocols.oblivious.test_gates import SEEDS, SLOW, Words, drawn, sides
from tests.protocols.oblivious.test_hostile_peers import sending
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.protocols.secret_tree.test_growth import SCHEMA, Game, games, table
from tests.protocols.secret_tree.test_growth import SCHEMA as WIDE
from tests.support.duel import watched
from tests.support.examples import at_most, few
from tests.support.plain import FixedTables, schema_of
from tests.support.secure_engines import columns_of
from tests.support.simulators import window_wires

WIDTH = 12


def gains(seed: int, nodes: int, count: int, kinds: int) -> tuple[Whole, Whole]:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, kinds, (2, nodes, count))
    return one, other


def play(
    both: tuple[Whole, Whole], omega: int, transcript: Transcript | None = None, width: int = WIDTH
) -> NDArray[np.bool_]:
    games = [open_windows(side, own, omega, width) for side, own in zip(sides(), both, strict=True)]
    ours, theirs = run_pair(games[0], games[1], transcript)
    assert (ours == theirs).all()
    return ours


def sorted_out(both: tuple[Whole, Whole], omega: int) -> NDArray[np.bool_]:
    result = np.zeros_like(both[0], np.bool_)
    for row, sums in zip(result, (both[0] + both[1]).tolist(), strict=True):
        row[list(best(sums, omega))] = True
    return result


@SLOW
@given(SEEDS, st.integers(1, 70), st.integers(2, 9), st.integers(1, 1000), st.data())
def test_windows_are_those_of_a_sort_of_equals_the_first(
    seed: int, nodes: int, count: int, kinds: int, data: st.DataObject
) -> None:
    """Sums of few kinds are mostly equal; those of many differ by as much as the width takes."""
    omega, both = data.draw(st.integers(1, count - 1)), gains(seed, nodes, count, kinds)
    assert (play(both, omega) == sorted_out(both, omega)).all()


def test_gains_at_both_ends_have_room() -> None:
    """Of four candidates the first is worth as much as can be to both, the second as little; one may not split."""
    for classes in [1, 2, 3, 4, 5]:
        certain = np.eye(max(2, classes), classes)
        tables = {0: certain * 50, 1: np.ones((2, classes)), 2: certain * 50, 3: certain * 50}
        tables[2][1:] /= 1000
        (ours,) = whole_gains(FixedTables(tables), [Query(ROOT, (0, 1, 2, 3), None)], classes, Growth(min_leaf=2))
        assert classes == 1 or ours[2] == 0
        assert 2 * ours.max() < 1 << sum_bits(classes) - 1
        both = np.stack([ours]), np.stack([ours])
        assert (play(both, 2, width=sum_bits(classes)) == [[True, classes == 1, False, classes > 1]]).all()


def test_what_is_opened_is_a_bit_of_each_candidate_and_lengths_do_not_depend_on_gains() -> None:
    both, transcript = gains(5, 30, 6, 400), Transcript()
    windows = play(both, 2, transcript)
    assert pages_opened(transcript) == [window_wires(windows).tobytes()]
    # The simulator of either side: pages of these lengths, whose bits are half ones, and one that opens windows.
    seen = []
    for both in (gains(5, 200, 6, 400), gains(6, 200, 6, 1)):
        transcript = Transcript()
        play(both, 2, transcript)
        seen.append(lengths(transcript))
        for sent in (transcript.sent_by_a, transcript.sent_by_b):
            assert off(bits_of(b"".join(each.words for each in sent if isinstance(each, MaskedPage)), 8)) == []
    assert seen[0] == seen[1]


def test_a_window_of_another_size_ends_the_run() -> None:
    """A side that flips one bit of its share before it is opened puts a candidate in or out of a window."""

    def flipped(message: Message) -> Message:
        if not isinstance(message, OpenedPage):
            return message
        return OpenedPage(bytes([message.words[0] ^ 1, *message.words[1:]]))

    (one, other), (ours, theirs) = sides(), gains(5, 3, 4, 9)
    with pytest.raises(DeviationError):
        run_pair(open_windows(one, ours, 2, WIDTH), sending(open_windows(other, theirs, 2, WIDTH), flipped))


TABLES = {0: np.array([[9, 1], [1, 9]]), 1: np.array([[5, 5], [5, 5]]), 3: np.array([[7, 3], [3, 7]])}


def ranking(first: bool, answers: KeptAnswers | None = None) -> SecretRanking:
    return SecretRanking(FixedTables(TABLES), 2, Growth(), sides()[0 if first else 1], answers)


def test_windows_are_noted_before_and_kept_after_they_are_opened_and_never_asked_again() -> None:
    query = Query(ROOT, (0, 1, 3), None)
    effects: list[object] = []

    one, other = (ranking(first).windows([query], 2) for first in (True, False))
    ours, theirs = run_pair(watched(one, effects.append), other)
    assert ours == theirs == [(0, 3)]
    (told,) = (at for at, effect in enumerate(effects) if effect == Note(WindowsFact(Way.TOLD, (query,), None)))
    sent = effects[told + 1]
    assert isinstance(sent, Send)
    assert isinstance(sent.message, OpenedPage)
    assert effects[-2] == Note(WindowsFact(Way.BOTH, (query,), ((0, 3),)))
    assert isinstance(effects[-1], Save)
    kept = KeptAnswers([effects[-1].content], 1)
    assert run_alone(ranking(True, kept).windows([query], 2)) == ours


PARTS_WIDTH = 44


@pytest.mark.parametrize("bits", few([1, 2, 7, 8, 9, 16, 20], 3))
def test_entropy_is_that_of_who_sees_the_numbers(bits: int) -> None:
    some = np.concatenate([np.arange(min(1 << bits, 600)), drawn(bits, 100) % np.uint64(1 << bits)])
    numbers = filled(some.astype(np.uint64))
    masks = drawn(bits + 1, len(numbers))

    def play(side: Gates, own: Words) -> Role[Words]:
        planes = yield from summand_bits(side, own, bits)
        return (yield from entropy_parts(side, own, planes, PARTS_WIDTH))

    one, other = sides()
    left, right = run_pair(play(one, masks), play(other, numbers - masks))
    assert (
        (left + right & modulus_mask(PARTS_WIDTH))
        == entropy_part(numbers).astype(np.uint64) & modulus_mask(PARTS_WIDTH)
    ).all()


@pytest.mark.parametrize("records", few([MOST_GINI_RECORDS, 1, 2**20, 600, 70_000, 100], 3))
def test_gini_is_that_of_who_sees_the_numbers(records: int) -> None:
    """Of tables of two and three branches: some of all records, some of a few, some of nobody."""
    rng = np.random.default_rng(records)
    branches = rng.multinomial(records, rng.dirichlet(np.full(6, 0.3)), 20)
    branches[:4] = [[0] * 6, [records, 0, 0, 0, 0, 0], [records // 2, -(-records // 2), 0, 0, 0, 0], [1, 0] * 3]
    if records > 5:
        branches[10:] = rng.integers(0, min(records // 6, 5), (10, 6))
    sizes = np.array([3, 2] * 10)
    rows = np.concatenate([row.reshape(3, 2)[:size] for row, size in zip(branches, sizes, strict=True)])
    counts = filled(np.concatenate([rows, rows.sum(1, keepdims=True)], axis=1).T.astype(np.uint64))
    masks, starts, bits = drawn(records, *counts.shape), np.cumsum(sizes) - sizes, records.bit_length()

    def play(side: Gates, own: Words) -> Role[tuple[Words, int]]:
        cost = GiniCost(side, records)
        planes = yield from summand_bits(side, own.reshape(-1), bits)
        numbers = own & modulus_mask(cost.counts_width)
        return (yield from cost.of_candidates(numbers, planes.reshape(bits, 3, -1), starts)), cost.width

    one, other = sides()
    (left, width), (right, _) = run_pair(play(one, masks), play(other, counts - masks))
    exact = [int(Gini(records).mixture(table)) for table in np.split(rows, starts[1:])]
    assert (left + right & modulus_mask(width)).tolist() == exact
    assert max(exact) < 1 << width - 1


@SLOW
@given(SEEDS, st.integers(1, 9), st.integers(1, 5))
def test_the_first_of_the_least_wins_unless_it_is_barred(seed: int, count: int, kinds: int) -> None:
    rng = np.random.default_rng(seed)
    numbers, barred = rng.integers(0, kinds, (count, 37)), rng.random((count, 37)) < rng.random()
    masks, hidden = drawn(seed, count, 37), rng.random((count, 37)) < 0.5

    def play(side: Gates) -> Role[tuple[Words, Words]]:
        own = masks if side.first else numbers.astype(np.uint64) - masks
        bars = hidden if side.first else hidden ^ barred
        return (yield from place_of_least(side, own, bars, 10))

    one, other = sides()
    (place, bar), (other_place, other_bar) = run_pair(play(one), play(other))
    opened = bits_of_lanes(place ^ other_place)[:, :37]
    winners = (opened.astype(int) << np.arange(len(opened))[:, None]).sum(0)
    assert (bits_of_lanes(bar ^ other_bar)[:37] == barred.all(0)).all()
    assert (winners == np.where(barred.all(0), winners, np.where(barred, 99, numbers).argmin(0))).all()


@SLOW
@given(SEEDS, st.integers(1, 6))
def test_two_ones_or_more_are_several(seed: int, count: int) -> None:
    bits = np.random.default_rng(seed).random((count, 64)) < 1 / count
    mask = drawn(seed, count, 1)
    one, other = sides()
    left, right = run_pair(two_or_more(one, mask), two_or_more(other, mask ^ wires_of(bits)))
    assert (bits_of_lanes(left ^ right) == (bits.sum(0) >= 2)).all()


@pytest.mark.parametrize("room", [0, 5_000])
@pytest.mark.parametrize("records", few([20_000, 31, 100, 1, 32, 300, 62, 40_000], 3))
def test_shared_counts_are_the_counts_in_few_bytes_a_record(records: int, room: int) -> None:
    """Of all, of none and of some: blocks are full, empty and cut by the end of a piece; one cell crosses for each."""
    rng = np.random.default_rng(records)
    codes = np.stack([np.ones(records), rng.random(records) < 0.5, np.ones(records), rng.random(records) < 0.9], axis=1)
    codes, held = codes.astype(np.uint8), sides_of(schema_of((2, 2, 2), 2, 2), "alice")
    cells = [(Term(at, value), Term(other, 1)) for at in (0, 1) for value in (0, 1) for other in (2, 3)]

    def side(transfers: Transfers, columns: frozenset[int], *, first: bool) -> Role[tuple[Words, int]]:
        counts = SharedCounts(held, columns_of(codes, columns), transfers, is_chooser=first, room=room)
        return (yield from counts.count([Expression(cell) for cell in cells])), counts.width

    (one, other), transcript = meet(4), Transcript()
    (left, width), (right, _) = run_pair(
        side(one, held.chooser, first=True), side(other, held.corrector, first=False), transcript
    )
    expected = [int(((codes[:, a.column] == a.value) & (codes[:, b.column] == 1)).sum()) for a, b in cells]
    assert (left + right & modulus_mask(width)).tolist() == expected
    sent = [*transcript.sent_by_a, *transcript.sent_by_b]
    crossed = sum(len(value) for message in sent for value in vars(message).values() if isinstance(value, bytes))
    vectors = 4 * 4 * records  # of four values, four bytes a record
    assert records < 20_000 or crossed - vectors < 8 * records


def test_blocks_are_for_many_records() -> None:
    assert [block_width(records, records.bit_length()) for records in (1, 20, 100, 1_000, 1 << 20)] == [1, 5, 7, 6, 6]
    one, _ = sides()
    for impurity, classes in ((Impurity.GINI, 3), (Impurity.GAIN_RATIO, 2)):
        with pytest.raises(InputError, match="information gain, or by Gini's index of two classes"):
            cost_by(impurity, one, 100, classes)


LAW = noise_of_table(Fraction(1, 2))
Noise = NDArray[np.int64]


def held_sides(game: Game, noises: tuple[Noise, Noise]) -> tuple[Role[tuple[int, ...]], Role[tuple[int, ...]]]:
    held, tree = sides_of(game.schema, "alice"), game.plain()
    one, other = meet(4, 3)

    def side(transfers: Transfers, columns: frozenset[int], noise: Noise, *, first: bool) -> Role[tuple[int, ...]]:
        codes, room = columns_of(game.codes, columns), room_for_table(LAW)
        counts = SharedCounts(held, codes, transfers, is_chooser=first, room=room)
        return open_scores(tree, counts, LAW, noise.reshape(-1).tolist())

    return side(one, held.chooser, noises[0], first=True), side(other, held.corrector, noises[1], first=False)


def scored(game: Game, noises: tuple[Noise, Noise], transcript: Transcript | None = None) -> Scores:
    ours, theirs = run_pair(*held_sides(game, noises), transcript)
    assert ours == theirs
    return Scores.read(ours, game.schema.classes, len(game.codes), LAW)


def said(game: Game) -> list[LeafStatement]:
    """Return what the leaf of each record says."""
    tree = game.plain()
    leaves = {path: said_by(node) for path, node in tree.walk() if isinstance(node, Leaf)}
    found: list[LeafStatement] = [LeafStatement(0, 0)] * len(game.codes)
    for path, each in leaves.items():
        for at in np.flatnonzero(path.satisfied_by(game.codes)):
            found[at] = each
    return found


def truth(game: Game) -> dict[LeafStatement, list[int]]:
    """Return of how many records of each class what is said."""
    cells = {each: [0] * game.schema.classes for each in said_rows(game.plain())}
    for each, label in zip(said(game), game.codes[:, -1].tolist(), strict=True):
        cells[each][label] += 1
    return cells


def numbers(scores: Scores) -> Noise:
    return np.array([cells for _, cells in scores.rows])


@settings(max_examples=at_most(15), deadline=None)
@given(games(), st.booleans(), st.data())
def test_each_cell_is_the_true_one_with_the_noise_of_both(game: Game, tenths: bool, data: st.DataObject) -> None:
    if tenths:
        game = replace(game, growth=replace(game.growth, leaves=Leaves.TENTHS))
    cells = truth(game)
    shape, size = (len(cells), game.schema.classes), len(cells) * game.schema.classes
    drawn = st.integers(-LAW.cut, LAW.cut) | st.sampled_from([-LAW.cut, LAW.cut])
    one, other = (np.array(data.draw(st.lists(drawn, min_size=size, max_size=size))).reshape(shape) for _ in range(2))
    scores = scored(game, (one, other))
    assert [each for each, _ in scores.rows] == list(cells)
    assert np.array_equal(numbers(scores), np.array(list(cells.values())) + one + other)
    assert scores.records == len(game.codes)
    assert (scores.table.scores is not None) == (tenths and game.schema.classes == 2)


GAME = Game(SCHEMA, table(1), Growth(max_depth=2, min_leaf=20))
NOTHING = np.zeros((3, 3), np.int64)


def test_one_side_opens_one_share_of_each_cell_of_a_length_that_does_not_depend_on_it() -> None:
    """The noise of each side is in what it sends: without it, shares and the opened table would give the true one."""
    transcripts = [Transcript(), Transcript()]
    noise = np.arange(9).reshape(3, 3)
    scored(GAME, (NOTHING, NOTHING), transcripts[0])
    scored(GAME, (noise, NOTHING), transcripts[1])
    plain, noisy = ([m for m in t.sent_by_a if isinstance(m, CountShares)] for t in transcripts)
    assert len(plain) == len(noisy) == 1
    most = (1 << (400 + room_for_table(LAW)).bit_length()) - 1
    changed = [after - before & most for before, after in zip(plain[0].shares, noisy[0].shares, strict=True)]
    assert changed == list(range(9))
    assert [m for m in transcripts[0].sent_by_b if isinstance(m, CountShares)] == [
        m for m in transcripts[1].sent_by_b if isinstance(m, CountShares)
    ]


def test_what_follows_from_the_table_is_what_it_is_worth_and_costs_its_epsilon() -> None:
    scores, classes = scored(GAME, (NOTHING, NOTHING)), GAME.codes[:, -1]
    assert scores.correct == (GAME.plain().predict(GAME.codes) == classes).sum()
    assert scores.commonest_share == np.bincount(classes).max() / 400
    assert scores.correct_error == pytest.approx(sqrt(6 * LAW.variance))
    down = np.full((3, 3), -LAW.cut)
    assert scored(GAME, (down, down)).correct == 0
    # A record of other values moves from a cell to another, or stays: noise makes of that `exp(epsilon)` at most.
    for column in range(5):
        tree, moves = GAME.plain(), set()
        for record in range(60):
            codes = GAME.codes.copy()
            codes[record, column] = (codes[record, column] + 1) % 2
            change = np.zeros((3, 3), np.int64)
            np.add.at(change, (tree.predict(codes), codes[:, -1]), 1)
            moves.add(int(np.abs(change - numbers(scores)).sum()))
        assert max(moves) <= 2
        assert max(moves) / LAW.scale <= Fraction(1, 2)
        assert column < 4 or max(moves) / LAW.scale == Fraction(1, 2)


@pytest.mark.parametrize("shares", [(0,) * 8, (0,) * 10, (1 << 40,) * 9])
def test_a_peer_that_opens_something_else_is_refused(shares: tuple[int, ...]) -> None:
    left, right = held_sides(GAME, (NOTHING, NOTHING))
    with pytest.raises(PeerError, match="other counts"):
        run_pair(left, sending(right, lambda each: CountShares(shares) if isinstance(each, CountShares) else each))


DEDUCED_SCHEMA = schema_of((2, 2), 2, 1)
SIDES = {"alice": (0,), "bob": (1, 2)}


def every_table(tree: Tree, own: tuple[int, ...], codes: Codes, growth: Growth) -> Codes:
    """Return all joint tables (`tables x records x columns`) with these own columns that grow this tree."""
    others = [column for column in range(3) if column not in own]
    tables = []
    for values in product((0, 1), repeat=len(others) * len(codes)):
        table = codes.copy()
        table[:, others] = np.array(values).reshape(len(codes), len(others))
        if Game(DEDUCED_SCHEMA, table, growth).plain() == tree:
            tables.append(table)
    return np.stack(tables)


def test_it_holds_in_all_tables_that_grow_the_tree() -> None:
    """Each pair of own and other cells, of four records: whatever follows is one thing in all of them."""
    for party, growth in product(SIDES, [Growth(), Growth(max_depth=1), Growth(min_leaf=2)]):
        rng, own, found = np.random.default_rng(3), SIDES[party], 0
        for _ in few(range(12), 12):
            codes = rng.integers(0, 2, (4, 3)).astype(np.uint8)
            game = Game(DEDUCED_SCHEMA, codes, growth)
            tree = game.plain()
            deduced = deduce(tree, own, codes, game.allowance)
            tables = every_table(tree, own, codes, growth)
            same = (tables == tables[0]).all(0)
            other = 0 if party == "bob" else 1
            assert (same[deduced.classes, -1]).all()
            assert (same[deduced.values, other]).all()
            found += int(deduced.classes.sum() + deduced.values.sum())
        assert found or growth != Growth()
        assert not found or growth.min_leaf == 1


def test_who_holds_the_class_knows_what_the_leaves_of_its_class_say() -> None:
    """The class is the other side's column: each record's class gives its cell; with larger leaves nothing does."""
    codes = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1]], np.uint8)
    game = Game(DEDUCED_SCHEMA, codes, Growth())
    assert deduce(game.plain(), (1, 2), codes, game.allowance).values.all()
    assert not deduce(game.plain(), (0,), codes, game.allowance).values.any()
    assert deduce(game.plain(), (0,), codes, game.allowance).classes.all()
    many = Game(DEDUCED_SCHEMA, np.tile(codes, (20, 1)), Growth(min_leaf=20))
    deduced = deduce(many.plain(), (1, 2), many.codes, many.allowance)
    assert many.plain().size == 3
    assert not deduced.values.any()


@pytest.mark.parametrize("party", SIDES)
def test_the_numbers_are_of_what_follows_and_the_other_side_can_say_no_more_classes_than_are_shown(party: str) -> None:
    rng = np.random.default_rng(4)
    for growth in (Growth(), Growth(min_leaf=2)):
        codes = rng.integers(0, 2, (8, 3)).astype(np.uint8)
        codes[:, 2] |= codes[:, 0]
        game = Game(DEDUCED_SCHEMA, codes, growth)
        tree, allowance = game.plain(), game.allowance
        own, found = SIDES[party], deduce(tree, SIDES[party], codes, allowance)
        told = what_follows(tree, own, codes, allowance, alone=party == "bob")
        assert (told.records, told.values, told.classes) == (8, found.values.sum(), found.classes.sum())
        others = deduce(tree, SIDES["alice"], codes, allowance).classes.sum()
        assert (others <= told.shown) if party == "bob" else told.shown == 0
        assert (told.shown > 0) == (party == "bob" and growth.min_leaf == 1)


def test_a_leaf_that_bits_have_ended_is_not_said_to_be_of_one_class() -> None:
    """Windows are of the bits too: fewer nodes are asked than there would be without them."""
    found, ended, windows = 0, 0, list[Window]([ALL, 1])
    for most, omega in product((14, 10**6), windows):
        game = Game(WIDE, table(1, 24), Growth(max_depth=3), most_bits=Fraction(most), omega=omega)
        tree = game.grown()
        certain = deduce(tree, range(4), game.codes, game.allowance).classes
        labels = tree.predict(game.codes)
        assert (labels == game.codes[:, -1])[certain].all()
        found += int(certain.sum())
        ended += int((labels != game.codes[:, -1]).sum())
    assert found
    assert ended


def test_cuts_on_one_path_are_taken_together() -> None:
    """Who is up to 1 and who is 2 is up to 2: of which two leaves one of these records is, nobody knows."""
    ages = Attribute("alice", "age", ("<= 1", "(1, 2]", "(2, 3]", "> 3"), ordered=4)
    schema = two_way(joint_schema([ages, Attribute("bob", "job", ("a", "b"))], DEDUCED_SCHEMA.class_attribute, ["bob"]))
    one, zero = Leaf((), 1), Leaf((), 0)
    tree = Tree(schema, Split((), 0, (one, Split((), 1, (one, Split((), 3, (zero, zero)))))))
    rows = np.array([[0, 0, 1], [0, 0, 0]], np.uint8)
    assert deduce(tree, (3, 4), schema.recode(rows), Allowance(schema, None)).values.tolist() == [True, True]
