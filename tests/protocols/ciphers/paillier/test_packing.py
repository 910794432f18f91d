import json
from collections.abc import Iterable
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from protocols.ciphers.paillier import packing
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.encryption import Encryptor
from protocols.ciphers.paillier.keys import PrivateKey, PublicKey
from protocols.ciphers.paillier.packing import (
    FreshCiphertext,
    pack_bits,
    pack_counts,
    read_page,
    seal,
    slot_width,
    slots_per_reply,
    unpack_counts,
    write_page,
)
from protocols.errors import DeviationError, InputError, PeerError
from protocols.randomness import watched
from tests.protocols.ciphers.paillier.chance import Chance, Highest, Script


def multiplied_all(values: Iterable[Integer], modulus: Integer) -> Integer:
    return Integer(prod(map(int, values)) % int(modulus))


SMALL = PrivateKey(0xF00000000000002B, 0xF800000000000027)  # 128 bits: 87 for the slots, 40 for the mask
PUBLIC = SMALL.public_key
ENCRYPTOR = Encryptor(SMALL, Chance(1))


def encrypt(values: list[int | None], encryptor: Encryptor = ENCRYPTOR) -> list[Integer | None]:
    return [None if value is None else encryptor.encrypt([value])[0].value for value in values]


def values_of(replies: list[FreshCiphertext]) -> list[Integer]:
    return [reply.value for reply in replies]


@given(
    st.integers(1, 87).flatmap(
        lambda width: st.tuples(
            st.just(width), st.lists(st.none() | st.integers(0, 2**width - 1), max_size=12), st.integers(0, 10**9)
        )
    )
)
def test_what_is_packed_is_unpacked(case: tuple[int, list[int | None], int]) -> None:
    width, counts, seed = case
    replies = pack_counts(PUBLIC, encrypt(counts), width, Chance(seed))
    assert len(replies) == -(-len(counts) // (87 // width))
    unpacked = unpack_counts(SMALL, values_of(replies), len(counts), width, 2**width - 1)
    assert unpacked == [count or 0 for count in counts]


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=9)), st.integers(4, 9))
def test_sums_of_packed_columns_are_the_counts_of_the_columns(columns: NDArray[np.bool_], width: int) -> None:
    records, slots = columns.shape
    plaintexts = pack_bits(columns, width)
    assert plaintexts == [sum(int(bit) << (width * j) for j, bit in enumerate(row)) for row in columns]
    ciphertexts = [fresh.value for fresh in ENCRYPTOR.encrypt(plaintexts)]
    items = [multiplied_all(ciphertexts, PUBLIC.n_square), None, multiplied_all(ciphertexts[1:], PUBLIC.n_square)]
    replies = pack_counts(PUBLIC, items, width * slots, Chance(9))
    counts = unpack_counts(SMALL, values_of(replies), 3, width, records, slots)
    assert counts == [*columns.sum(axis=0), *[0] * slots, *columns[1:].sum(axis=0)]


@pytest.mark.parametrize("selected", [[], [3], list(range(6))], ids=["empty", "one row", "all rows"])
def test_a_reply_hides_what_was_multiplied(selected: list[int], key: PrivateKey) -> None:
    public_key, n, n_square = key.public_key, key.public_key.n, key.public_key.n_square
    bits = [1, 0, 1, 1, 0, 1]
    inputs = [fresh.value for fresh in Encryptor(key, Chance(2)).encrypt(bits)]
    multiplied = multiplied_all((inputs[row] for row in selected), n_square)
    seen = set()
    chance = Chance(3)
    for _ in range(20):
        (reply,) = pack_counts(public_key, [multiplied if selected else None], 3, chance)
        factor, mask = chance.draws[-2:]
        assert unpack_counts(key, [reply.value], 1, 3, 6) == [sum(bits[row] for row in selected)]
        assert reply.value == multiplied * pow(factor, int(n), int(n_square)) * (1 + n * (mask << 3)) % n_square
        assert reply.value % n != multiplied % n
        seen.add(reply.value % n)
    assert len(seen) == 20
    assert chance.bounds == [n, n >> 3] * 20


def test_slots_hold_every_count_and_masks_use_all_the_room() -> None:
    for n_records, width in ((1, 1), (2, 2), (255, 8), (256, 9), (5000, 13)):
        assert slot_width(n_records) == width
    for bits, width, slots in ((3072, 13, 233), (2048, 13, 154), (128, 87, 1), (128, 43, 2)):
        assert slots_per_reply(PublicKey(Integer(2**bits - 1)), width) == slots
    for width in (-1, 0, 88):
        with pytest.raises(InputError, match="1 to 87 bits"):
            slots_per_reply(PUBLIC, width)
    assert pack_bits(np.zeros((3, 0), dtype=np.bool_), 5) == [0, 0, 0]
    for n in (35, 37 * 41, 2**12 - 1, 2**12 + 1):
        for used in range(1, n.bit_length()):
            bound = packing.mask_bound(Integer(n), used)
            assert all((mask << used) + 2**used - 1 < n for mask in range(bound))
            assert (bound << used) + 2**used - 1 >= n
    replies = pack_counts(PUBLIC, encrypt([2**29 - 1] * 3), 29, Highest())
    plaintext = SMALL.decrypt(replies[0].value)
    assert plaintext == (((PUBLIC.n >> 87) - 1) << 87) + 2**87 - 1 < PUBLIC.n
    for used in (-1, 0, 88):
        with pytest.raises(InputError, match="1 to 87 bits"):
            seal(PUBLIC, None, used, Chance(5))


def test_replies_hide_by_masks_of_their_own_and_what_is_no_bit_shows_no_more_than_the_slots(key: PrivateKey) -> None:
    replies = pack_counts(key.public_key, [None] * 3, 400, Chance(4))
    assert len({reply.value % key.public_key.n for reply in replies}) == 3
    chance = Chance(6)
    (ciphertext,) = encrypt([1234])
    sealed = seal(PUBLIC, ciphertext, 11, chance)
    assert SMALL.decrypt(sealed.value) == 1234 + (chance.draws[-1] << 11)
    # Case 21: the key holder encrypts 2**i for record i and looks for the selection in the raw plaintext.
    # Unmasked, all bits agree. Masked, each agrees by a fair coin: 6 standard deviations of 4000 are 190.
    n, rows, width = key.public_key.n, 200, 10
    marks = [fresh.value for fresh in Encryptor(key, Chance(7)).encrypt([2 ** (width + row) for row in range(rows)])]
    chance, agreements = Chance(8), 0
    for _ in range(20):
        selection = [chance.randbelow(2) for _ in range(rows)]
        chosen = [mark for mark, bit in zip(marks, selection, strict=True) if bit]
        (reply,) = pack_counts(key.public_key, [multiplied_all(chosen, n**2)], width, chance)
        plaintext = key.decrypt(reply.value)
        assert plaintext % 2**width == 0
        agreements += sum((plaintext >> (width + row)) % 2 == bit for row, bit in enumerate(selection))
    assert abs(agreements - 2000) < 190


@pytest.mark.parametrize("given", [0, 1, 3])
def test_more_or_fewer_replies_than_asked_for_are_refused(given: int) -> None:
    replies = values_of(pack_counts(PUBLIC, [None] * 6, 40, Chance(11)))[:given]
    with pytest.raises(PeerError, match="more or fewer") as refusal:
        unpack_counts(SMALL, replies, 4, 40, 9)
    assert not isinstance(refusal.value, DeviationError)


def test_what_is_no_reply_ends_the_session_in_the_same_words_as_a_source_that_repeats_itself_ends_it(
    key: PrivateKey,
) -> None:
    with pytest.raises(DeviationError) as refusal:
        unpack_counts(SMALL, [PUBLIC.n], 1, 4, 9)
    assert str(refusal.value) == str(DeviationError())
    with pytest.raises(InputError, match="fit a slot"):
        unpack_counts(SMALL, [], 0, 3, 8)
    for count in (7, 15):
        replies = values_of(pack_counts(PUBLIC, encrypt([3, count, 1]), 4, Chance(10)))
        assert unpack_counts(SMALL, replies, 3, 4, count) == [3, count, 1]
        with pytest.raises(DeviationError) as refusal:
            unpack_counts(SMALL, replies, 3, 4, count - 1)
        assert str(refusal.value) == str(DeviationError())
    with pytest.raises(InputError, match="repeated"):
        pack_counts(key.public_key, [None] * 2, 400, Script([5, 6, 5]))
    source = watched(Script([5, 6, 5]))
    pack_counts(key.public_key, [None], 3, source)
    with pytest.raises(InputError, match="repeated"):
        pack_counts(key.public_key, [None], 3, source)


TINY: dict[str, Any] = json.loads((Path(__file__).parents[3] / "vectors" / "paillier_tiny.json").read_text())
GOOD = [case["ciphertext"] for case in TINY["encryptions"] if case["r"] > 1]


def page(values: list[int], length: int = 2) -> bytes:
    return b"".join(value.to_bytes(length, "big") for value in values)


def test_one_bad_ciphertext_refuses_the_page_and_does_not_say_why(tiny_key: PrivateKey) -> None:
    for place, case in product([0, 2, 4], TINY["refused"]):
        values = list(GOOD)
        values[place] = case["ciphertext"]
        with pytest.raises(DeviationError) as refusal:
            read_page(tiny_key.public_key, page(values))
        assert str(refusal.value) == str(DeviationError())


def test_a_ciphertext_that_shows_its_plaintext_to_everybody_refuses_the_page(small_key: PrivateKey) -> None:
    for of in ["1", "1 + n", "1 + 5n", "n - 1", "n^2 - 1", "n^2 - 1 - 5n"]:
        n = int(small_key.public_key.n)
        honest = [(1 + n * bit) * pow(2 + bit, n, n * n) % (n * n) for bit in (0, 1)]
        shown = {"1": 1, "1 + n": 1 + n, "1 + 5n": 1 + 5 * n, "n - 1": n - 1, "n^2 - 1": n * n - 1}
        assert len(read_page(small_key.public_key, page(honest, 32))) == 2
        with pytest.raises(DeviationError):
            read_page(small_key.public_key, page([*honest, shown.get(of, n * n - 1 - 5 * n)], 32))


def test_one_bad_ciphertext_refuses_the_page_whatever_stands_beside_it(
    tiny_key: PrivateKey, small_key: PrivateKey
) -> None:
    with pytest.raises(DeviationError):
        read_page(tiny_key.public_key, page([5, 7]))
    values = [int(small_key.public_key.n) + 2] * 10_000
    assert len(read_page(small_key.public_key, page(values, 32))) == 10_000
    values[7654] = int(small_key.p) * 12345
    with pytest.raises(DeviationError):
        read_page(small_key.public_key, page(values, 32))
    for cut in (1, 2, 31, 33):
        data = page([int(small_key.public_key.n) + 2] * 3, 32)
        with pytest.raises(PeerError, match="whole ciphertexts") as refusal:
            read_page(small_key.public_key, data[:-cut])
        assert not isinstance(refusal.value, DeviationError)


def test_what_is_written_is_read(tiny_key: PrivateKey) -> None:
    data = write_page(tiny_key.public_key, [FreshCiphertext(Integer(value)) for value in GOOD])
    assert data == page(GOOD)
    assert read_page(tiny_key.public_key, data) == GOOD
    assert read_page(tiny_key.public_key, b"") == []
    for n, length in ((35, 2), (255, 2), (257, 4), (2**128 - 1, 32), (2**128 + 1, 34)):
        assert PublicKey(Integer(n)).ciphertext_bytes == length
    for place in (0, 1):
        values: list[Any] = [FreshCiphertext(Integer(1)), FreshCiphertext(Integer(36))]
        values[place] = values[place].value
        with pytest.raises(InputError, match="fresh"):
            write_page(tiny_key.public_key, values)


@given(st.binary(max_size=200))
def test_any_bytes_of_the_peer_are_read_or_refused(data: bytes) -> None:
    try:
        values = read_page(PublicKey(Integer(35)), data)
    except PeerError:
        return
    assert page([int(value) for value in values]) == data
