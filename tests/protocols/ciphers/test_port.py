"""The laws of the port, as Paillier keeps them."""

import pickle
import secrets
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.ciphers.port import Reply, Shape, sum_by_group
from protocols.errors import CotallyError, InputError, PeerError
from tests.support.parties import key_holder

LARGEST = 1000
HOLDER, OTHER = key_holder(0), key_holder(1)
ENCRYPTION = HOLDER.encryption(secrets)  # tables are made once


def encrypted(messages: list[int]) -> Any:
    return HOLDER.public.join(
        [HOLDER.public.read(page) for page in ENCRYPTION.encrypt_pages([messages] if messages else [])]
    )


def told(values: Any) -> list[int]:
    sealed = HOLDER.public.seal([Reply(values, slots=1)], LARGEST, secrets)
    return HOLDER.counts(sealed, [Shape(len(values), 1)], LARGEST)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12))
def test_sums_by_group_are_those_of_the_plaintexts(pairs: list[tuple[int, int]]) -> None:
    messages, groups = [m for m, _ in pairs], np.array([g for _, g in pairs], dtype=np.intp)
    sums = sum_by_group(HOLDER.public, encrypted(messages), groups, 4)
    assert told(sums) == np.bincount(groups, messages, minlength=4).tolist()


def test_seals_differ_and_keys_are_told_apart_and_what_does_not_fit_is_refused() -> None:
    (page,) = ENCRYPTION.encrypt_pages([[1]])
    reply = [Reply(HOLDER.public.read(page), slots=1)]
    seals = {HOLDER.public.seal(reply, LARGEST, secrets) for _ in range(3)}
    assert len(seals | {page}) == 4
    cipher = HOLDER.public
    (page,) = ENCRYPTION.encrypt_pages([[1]])
    assert len(page) == cipher.ciphertext_bytes
    assert HOLDER.table_bytes(LARGEST) > 0
    assert cipher.packing_additions(LARGEST) >= 0
    replies = cipher.seal([Reply(encrypted([1] * (cipher.slots(LARGEST) + 1)), slots=1)], LARGEST, secrets)
    assert len(replies) == 2 * cipher.ciphertext_bytes
    sealed = HOLDER.public.seal([Reply(encrypted([1, 2]), slots=1)], LARGEST, secrets)
    for data, shapes in ((sealed * 2, [Shape(2, 1)]), (sealed[:-1], [Shape(2, 1)]), (b"", [Shape(1, 1)])):
        with pytest.raises(PeerError):
            HOLDER.counts(data, shapes, LARGEST)
    size = HOLDER.public.ciphertext_bytes
    (page,) = ENCRYPTION.encrypt_pages([[1, 0]])
    for bad in (bytes(size), b"\xff" * size, b"\x00"):
        with pytest.raises(CotallyError):
            HOLDER.public.read(page + bad)
    values = encrypted([1, 1])
    for groups in ([0], [0, 2], [-1, 0]):
        with pytest.raises(InputError):
            HOLDER.public.sums(2).add(values, np.array(groups))
    with pytest.raises(PeerError):
        HOLDER.read_peer(HOLDER.announce(b"run"), HOLDER.bits, b"run")
    with pytest.raises(PeerError):
        HOLDER.read_peer(b"\x00\x01", HOLDER.bits, b"run")
    other = OTHER
    announced = other.announce(b"run")
    assert HOLDER.read_peer(announced, other.bits, b"run") == other.public
    with pytest.raises(PeerError, match="bits"):
        HOLDER.read_peer(announced, other.bits + 1, b"run")
    assert HOLDER != OTHER
    assert HOLDER.__eq__(object()) is False
    again = pickle.loads(pickle.dumps(HOLDER))
    assert again == HOLDER
    assert hash(again) == hash(HOLDER)
    assert again.counts(
        again.public.seal([Reply(encrypted([4]), slots=1)], LARGEST, secrets), [Shape(1, 1)], LARGEST
    ) == [4]
    assert len(repr(HOLDER)) < 60


def test_rows_and_columns_come_back_as_they_were_packed() -> None:
    cipher = HOLDER.public
    nothing = cipher.sums(3).totals()
    assert told(nothing) == [0, 0, 0]
    assert told(cipher.join([nothing, encrypted([5])])) == [0, 0, 0, 5]
    assert len(cipher.join([])) == 0
    values = encrypted([1, 2, 3])
    assert told(HOLDER.public.take(values, np.array([2, 0, 2]))) == [3, 1, 3]
    assert told(pickle.loads(pickle.dumps(values))) == [1, 2, 3]
    slots = min(3, HOLDER.public.slots(LARGEST))
    columns = np.random.default_rng(5).integers(0, 2, (20, slots)).astype(bool)
    values = encrypted(HOLDER.pack(columns, LARGEST))
    total = sum_by_group(HOLDER.public, values, np.zeros(20, dtype=np.intp), 1)
    nothing = HOLDER.public.sums(2).totals()
    sealed = HOLDER.public.seal([Reply(nothing, 1), Reply(total, slots)], LARGEST, secrets)
    counts = HOLDER.counts(sealed, [Shape(2, 1), Shape(1, slots)], LARGEST)
    assert counts == [0, 0, *columns.sum(axis=0).tolist()]
    slots = min(3, HOLDER.public.slots(LARGEST))
    values = encrypted(HOLDER.pack(np.ones((2, slots), dtype=bool), LARGEST))
    nothing = HOLDER.public.sums(1).totals()
    numbers = [[7 + j for j in range(slots)], [0] * slots, [LARGEST - j for j in range(slots)]]
    added = HOLDER.public.add_to_slots(HOLDER.public.join([values, nothing]), numbers, LARGEST)
    sealed = HOLDER.public.seal([Reply(added, slots)], LARGEST, secrets)
    expected = [8 + j for j in range(slots)] + [1] * slots + numbers[2]
    assert HOLDER.counts(sealed, [Shape(3, slots)], LARGEST) == expected
