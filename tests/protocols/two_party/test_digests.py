"""Digests and commitments tell equal from unequal and nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np

from protocols.messages import HiddenContents
from protocols.role import Role
from protocols.tables import Table
from tests.support.duel import duel
from tests.support.meeting import BOTH_HOLD, ONE_HOLDS, flip_first_class, rename, with_attributes, with_codes
from tests.support.parties import make_local, make_terms, whole


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


def compared(roles: tuple[Role[Any], Role[Any]]) -> list[list[bytes]]:
    """Return the points by which each side lets the other compare what it holds."""
    return [[m.points for m in end.sent if isinstance(m, HiddenContents)] for end in duel(*roles)]


def test_the_class_is_compared_where_both_hold_it_and_looks_otherwise_in_another_session() -> None:
    for case, times in ((BOTH_HOLD, 2), (ONE_HOLDS, 1)):
        roles = (whole(make_local(case, "alice"), make_terms(), "bob"), whole(make_local(case, "bob"), None, "alice"))
        assert [[len(points) for points in end] for end in compared(roles)] == 2 * [[66, 33][:times]]
    shown: set[bytes] = set()
    for alice_nonce, bob_nonce in ((b"a" * 32, b"b" * 32), (b"a" * 32, b"c" * 32), (b"d" * 32, b"b" * 32)):
        roles = (
            whole(make_local(BOTH_HOLD, "alice"), make_terms(), "bob", nonce=alice_nonce),
            whole(make_local(BOTH_HOLD, "bob"), None, "alice", nonce=bob_nonce),
        )
        for points in compared(roles):
            shown.update(each[start : start + 33] for each in points for start in range(0, len(each), 33))
    assert len(shown) == 3 * 2 * 3
