"""Digests and commitments tell equal from unequal and nothing else."""

from dataclasses import replace

import numpy as np

from protocols.messages import ClassDigest, Greeting, Share
from protocols.role import Transcript, run_pair
from protocols.tables.table import Table
from tests.support.duel import duel
from tests.support.meeting import (
    BOTH_HOLD,
    ONE_HOLDS,
    flip_first_class,
    rename,
    with_attributes,
    with_codes,
)
from tests.support.parties import (
    make_local,
    make_terms,
    whole,
)


def test_a_commitment_is_the_same_for_the_same_table_and_tells_nothing_without_the_secret() -> None:
    bob = make_local(BOTH_HOLD, "bob")
    commitment = bob.digest(b"commitment")
    assert commitment == make_local(BOTH_HOLD, "bob").digest(b"commitment") != bob.digest(b"contents")
    assert commitment == replace(bob, dataset="next year").digest(b"commitment")
    turned = Table(bob.table.attributes[::-1], np.ascontiguousarray(bob.table.codes[:, ::-1]))
    assert commitment == replace(bob, table=turned).digest(b"commitment")
    stranger = replace(bob, secrets=replace(bob.secrets, coins=bytes(range(32))))
    others = [
        stranger,
        with_codes(bob, flip_first_class),
        with_attributes(bob, rename("label")),
        with_attributes(bob, lambda a: (*a[:-1], replace(a[-1], values=a[-1].values[::-1]))),
        replace(bob, records=tuple(f"q{i}" for i in range(20))),
    ]
    assert len({commitment, *(other.digest(b"commitment") for other in others)}) == 1 + len(others)


def test_digests_are_keyed_by_both_nonces_and_show_equality_only() -> None:
    alice, bob = make_local(BOTH_HOLD, "alice"), make_local(BOTH_HOLD, "bob")
    one, other = alice.share(b"nonces"), bob.share(b"nonces")
    assert one.records_digest == other.records_digest != alice.share(b"others").records_digest
    assert alice.class_digest(b"nonces") == bob.class_digest(b"nonces") != alice.class_digest(b"others")
    assert one.records_digest != alice.class_digest(b"nonces")
    assert one.spelling_digest == other.spelling_digest != alice.share(b"others").spelling_digest
    assert one.spelling_digest != one.records_digest


def test_a_digest_of_the_class_crosses_only_where_both_hold_it() -> None:
    for case, digests in ((BOTH_HOLD, 1), (ONE_HOLDS, 0)):
        sent = Transcript()
        roles = (
            whole(make_local(case, "alice"), make_terms(), "bob"),
            whole(make_local(case, "bob"), None, "alice"),
        )
        run_pair(*roles, sent)
        for messages in (sent.sent_by_a, sent.sent_by_b):
            assert sum(isinstance(message, ClassDigest) for message in messages) == digests


def test_both_nonces_go_into_the_digests_in_the_order_of_speaking() -> None:
    shares: list[list[Share]] = []
    for alice_nonce, bob_nonce in ((b"a" * 32, b"b" * 32), (b"a" * 32, b"c" * 32), (b"d" * 32, b"b" * 32)):
        roles = (
            whole(make_local(BOTH_HOLD, "alice"), make_terms(), "bob", nonce=alice_nonce),
            whole(make_local(BOTH_HOLD, "bob"), None, "alice", nonce=bob_nonce),
        )
        ends = duel(*roles)
        shares.append([m for end in ends for m in end.sent if isinstance(m, Share)])
        assert [m.nonce for end in ends for m in end.sent if isinstance(m, Greeting)] == [alice_nonce, bob_nonce]
    assert all(a.records_digest == b.records_digest for a, b in shares)
    assert len({a.records_digest for a, _ in shares}) == 3
