"""Whether both sides hold the same: right for both, and one error for whatever a peer sends instead."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from protocols.errors import PeerError
from protocols.messages import HiddenContents, JointDigests
from protocols.role import Message
from protocols.two_party.equality import compare
from tests.support.duel import End, Tamper, duel
from tests.support.lists import NONCES, listing
from tests.support.meeting import on

ALICE, BOB = listing("alice", ["p1"]), listing("bob", ["p1"])


def compared(hers: Sequence[bytes], his: Sequence[bytes], tamper: Tamper | None = None) -> tuple[End[Any], End[Any]]:
    roles = compare(ALICE, "bob", NONCES, b"test", hers), compare(BOB, "alice", NONCES, b"test", his)
    return duel(*roles, tamper) if tamper else duel(*roles)


def test_both_sides_learn_of_each_content_whether_it_is_the_same() -> None:
    for hers, his, same in (
        ([b"x"], [b"x"], (True,)),
        ([b"x"], [b"y"], (False,)),
        ([b"", b"x", b"y"], [b"", b"y", b"y"], (True, False, True)),
        ([b"x", b"y"], [b"y", b"x"], (False, False)),
    ):
        alice, bob = compared(hers, his)
        assert alice.result == bob.result == same
    roles = compare(ALICE, "bob", NONCES, b"one", [b"x"]), compare(BOB, "alice", NONCES, b"other", [b"x"])
    assert [end.result for end in duel(*roles)] == [(False,), (False,)]


STRANGE: dict[str, tuple[type[Message], Callable[[Any], Message], str]] = {
    "a point too few": (HiddenContents, lambda m: HiddenContents(m.points[33:]), "another number of contents"),
    "a point too many": (HiddenContents, lambda m: HiddenContents(m.points * 2), "another number of contents"),
    "no point": (HiddenContents, lambda m: HiddenContents(bytes(len(m.points))), "not on the curve"),
    "a digest too few": (JointDigests, lambda m: JointDigests(m.digests[32:]), "another number of contents"),
    "a digest too many": (JointDigests, lambda m: JointDigests(m.digests * 2), "another number of contents"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_a_hostile_peer_sends_ends_in_one_error(name: str) -> None:
    kind, change, told = STRANGE[name]
    alice, _ = compared([b"x", b"y"], [b"x", b"y"], on("b", kind, change))
    assert isinstance(alice.error, PeerError)
    assert told in str(alice.error)
