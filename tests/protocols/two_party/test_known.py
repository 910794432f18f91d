"""Counts that both remember: what only one side knows, or knows otherwise, is asked again; a digest is a digest."""

import pytest

from protocols.counting.remembered import count_key
from protocols.errors import PeerError
from protocols.messages import KnownDigests
from protocols.role import run_pair
from protocols.two_party.known import agree_on_known
from tests.protocols.counting.test_remembered import QUERIES, everything
from tests.support.duel import duel, replay

KEYS = [count_key(QUERIES[0], candidate) for candidate in QUERIES[0].candidates]
TABLES = dict(zip(KEYS, everything()[0].tables, strict=True))


def test_a_count_that_only_one_side_remembers_is_asked_again() -> None:
    some = {KEYS[1]: TABLES[KEYS[1]]}
    for left, right in ((TABLES, some), (some, TABLES)):
        both = run_pair(agree_on_known(left, b"n"), agree_on_known(right, b"n"))
        assert [set(known) for known in both] == [{KEYS[1]}] * 2
    other = {KEYS[1]: TABLES[KEYS[1]] + 1}
    assert run_pair(agree_on_known(TABLES, b"n"), agree_on_known(other, b"n")) == ({}, {})


def test_digests_of_known_counts_tell_neither_order_nor_anything_to_another_run() -> None:
    backwards = dict(reversed(TABLES.items()))
    sent = [duel(agree_on_known(known, nonces), agree_on_known({}, nonces))[0].sent[0]
            for known, nonces in ((TABLES, b"n"), (backwards, b"n"), (TABLES, b"m"))]  # fmt: skip
    assert all(isinstance(message, KnownDigests) for message in sent)
    assert sent[0] == sent[1] != sent[2]


@pytest.mark.parametrize("length", [1, 31, 33])
def test_what_cannot_be_digests_is_refused(length: int) -> None:
    end = replay(agree_on_known(TABLES, b"n"), [KnownDigests(bytes(length))])
    assert isinstance(end.error, PeerError)
