"""What holds for any bits: of words and lanes, of the linear hash, of transfers of every depth and of products."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.oblivious.aes import hash_columns
from protocols.oblivious.bits import lanes_of, pack, packed_bytes, rows_of, transposed, unpack
from protocols.oblivious.extension import DEPTHS, SACRIFICED
from protocols.oblivious.masks import BothKeys, ChosenKeys, Keys, Numbering
from protocols.oblivious.products import GivenNumbers, SummedShares, bits_as_numbers, send_products
from protocols.role import Message, Phase, Progress, Receive, Transcript
from tests.protocols.oblivious import plain
from tests.protocols.oblivious.parts import extend, multiply, opened, products, random_bits, usual
from tests.support.duel import replay
from tests.support.examples import at_most, few

SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=at_most(15), deadline=None)


def words(count: int, seed: int) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, count, dtype=np.uint64)


@given(st.integers(1, 5), SEEDS)
def test_transposing_twice_changes_nothing_and_once_exchanges_places(blocks: int, seed: int) -> None:
    matrix = words(64 * blocks, seed).reshape(64, blocks)
    once = transposed(matrix)
    assert (transposed(once) == matrix).all()
    for i, j in np.random.default_rng(seed).integers(0, 64, (20, 2)).tolist():
        assert (matrix[i] >> np.uint64(j) & np.uint64(1) == once[j] >> np.uint64(i) & np.uint64(1)).all()


@given(st.integers(1, 600), SEEDS)
def test_rows_have_the_bits_of_the_columns(blocks: int, seed: int) -> None:
    columns = np.random.default_rng(seed).integers(0, 256, (128, 8 * blocks), dtype=np.uint8)
    expected = np.unpackbits(columns, axis=1, bitorder="little").T
    rows = np.ascontiguousarray(rows_of(columns)).view(np.uint8)
    assert (np.unpackbits(rows, axis=1, bitorder="little") == expected).all()


@given(st.integers(1, 200), st.integers(1, 64), SEEDS)
def test_packed_words_are_read_again_and_take_no_more_bits_than_they_have(count: int, bits: int, seed: int) -> None:
    numbers = words(count, seed) & np.uint64((1 << bits) - 1)
    data = pack(numbers, bits)
    assert len(data) == packed_bytes(count, bits) < (count + 64) * bits / 8
    assert (unpack(data, count, bits) == numbers).all()


WIDTHS = st.lists(st.integers(1, 64), min_size=1, max_size=30)


@given(WIDTHS, SEEDS)
def test_lanes_are_added_and_subtracted_each_by_itself(widths: list[int], seed: int) -> None:
    for lanes in lanes_of(widths):
        left, right = (words(7, seed + at) & lanes.used for at in (0, 1))
        numbers = [
            [plain.fields(int(word).to_bytes(8, "little"), lanes.widths) for word in each] for each in (left, right)
        ]
        for result, sign in ((lanes.add(left, right), 1), (lanes.subtract(left, right), -1)):
            for word, ours, theirs in zip(result.tolist(), *numbers, strict=True):
                expected = [(a + sign * b) % 2**w for a, b, w in zip(ours, theirs, lanes.widths, strict=True)]
                assert plain.fields(word.to_bytes(8, "little"), lanes.widths) == expected
                assert word <= int(lanes.used)
        assert lanes.sums(left) == [
            sum(each) % 2**width for each, width in zip(zip(*numbers[0], strict=True), lanes.widths, strict=True)
        ]


@given(WIDTHS)
def test_numbers_are_laid_out_in_order_and_in_as_few_words_as_that_allows(widths: list[int]) -> None:
    laid_out = list(lanes_of(widths))
    assert [width for lanes in laid_out for width in lanes.widths] == widths
    assert all(lanes.bits <= 64 for lanes in laid_out)
    assert all(a.bits + b.widths[0] > 64 for a, b in pairwise(laid_out))


@pytest.mark.parametrize("width", [0, 65, -1])
def test_a_number_that_is_no_word_is_refused(width: int) -> None:
    with pytest.raises(InputError, match="1 to 64 bits"):
        list(lanes_of([8, width]))


@given(st.integers(1, 9), SEEDS, st.binary(min_size=16, max_size=16))
def test_the_hash_of_a_sum_is_the_sum_of_the_hashes(blocks: int, seed: int, key: bytes) -> None:
    columns = np.random.default_rng(seed).integers(0, 256, (2, 16 * blocks), dtype=np.uint8)
    first, second = hash_columns(key, columns)
    assert (hash_columns(key, columns[:1] ^ columns[1:]) == first ^ second).all()
    assert not hash_columns(key, np.zeros((1, 16 * blocks), np.uint8)).any()
    assert first.tobytes() == plain.ghash(key, columns[0].tobytes())


VECTORS = st.lists(st.integers(1, 700), min_size=1, max_size=4)


@pytest.mark.parametrize("depth", few(DEPTHS, 2))
@FEW
@given(VECTORS, SEEDS)
def test_who_chooses_gets_the_key_of_its_choice_and_of_no_other(depth: int, sizes: list[int], seed: int) -> None:
    vectors = [random_bits(size, seed + at) for at, size in enumerate(sizes)]
    chosen, both = extend(*usual(depth), vectors)
    for own, keys, vector in zip(chosen, both, vectors, strict=True):
        (zeros, ones), strings = keys.strings(3), own.strings(3)
        assert (strings == np.where(vector[:, None], ones, zeros)).all()
        assert len({row.tobytes() for row in np.concatenate([zeros, ones])}) == 2 * len(vector)


def test_pages_of_choices_are_of_one_size_and_go_on_counting() -> None:
    chooser, sender = usual(1)
    crossed = Transcript()
    vectors = [random_bits(65_000, 1), random_bits(1_000, 2)]
    (first, second), (other, _) = extend(chooser, sender, vectors, crossed)
    assert [len(page.matrix) >> 20 for page in crossed.sent_by_a] == [1, 0]  # type: ignore[attr-defined]
    numbers = np.concatenate([each.chosen.numbering.numbers(range(len(each))) for each in (first, second)])
    assert (np.diff(numbers.astype(np.int64)) > 0).all()
    assert numbers[-1] - numbers[0] == len(numbers) - 1 + SACRIFICED
    assert (first.strings(1) == np.where(vectors[0][:, None], *other.strings(1)[::-1])).all()


@FEW
@given(VECTORS, SEEDS, st.data())
def test_sums_are_dot_products_of_any_vectors_and_widths(sizes: list[int], seed: int, data: st.DataObject) -> None:
    vectors = [random_bits(size, seed + at) for at, size in enumerate(sizes)]
    widths = [data.draw(st.lists(st.integers(1, 64), min_size=1, max_size=12)) for _ in sizes]
    columns = [
        [random_bits(size, seed + at) for at, _ in enumerate(each)] for size, each in zip(sizes, widths, strict=True)
    ]
    chosen, both = extend(*usual(4), vectors)
    sources = [bits_as_numbers(own, each) for own, each in zip(columns, widths, strict=True)]
    for _ in range(2):  # the same keys serve again, by other uses
        shares = multiply(chosen, both, widths, sources)
        assert opened(*shares, widths) == [
            [int((vector & column).sum()) % 2**width for column, width in zip(own, each, strict=True)]
            for vector, own, each in zip(vectors, columns, widths, strict=True)
        ]


def test_progress_is_shown_page_by_page() -> None:
    chooser, sender = usual(1)
    size, widths = 70_000, [60] * 3
    pages = replay(chooser.extend([random_bits(size, 1)]), []).sent
    shown: dict[Phase, list[float]] = {Phase.COLUMNS: [], Phase.COUNTS: []}

    taking, waiting = sender.extend([size]), iter(pages)
    answer: Message | None = None
    while True:
        try:
            effect = taking.send(answer)
        except StopIteration as stop:
            (keys,) = stop.value
            break
        answer = next(waiting) if isinstance(effect, Receive) else None
        if isinstance(effect, Progress):
            shown[effect.phase].append(effect.done / effect.total)
    columns = [np.ones(size, bool)] * 3
    for effect in send_products([(keys, widths, bits_as_numbers(columns, widths))], SummedShares([(size, widths)])):
        if isinstance(effect, Progress):
            shown[effect.phase].append(effect.done / effect.total)
    assert [len(each) for each in shown.values()] == [2, 2]
    assert all(each == sorted(each) and each[-1] == 1 for each in shown.values())


@FEW
@given(st.integers(1, 300), st.lists(st.integers(1, 64), min_size=1, max_size=9), SEEDS)
def test_products_are_shared_record_by_record(size: int, widths: list[int], seed: int) -> None:
    vector, laid_out = random_bits(size, seed), list(lanes_of(widths))
    values = [words(size, seed + at) & lanes.used for at, lanes in enumerate(laid_out)]
    ((chosen,), (both,)) = extend(*usual(2), [vector])
    ours, theirs = products(chosen, both, widths, GivenNumbers(values))
    for at, lanes in enumerate(laid_out):
        assert (lanes.add(ours[:, at], theirs[:, at]) == np.where(vector, values[at], 0)).all()


def test_sums_cross_in_pages_and_are_products_of_strings_at_a_bit() -> None:
    size, widths = 100_000, [17] * 20
    columns = [random_bits(size, at) for at in range(20)]
    vector = random_bits(size, 99)
    crossed = Transcript()
    shares = multiply(*extend(*usual(4), [vector]), [widths], [bits_as_numbers(columns, widths)], crossed)
    assert opened(*shares, [widths])[0] == [int((vector & column).sum()) for column in columns]
    sizes = [len(page.corrections) for page in crossed.sent_by_b]  # type: ignore[attr-defined]
    assert sum(sizes) == pytest.approx(size * 17 * 20 / 8, rel=0.01)
    assert all((1 << 19) < each < (3 << 19) for each in sizes[:-1])
    vector, values = random_bits(500, 1), words(500, 2)
    ((chosen,), (both,)) = extend(*usual(4), [vector])
    ours, theirs = products(chosen, both, [1] * 64, GivenNumbers([values]))
    assert ((ours ^ theirs)[:, 0] == np.where(vector, values, 0)).all()


NO_KEYS = Keys(b"", Numbering(0, 4, 0), np.zeros((4, 2), np.uint64))


def blocks(*masks: int) -> NDArray[np.uint64]:
    return np.array([masks, [0] * len(masks)], np.uint64).T


class GivenBoth(BothKeys):
    """Keys whose masks are given."""

    def part(self, transfers: slice) -> BothKeys:
        return self

    def masks(self, uses: Iterable[int]) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
        return iter([(blocks(1, 2, 3, 0), blocks(3, 3, 0, 2))])


class GivenChosen(ChosenKeys):
    """Those of them that are chosen."""

    def part(self, transfers: slice) -> ChosenKeys:
        return self

    def masks(self, uses: Iterable[int]) -> Iterator[NDArray[np.uint64]]:
        return iter([blocks(3, 2, 0, 2)])


def test_a_count_of_four_records_by_hand() -> None:
    """Records 1 and 4 have both: E_a is 1 0 1 1, E_b is 1 1 0 1; modulo 4, masks H_0 = 1 2 3 0 and H_1 = 3 3 0 2.

    The corrections are 1-3+1, 2-3+1, 3-0+0, 0-2+1, that is 3 0 3 3. The chooser adds 3+3, 2, 0+3 and 2+3, that is 0;
    the sender has -(1+2+3+0), that is 2.
    """
    mine, theirs = GivenChosen(np.array([True, False, True, True]), NO_KEYS), GivenBoth(NO_KEYS, NO_KEYS.keys[0])
    has = np.array([True, True, False, True])
    crossed = Transcript()
    shares = multiply([mine], [theirs], [[2]], [bits_as_numbers([has], [2])], crossed)
    (page,) = crossed.sent_by_b
    assert unpack(page.corrections, 4, 2).tolist() == [3, 0, 3, 3]  # type: ignore[attr-defined]
    assert [each.shares for each in shares] == [[[0]], [[2]]]
