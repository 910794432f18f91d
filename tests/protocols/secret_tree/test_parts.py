"""The parts of a secret tree: shares of counts, `f` bit by bit, the least of numbers, and whether two wires are 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.counting.oblivious import sides_of
from protocols.errors import InputError
from protocols.learning.whole import MOST_GINI_RECORDS, Gini, entropy_part
from protocols.oblivious.gates import Gates
from protocols.oblivious.numbers import bits_of_lanes, filled, modulus_mask, summand_bits, wires_of
from protocols.oblivious.session import Transfers
from protocols.role import Role, Transcript, run_pair
from protocols.secret_tree.contest import least, several
from protocols.secret_tree.shares import SharedCounts, block_width
from protocols.secret_tree.worth import GiniWorth, entropy_parts, worth_by
from protocols.tables import Expression, Term
from protocols.terms import Impurity
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_gates import SEEDS, SLOW, Words, drawn, sides
from tests.support.plain import schema_of
from tests.support.secure_engines import columns_of

WIDTH = 44


@pytest.mark.parametrize("bits", [1, 2, 7, 8, 9, 16, 20])
def test_entropy_is_that_of_who_sees_the_numbers(bits: int) -> None:
    some = np.concatenate([np.arange(min(1 << bits, 600)), drawn(bits, 100) % np.uint64(1 << bits)])
    numbers = filled(some.astype(np.uint64))
    masks = drawn(bits + 1, len(numbers))

    def play(side: Gates, own: Words) -> Role[Words]:
        planes = yield from summand_bits(side, own, bits)
        return (yield from entropy_parts(side, own, planes, WIDTH))

    one, other = sides()
    left, right = run_pair(play(one, masks), play(other, numbers - masks))
    assert ((left + right & modulus_mask(WIDTH)) == entropy_part(numbers).astype(np.uint64) & modulus_mask(WIDTH)).all()


@pytest.mark.parametrize("records", [1, 100, 600, 70_000, 2**20, MOST_GINI_RECORDS])
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
        worth = GiniWorth(side, records)
        planes = yield from summand_bits(side, own.reshape(-1), bits)
        numbers = own & modulus_mask(worth.counts_width)
        return (yield from worth.of_candidates(numbers, planes.reshape(bits, 3, -1), starts)), worth.width

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
        return (yield from least(side, own, bars, 10))

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
    left, right = run_pair(several(one, mask), several(other, mask ^ wires_of(bits)))
    assert (bits_of_lanes(left ^ right) == (bits.sum(0) >= 2)).all()


@pytest.mark.parametrize("room", [0, 5_000])
@pytest.mark.parametrize("records", [1, 31, 32, 62, 100, 300, 20_000, 40_000])
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
            worth_by(impurity, one, 100, classes)
