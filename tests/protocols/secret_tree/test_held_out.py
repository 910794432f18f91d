"""The table of held-out records is what each side's noise makes of the true one, and nothing else is opened."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.counting.oblivious import sides_of
from protocols.errors import PeerError
from protocols.messages import CountShares
from protocols.oblivious.session import Transfers
from protocols.role import Role, Transcript, run_pair
from protocols.secret_tree.held_out import Scores, noise_of_scores, open_scores, room_for_scores
from protocols.secret_tree.shares import SharedCounts
from protocols.terms import Growth
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_hostile_peers import sending
from tests.protocols.secret_tree.test_growth import SCHEMA, Game, games, table
from tests.support.examples import at_most
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
