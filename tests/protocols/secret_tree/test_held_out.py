"""The table of held-out records is what each side's noise makes of the true one, and nothing else is opened."""

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.counting.oblivious import sides_of
from protocols.errors import PeerError
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import CountShares
from protocols.oblivious.extension import Transfers
from protocols.role import Role, Transcript, run_pair
from protocols.secret_tree.bits import Allowance
from protocols.secret_tree.deduction import deduce, what_follows
from protocols.secret_tree.held_out import Scores, noise_of_scores, open_scores, room_for_scores
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Attribute, Codes, joint_schema, two_way
from protocols.terms import ALL, Growth, Window
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_hostile_peers import sending
from tests.protocols.secret_tree.test_growth import SCHEMA, Game, games, table
from tests.protocols.secret_tree.test_growth import SCHEMA as WIDE
from tests.support.examples import at_most, few
from tests.support.plain import schema_of
from tests.support.secure_engines import columns_of

LAW = noise_of_scores(Fraction(1, 2))
Noise = NDArray[np.int64]


def sides(game: Game, noises: tuple[Noise, Noise]) -> tuple[Role[tuple[int, ...]], Role[tuple[int, ...]]]:
    held, tree = sides_of(game.schema, "alice"), game.plain()
    one, other = meet(4, 3)

    def side(transfers: Transfers, columns: frozenset[int], noise: Noise, *, first: bool) -> Role[tuple[int, ...]]:
        codes, room = columns_of(game.codes, columns), room_for_scores(LAW)
        counts = SharedCounts(held, codes, transfers, is_chooser=first, room=room)
        return open_scores(tree, counts, LAW, noise.reshape(-1).tolist())

    return side(one, held.chooser, noises[0], first=True), side(other, held.corrector, noises[1], first=False)


def scored(game: Game, noises: tuple[Noise, Noise], transcript: Transcript | None = None) -> Scores:
    ours, theirs = run_pair(*sides(game, noises), transcript)
    assert ours == theirs
    return Scores(ours, len(game.codes), LAW)


def truth(game: Game) -> Noise:
    cells = np.zeros((game.schema.classes, game.schema.classes), np.int64)
    np.add.at(cells, (game.plain().predict(game.codes), game.codes[:, -1]), 1)
    return cells


@settings(max_examples=at_most(15), deadline=None)
@given(games(), st.data())
def test_each_cell_is_the_true_one_with_the_noise_of_both(game: Game, data: st.DataObject) -> None:
    shape = (game.schema.classes, game.schema.classes)
    drawn = st.integers(-LAW.cut, LAW.cut) | st.sampled_from([-LAW.cut, LAW.cut])
    one, other = (
        np.array(data.draw(st.lists(drawn, min_size=shape[0] ** 2, max_size=shape[0] ** 2))).reshape(shape)
        for _ in range(2)
    )
    scores = scored(game, (one, other))
    assert np.array_equal(scores.table, truth(game) + one + other)
    assert scores.records == len(game.codes)


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
    most = (1 << (400 + room_for_scores(LAW)).bit_length()) - 1
    changed = [after - before & most for before, after in zip(plain[0].shares, noisy[0].shares, strict=True)]
    assert changed == list(range(9))
    assert [m for m in transcripts[0].sent_by_b if isinstance(m, CountShares)] == [
        m for m in transcripts[1].sent_by_b if isinstance(m, CountShares)
    ]


def test_what_follows_from_the_table_is_what_it_is_worth_and_costs_its_epsilon() -> None:
    scores, true = scored(GAME, (NOTHING, NOTHING)), truth(GAME)
    assert scores.correct == np.trace(true)
    assert scores.commonest_share == true.sum(0).max() / 400
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
            moves.add(int(np.abs(change - truth(GAME)).sum()))
        assert max(moves) <= 2
        assert max(moves) / LAW.scale <= Fraction(1, 2)
        assert column < 4 or max(moves) / LAW.scale == Fraction(1, 2)


@pytest.mark.parametrize("shares", [(0,) * 8, (0,) * 10, (1 << 40,) * 9])
def test_a_peer_that_opens_something_else_is_refused(shares: tuple[int, ...]) -> None:
    left, right = sides(GAME, (NOTHING, NOTHING))
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


@pytest.mark.parametrize("party", SIDES)
@pytest.mark.parametrize("growth", [Growth(), Growth(max_depth=1), Growth(min_leaf=2)], ids=repr)
def test_it_holds_in_all_tables_that_grow_the_tree(party: str, growth: Growth) -> None:
    """Each pair of own and other cells, of five records: whatever follows is one thing in all of them."""
    rng, own, found = np.random.default_rng(3), SIDES[party], 0
    for _ in few(range(12), 2):
        codes = rng.integers(0, 2, (5, 3)).astype(np.uint8)
        game = Game(DEDUCED_SCHEMA, codes, growth)
        tree = game.plain()
        deduced = deduce(tree, own, codes, game.allowance)
        tables = every_table(tree, own, codes, growth)
        same = (tables == tables[0]).all(0)
        other = 0 if party == "bob" else 1
        assert (same[deduced.classes, -1]).all()
        assert (same[deduced.values, other]).all()
        found += int(deduced.classes.sum() + deduced.values.sum())
    assert (found > 0) == (growth == Growth())


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


def test_cuts_on_one_path_are_taken_together() -> None:
    """Whoever is up to 1 and whoever is 2 is up to 2: of which two leaves one of these records is, nobody knows."""
    ages = Attribute("alice", "age", ("<= 1", "(1, 2]", "(2, 3]", "> 3"), ordered=4)
    schema = two_way(joint_schema([ages, Attribute("bob", "job", ("a", "b"))], DEDUCED_SCHEMA.class_attribute, ["bob"]))
    one, zero = Leaf((), 1), Leaf((), 0)
    tree = Tree(schema, Split((), 0, (one, Split((), 1, (one, Split((), 3, (zero, zero)))))))
    rows = np.array([[0, 0, 1], [0, 0, 0]], np.uint8)
    assert deduce(tree, (3, 4), schema.coded(rows), Allowance(schema, None)).values.tolist() == [True, True]


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


@pytest.mark.parametrize("omega", [ALL, 1])
def test_a_leaf_that_bits_have_ended_is_not_said_to_be_of_one_class(omega: Window) -> None:
    """Windows are of the bits too: fewer nodes are asked than there would be without them."""
    found, ended = 0, 0
    for most in (*range(6, 40, 4), 10**6):
        game = Game(WIDE, table(1, 24), Growth(max_depth=3), most_bits=Fraction(most), omega=omega)
        tree = game.grown()
        certain = deduce(tree, range(4), game.codes, game.allowance).classes
        labels = tree.predict(game.codes)
        assert (labels == game.codes[:, -1])[certain].all()
        found += int(certain.sum())
        ended += int((labels != game.codes[:, -1]).sum())
    assert found
    assert ended
