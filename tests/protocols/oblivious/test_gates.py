"""Secret gates compute what they should of any bits, open no more, and nothing is masked twice."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import PeerError
from protocols.messages import ChoicePage, MaskedPage, OpenedPage
from protocols.oblivious import extension
from protocols.oblivious.aes import Stream
from protocols.oblivious.bits import Bytes, bit_planes, columns_of, plane_words, rows_of
from protocols.oblivious.extension import Transfers, set_up
from protocols.oblivious.gates import Gates, Triples
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.numbers import (
    are_negative,
    as_numbers,
    bits_of_lanes,
    filled,
    modulus_mask,
    not_below,
    products,
    summand_bits,
    wires_of,
    without_last_bits,
)
from protocols.oblivious.products import bits_as_numbers
from protocols.role import Role, Transcript, run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import extend, meet, multiply, random_bits
from tests.protocols.oblivious.test_hostile_peers import changed, sending, with_more, without_its_end
from tests.protocols.oblivious.test_known_answers import bits_of, off
from tests.support.examples import at_most
from tests.support.mask_recorder import ONCE, MaskRecorder

Words = NDArray[np.uint64]
WIDTH = 11
SEEDS = st.integers(0, 2**32)
SLOW = settings(max_examples=at_most(5), deadline=None)


def drawn(seed: int, *shape: int) -> Words:
    return np.random.default_rng(seed).integers(0, 2**64, shape, dtype=np.uint64)


def sides(depth: int = 4) -> tuple[Gates, Gates]:
    one, other = meet(depth)
    return gates(one, True, 3), gates(other, False, 4)


def gates(transfers: Transfers, first: bool, seed: int) -> Gates:
    return Gates(first, transfers, Triples(transfers, Chance(seed)))


def computed(
    circuit: Callable[..., Role[Words]], *inputs: Words, pair: tuple[Gates, Gates] | None = None, seed: int = 9
) -> Words:
    """Share inputs, play a circuit at both sides, and open what it gives."""
    ours, theirs = pair or sides()
    masks = [drawn(seed + at, *each.shape) for at, each in enumerate(inputs)]

    def play(side: Gates, shares: list[Words]) -> Role[Words]:
        return (yield from side.opened((yield from circuit(side, *shares))))

    both = [each ^ mask for each, mask in zip(inputs, masks, strict=True)]
    left, right = run_pair(play(ours, masks), play(theirs, both))
    assert (left == right).all()
    return left


def numbers(seed: int, bits: int = WIDTH) -> tuple[Words, Words]:
    """Return 128 numbers, a few of them alike, and their wires."""
    values = drawn(seed, 128) & np.uint64((1 << bits) - 1)
    return values, bit_planes(values, bits)


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 64), SEEDS)
def test_columns_are_those_of_which_these_are_the_rows(parts: int, blocks: int, bits: int, seed: int) -> None:
    rows = drawn(seed, 64 * blocks, parts)
    rows.flags.writeable = False
    words = rows[:, 0]
    assert (rows_of(columns_of(rows)) == rows).all()
    planes = bit_planes(words, bits)
    assert (planes == columns_of(rows).view(np.uint64)[:bits]).all()
    assert (plane_words(planes) == words & np.uint64((1 << bits) - 1)).all()


@SLOW
@given(SEEDS)
def test_numbers_are_compared_and_chosen_from(seed: int) -> None:
    (x, xs), (y, ys) = numbers(seed), numbers(seed + 1)
    y[:9], ys = x[:9], bit_planes(np.concatenate([x[:9], y[9:]]), WIDTH)
    for circuit, wanted in ((Gates.less, x < y), (Gates.equal, x == y)):
        assert (plane_words(computed(circuit, xs, ys)[None]) == wanted).all()
    bit = numbers(seed + 2, 1)
    picked = computed(Gates.chosen, bit[1][0], xs, ys)
    assert (plane_words(picked) == np.where(bit[0] == 1, x, y)).all()


@SLOW
@given(SEEDS, st.integers(1, 9))
def test_strings_of_any_length_are_multiplied_by_bits_of_any_shape(seed: int, bits: int) -> None:
    left, strings = drawn(seed, 3, 2), drawn(seed + 1, 16 * bits, 3, 2)
    assert (computed(Gates.times, left, strings) == left[None] & strings).all()
    assert (computed(Gates.both, left, strings[0]) == left & strings[0]).all()
    assert (computed(Gates.all_of, strings[:bits] | left) == np.bitwise_and.reduce(strings[:bits] | left)).all()


@SLOW
@given(SEEDS, st.integers(2, 20))
def test_lanes_that_are_one_are_counted_in_summands(seed: int, width: int) -> None:
    wire = drawn(seed, 3)
    one, other = sides()
    left, right = (side.ones(side.ours(wire, mine=side.first), width) for side in (one, other))
    share, rest = run_pair(left, right)
    ones = sum(int(word).bit_count() for word in wire.tolist())
    assert (share + rest) % (1 << width) == ones % (1 << width)


def played(transcript: Transcript, inputs: Words, seed: int) -> None:
    one, other = (gates(each, first, seed + first) for each, first in zip(meet(4, seed), (True, False), strict=True))

    def play(side: Gates) -> Role[None]:
        own = side.ours(inputs, mine=side.first)
        result = yield from side.all_of(own)
        yield from side.opened(result)

    run_pair(play(one), play(other), transcript)


def masked(inputs: Words, seed: int) -> list[bytes]:
    transcript = Transcript()
    played(transcript, inputs, seed)
    return [message.words for message in transcript.sent_by_a if isinstance(message, MaskedPage)]


def test_what_goes_into_gates_looks_the_same_and_no_mask_serves_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros, ones, and the simulator's uniform bits; a share that were not masked would be seen."""
    zeros, ones = (b"".join(masked(np.full((2, 4000), value, np.uint64), 5)) for value in (0, 2**64 - 1))
    assert len(zeros) == len(ones) == 2 * 8 * 4000
    simulated = drawn(7, 8000).tobytes()
    assert off(*(bits_of(view, 8) for view in (zeros, ones, simulated))) == []
    assert off(bits_of(bytes(64000), 8)) != []
    recorder, pair = MaskRecorder(monkeypatch), sides()
    for seed in range(3):
        computed(Gates.equal, drawn(seed, 5, 2), drawn(seed + 9, 5, 2), pair=pair)
        computed(Gates.times, drawn(seed, 2), drawn(seed, 130, 2), pair=pair)
    assert recorder.times() <= ONCE
    assert recorder.offsets == 2


def test_triples_are_dealt_once_across_the_ends_of_batches() -> None:
    one, other = sides()

    def deal(side: Gates) -> Role[list[Words]]:
        some = []
        for words in (2, 100, 2, 60, 2):
            triple = yield from side.triples.take(words, 1)
            some.append(np.concatenate([each.reshape(-1) for each in triple]))
        return some

    transcript = Transcript()
    ours, theirs = run_pair(deal(one), deal(other), transcript)
    for left, right in zip(ours, theirs, strict=True):
        bit, string, product = np.split(left ^ right, 3)
        assert (bit & string == product).all()
    assert len({part.tobytes() for part in ours}) == 5
    assert len(transcript.sent_by_a) == 2  # batches, of which the second is twice as long


@pytest.mark.parametrize("used", [1 << 12, 1 << 15, pytest.param(3 << 17, marks=pytest.mark.full)])
def test_fewer_triples_are_left_over_than_were_used_and_than_a_batch_has(used: int) -> None:
    one, other = sides()

    def deal(side: Gates) -> Role[None]:
        for _ in range(used >> 12):
            yield from side.triples.take(64, 1)

    transcript = Transcript()
    run_pair(deal(one), deal(other), transcript)
    made = sum(len(page.matrix) // 4 for page in transcript.sent_by_a if isinstance(page, ChoicePage))
    assert 0 <= made - used < min(2 * used, 1 << 16)


def test_shares_of_another_length_are_refused() -> None:
    for kind in [MaskedPage, OpenedPage]:
        for change in [without_its_end, with_more, lambda _: b""]:
            one, other = sides()

            def play(side: Gates) -> Role[Words]:
                return (yield from side.opened((yield from side.both(drawn(1, 2), drawn(2, 2)))))

            with pytest.raises(PeerError, match="shares of another length"):
                run_pair(play(one), sending(play(other), changed(kind, words=change)))


def test_a_share_that_is_flipped_flips_what_both_see_and_nobody_notices() -> None:
    """What SECURITY lists: shares are not authenticated."""
    one, other = sides()

    def flip(data: bytes) -> bytes:
        return bytes([data[0] ^ 1]) + data[1:]

    left, right = run_pair(
        one.opened(np.zeros(1, np.uint64)),
        sending(other.opened(np.zeros(1, np.uint64)), changed(OpenedPage, words=flip)),
    )
    assert (left[0], right[0]) == (1, 0)


WIDTHS = st.integers(2, 40)


def summed(circuit: Callable[[Gates, Words], Role[Words]], numbers: Words, seed: int) -> tuple[Words, Words]:
    """Share numbers, play a circuit at both sides, and return what each side has."""
    one, other = sides()
    masks = drawn(seed, *numbers.shape)
    return run_pair(circuit(one, masks), circuit(other, numbers - masks))


def in_bits(circuit: Callable[[Gates, Words], Role[Words]], numbers: Words, seed: int) -> Words:
    left, right = summed(circuit, numbers, seed)
    return left ^ right


@SLOW
@given(SEEDS, WIDTHS)
def test_bits_signs_and_limits_are_those_of_the_sum(seed: int, width: int) -> None:
    numbers = drawn(seed, 128) & modulus_mask(width)
    numbers[:3] = 0, 1, int(modulus_mask(width))
    least = int(numbers[5])
    bits = in_bits(lambda side, own: summand_bits(side, own, width), numbers, seed)
    assert (plane_words(bits) == numbers).all()
    signs = in_bits(lambda side, own: are_negative(side, own, width), numbers, seed)
    assert (bits_of_lanes(signs) == (numbers >> np.uint64(width - 1)).astype(bool)).all()
    planes = bit_planes(numbers, width)
    for limit in (least, 0, 1 << width):
        large = in_bits(lambda side, _: not_below(side, side.ours(planes, mine=side.first), limit), numbers, seed)  # noqa: B023
        assert (bits_of_lanes(large) == (numbers >= np.uint64(limit))).all()


@SLOW
@given(SEEDS, st.integers(1, 64))
def test_bits_times_numbers_are_the_numbers_where_bits_are_one(seed: int, width: int) -> None:
    wires, numbers = drawn(seed, 3, 2), drawn(seed + 1, 128) & modulus_mask(width)

    def multiplied(side: Gates, own: Words) -> Role[Words]:
        return (yield from products(side, side.ours(wires, mine=not side.first), own, width))

    left, right = summed(multiplied, numbers, seed)
    assert ((left + right & modulus_mask(width)) == np.where(bits_of_lanes(wires), numbers, 0)).all()

    def weighted(side: Gates, own: Words) -> Role[Words]:
        return (yield from as_numbers(side, own[:6].reshape(3, 2), [1, 2, 3], width))

    shared = drawn(seed + 2, 128)
    one, other = sides()
    left, right = run_pair(weighted(one, shared), weighted(other, shared ^ numbers))
    wanted = bits_of_lanes(numbers[:6].reshape(3, 2)) * np.array([[1], [2], [3]], np.uint64)
    assert ((left + right & modulus_mask(width)) == wanted & modulus_mask(width)).all()


def test_lanes_are_filled_up_with_zeros_and_known_bits_have_the_table_of_and() -> None:
    """By hand: lanes 0 to 3 have 00, 01, 10, 11."""
    left, right = np.array([0b1100], np.uint64), np.array([0b1010], np.uint64)
    assert computed(Gates.both, left, right)[0] == 0b1000
    assert filled(np.ones((2, 65), np.uint64)).sum(axis=1).tolist() == [65, 65]
    assert filled(np.ones((2, 65), np.uint64)).shape == (2, 128)
    bits = np.ones((3, 70), bool)
    assert wires_of(bits).shape == (3, 2)
    assert bits_of_lanes(wires_of(bits)).sum() == 210


@SLOW
@given(SEEDS, st.integers(2, 64), st.data())
def test_numbers_without_their_last_bits_are_what_a_shift_leaves(seed: int, width: int, data: st.DataObject) -> None:
    dropped, new = data.draw(st.integers(1, width - 1)), data.draw(st.integers(1, 64))
    numbers = drawn(seed, 64) & modulus_mask(width)
    numbers[:2] = 0, int(modulus_mask(width))
    one, other = sides()
    masks = drawn(seed + 1, 64)
    masks[2:4] = 0, int(modulus_mask(width))

    def play(side: Gates, own: Words) -> Role[Words]:
        return (yield from without_last_bits(side, own & modulus_mask(width), width, dropped, new))

    left, right = run_pair(play(one, masks), play(other, numbers - masks))
    assert ((left + right & modulus_mask(new)) == (numbers >> np.uint64(dropped) & modulus_mask(new))).all()


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "_PAGE_BYTES", 1 << 14)  # holds 896 transfers at k = 1


def whole_run(one: Transfers, other: Transfers) -> None:
    """Choose twice, over more than a page, and use both vectors again and again, in both directions."""
    for chooser, sender in ((one.chooser, other.sender), (other.chooser, one.sender)):
        for sizes in ((2_000, 100), (300,)):
            chosen, both = extend(chooser, sender, [random_bits(size, size) for size in sizes])
            widths = [[9, 30, 30, 1, 64]] * len(sizes)
            sources = [bits_as_numbers([random_bits(size, 1)] * 5, widths[0]) for size in sizes]
            for _ in range(2):
                multiply(chosen, both, widths, sources)
            for own, keys in zip(chosen, both, strict=True):
                own.strings(2)
                keys.strings(2)


@pytest.mark.usefixtures("small_pages")
def test_no_mask_is_formed_twice_in_whole_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = MaskRecorder(monkeypatch)
    whole_run(*meet(1))
    assert recorder.offsets == 2
    assert recorder.times() == ONCE


@pytest.mark.usefixtures("small_pages")
def test_a_side_that_is_put_back_forms_no_mask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One side draws as before, as a machine does that is put back: nonce, secrets and offset are the same."""
    recorder = MaskRecorder(monkeypatch)
    for seed in (1, 2):
        whole_run(*run_pair(set_up(1, Chance(0)), set_up(1, Chance(seed))))
    assert recorder.offsets == 4
    assert recorder.times() == ONCE


@pytest.mark.usefixtures("small_pages")
def test_a_counter_that_starts_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: uses that are not dealt by one counter."""
    recorder = MaskRecorder(monkeypatch)
    one, other = meet(4)
    (chosen,), (both,) = extend(one.chooser, other.sender, [random_bits(50, 1)])
    for _ in range(2):
        again = ChosenKeys(chosen.choices, chosen.chosen), BothKeys(both.zero, both.offset)
        multiply([again[0]], [again[1]], [[5]], [bits_as_numbers([np.ones(50, bool)], [5])])
    assert recorder.times() == {(6, 2), (6, 4)}


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize(("depth", "blocks"), [(1, 15), (4, 14)])  # of the first vector, two pages or one
def test_no_stream_is_read_twice(monkeypatch: pytest.MonkeyPatch, depth: int, blocks: int) -> None:
    read: list[tuple[Stream, int]] = []
    formed = Stream.read

    def recorded(own: Stream, first: int, row: Bytes) -> object:
        read.extend((own, block) for block in range(first, first + len(row) // 16))
        return formed(own, first, row)

    monkeypatch.setattr(Stream, "read", recorded)
    one, _ = meet(depth)
    for size in (1000, 1, 129):
        for _ in one.chooser.extend([random_bits(size, size)]):
            pass
    assert len(read) == len(set(read)) == (128 // depth) * 2**depth * blocks


def test_pages_that_are_made_at_once_read_the_seeds_by_contexts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    chooser, formed = meet(4)[0].chooser, Stream.read
    by_page: tuple[set[Stream], set[Stream]] = set(), set()
    alone = chooser._columns(0, 256)

    def read(own: Stream, first: int, row: Bytes) -> object:
        by_page[first > 0].add(own)
        if by_page[0] and not by_page[1]:
            chooser._columns(256, 256)  # as another thread would, in the middle of this page
        return formed(own, first, row)

    monkeypatch.setattr(Stream, "read", read)
    assert all((one == other).all() for one, other in zip(chooser._columns(0, 256), alone, strict=True))
    assert len(by_page[0]) == len(by_page[1]) == 32 * 16
    assert not by_page[0] & by_page[1]
