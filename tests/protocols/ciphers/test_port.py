"""The laws of the port, which every cipher keeps."""

import pickle
import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.elgamal.cipher import CurveKeyHolder
from protocols.ciphers.elgamal.keys import CurvePrivateKey
from protocols.ciphers.port import AnyKeyHolder, Reply, Shape, sum_by_group
from protocols.errors import CotallyError, InputError, PeerError
from tests.support.parties import key_holder

LARGEST = 1000
CIPHERS: dict[str, AnyKeyHolder] = {"paillier": key_holder(0), "curve": CurveKeyHolder(CurvePrivateKey(31337))}
OTHERS: dict[str, AnyKeyHolder] = {"paillier": key_holder(1), "curve": CurveKeyHolder(CurvePrivateKey(31338))}
ENCRYPTIONS = {holder: holder.encryption(secrets) for holder in CIPHERS.values()}  # tables are made once
pytestmark = pytest.mark.parametrize("holder", CIPHERS.values(), ids=CIPHERS)


def encrypted(holder: AnyKeyHolder, messages: list[int]) -> Any:
    return holder.public.join(
        [holder.public.read(page) for page in ENCRYPTIONS[holder].encrypt_pages([messages] if messages else [])]
    )


def told(holder: AnyKeyHolder, values: Any) -> list[int]:
    sealed = holder.public.seal([Reply(values, slots=1)], LARGEST, secrets)
    return holder.counts(sealed, [Shape(len(values), 1)], LARGEST)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12))
def test_sums_by_group_are_those_of_the_plaintexts(holder: AnyKeyHolder, pairs: list[tuple[int, int]]) -> None:
    messages, groups = [m for m, _ in pairs], np.array([g for _, g in pairs], dtype=np.intp)
    sums = sum_by_group(holder.public, encrypted(holder, messages), groups, 4)
    assert told(holder, sums) == np.bincount(groups, messages, minlength=4).tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.data())
def test_negating_and_adding_numbers_are_as_in_the_plaintexts(
    holder: AnyKeyHolder, messages: list[int], data: st.DataObject
) -> None:
    cipher, rows = holder.public, np.arange(len(messages), dtype=np.intp)
    numbers = np.array(data.draw(st.lists(st.integers(9, 500), min_size=len(rows), max_size=len(rows))))
    negated = cipher.negate(encrypted(holder, messages))
    assert told(holder, cipher.add_numbers(negated, numbers)) == (numbers - messages).tolist()
    sums = cipher.sums(len(rows))
    sums.add(negated, rows)
    sums.add(encrypted(holder, messages), rows)
    assert told(holder, sums.totals()) == [0] * len(rows)


def test_nothing_counts_as_zero_and_becomes_a_number_that_is_added_to_it(holder: AnyKeyHolder) -> None:
    cipher = holder.public
    nothing = cipher.sums(3).totals()
    assert told(holder, nothing) == told(holder, cipher.negate(nothing)) == [0, 0, 0]
    assert told(holder, cipher.add_numbers(nothing, np.array([0, 7, 9]))) == [0, 7, 9]
    assert told(holder, cipher.join([nothing, encrypted(holder, [5])])) == [0, 0, 0, 5]
    assert len(cipher.join([])) == 0


def test_rows_are_taken_in_their_order_and_may_repeat(holder: AnyKeyHolder) -> None:
    values = encrypted(holder, [1, 2, 3])
    assert told(holder, holder.public.take(values, np.array([2, 0, 2]))) == [3, 1, 3]
    assert told(holder, pickle.loads(pickle.dumps(values))) == [1, 2, 3]


def test_packed_columns_come_back_slot_by_slot(holder: AnyKeyHolder) -> None:
    slots = min(3, holder.public.slots(LARGEST))
    columns = np.random.default_rng(5).integers(0, 2, (20, slots)).astype(bool)
    values = encrypted(holder, holder.pack(columns, LARGEST))
    total = sum_by_group(holder.public, values, np.zeros(20, dtype=np.intp), 1)
    nothing = holder.public.sums(2).totals()
    sealed = holder.public.seal([Reply(nothing, 1), Reply(total, slots)], LARGEST, secrets)
    counts = holder.counts(sealed, [Shape(2, 1), Shape(1, slots)], LARGEST)
    assert counts == [0, 0, *columns.sum(axis=0).tolist()]


def test_two_seals_of_one_sum_differ_and_none_is_what_was_sent(holder: AnyKeyHolder) -> None:
    (page,) = ENCRYPTIONS[holder].encrypt_pages([[1]])
    reply = [Reply(holder.public.read(page), slots=1)]
    seals = {holder.public.seal(reply, LARGEST, secrets) for _ in range(3)}
    assert len(seals | {page}) == 4


def test_replies_that_do_not_fit_what_was_asked_are_refused(holder: AnyKeyHolder) -> None:
    sealed = holder.public.seal([Reply(encrypted(holder, [1, 2]), slots=1)], LARGEST, secrets)
    for data, shapes in ((sealed * 2, [Shape(2, 1)]), (sealed[:-1], [Shape(2, 1)]), (b"", [Shape(1, 1)])):
        with pytest.raises(PeerError):
            holder.counts(data, shapes, LARGEST)


def test_bytes_that_are_no_ciphertexts_are_refused_whole(holder: AnyKeyHolder) -> None:
    size = holder.public.ciphertext_bytes
    (page,) = ENCRYPTIONS[holder].encrypt_pages([[1, 0]])
    for bad in (bytes(size), b"\xff" * size, b"\x00"):
        with pytest.raises(CotallyError):
            holder.public.read(page + bad)


def test_what_a_cipher_costs_is_known_before_it_is_used(holder: AnyKeyHolder) -> None:
    cipher = holder.public
    (page,) = ENCRYPTIONS[holder].encrypt_pages([[1]])
    assert len(page) == cipher.ciphertext_bytes <= cipher.held_bytes
    assert holder.table_bytes(LARGEST) > 0
    assert cipher.packing_additions(LARGEST) >= 0
    replies = cipher.seal([Reply(encrypted(holder, [1] * (cipher.slots(LARGEST) + 1)), slots=1)], LARGEST, secrets)
    assert len(replies) == 2 * cipher.ciphertext_bytes


def test_groups_out_of_range_are_refused(holder: AnyKeyHolder) -> None:
    values = encrypted(holder, [1, 1])
    for groups in ([0], [0, 2], [-1, 0]):
        with pytest.raises(InputError):
            holder.public.sums(2).add(values, np.array(groups))


def test_a_key_of_our_own_is_not_let_in_as_the_peers(holder: AnyKeyHolder) -> None:
    with pytest.raises(PeerError):
        holder.read_peer(holder.announce(b"run"), holder.bits, b"run")
    with pytest.raises(PeerError):
        holder.read_peer(b"\x00\x01", holder.bits, b"run")


def test_another_key_of_the_strength_that_is_asked_for_is_let_in_and_no_weaker_one(holder: AnyKeyHolder) -> None:
    other = OTHERS[holder.public.name]
    announced = other.announce(b"run")
    assert holder.read_peer(announced, other.bits, b"run").key_bytes == other.public.key_bytes
    with pytest.raises(PeerError, match="bits"):
        holder.read_peer(announced, other.bits + 1, b"run")


def test_key_holders_are_equal_if_they_have_the_same_key_and_nothing_else_is(holder: AnyKeyHolder) -> None:
    assert holder != OTHERS[holder.public.name]
    assert holder.__eq__(object()) is False
    assert not any(holder == other for other in OTHERS.values())


def test_a_pickled_key_holder_is_the_same_and_shows_nothing(holder: AnyKeyHolder) -> None:
    again = pickle.loads(pickle.dumps(holder))
    assert again == holder
    assert hash(again) == hash(holder)
    assert told(again, encrypted(holder, [4])) == [4]
    assert len(repr(holder)) < 60


def test_numbers_are_added_to_the_slots_of_each_item(holder: AnyKeyHolder) -> None:
    slots = min(3, holder.public.slots(LARGEST))
    values = encrypted(holder, holder.pack(np.ones((2, slots), dtype=bool), LARGEST))
    nothing = holder.public.sums(1).totals()
    numbers = [[7 + j for j in range(slots)], [0] * slots, [LARGEST - j for j in range(slots)]]
    added = holder.public.add_to_slots(holder.public.join([values, nothing]), numbers, LARGEST)
    sealed = holder.public.seal([Reply(added, slots)], LARGEST, secrets)
    expected = [8 + j for j in range(slots)] + [1] * slots + numbers[2]
    assert holder.counts(sealed, [Shape(3, slots)], LARGEST) == expected
