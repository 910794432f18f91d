"""A peer that does not keep to the alignment: each thing it may send ends the run in one line."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points
from protocols.ciphers.curve import ORDER
from protocols.errors import CotallyError, DeviationError, PeerError
from protocols.messages import (
    BlindedPage,
    CountedPage,
    HiddenPage,
    IdList,
    JointDigests,
    ListCommitment,
    PlacesPage,
    ReblindedPage,
    Verdict,
)
from protocols.role import Message
from protocols.two_party.alignment import Aligned, align
from tests.support.duel import End, duel
from tests.support.lists import NONCES, Judge, listing, numbered
from tests.support.meeting import on

ALICE, BOB = listing("alice", numbered(range(5))), listing("bob", numbered(range(3, 9)))
Change = Callable[[Any], Message]


def struck(kind: type[Message], change: Change) -> tuple[End[Aligned], End[Aligned]]:
    """Play an alignment in which all of Bob's messages of this kind are changed on their way."""
    roles = align(ALICE, "bob", NONCES, Judge()), align(BOB, "alice", NONCES, Judge())
    return duel(*roles, on("b", kind, change))


def reordered(page: Any) -> Any:
    return type(page)(page.points[33:66] + page.points[:33] + page.points[66:])


def repeated(page: Any) -> Any:
    return type(page)(page.points[:33] + page.points[:33] + page.points[66:])


def off_the_curve(page: Any) -> Any:
    return type(page)(page.points[:-33] + b"\xff" * 33)


ATTACKS: list[tuple[type[Message], Change, str]] = [
    *((kind, change, "ascending order, or one is there twice") for kind in (BlindedPage, ReblindedPage)
      for change in (reordered, repeated)),
    *((kind, lambda page: type(page)(page.points[:-1]), "wrong length") for kind in (BlindedPage, ReblindedPage)),
    *((kind, lambda page: type(page)(page.points * 2), "wrong length") for kind in (BlindedPage, ReblindedPage)),
    *((kind, lambda page: type(page)(b""), "wrong length") for kind in (BlindedPage, ReblindedPage)),
    (BlindedPage, off_the_curve, "a point that is not on the curve"),
    *((kind, change, "does not keep to the points") for kind in (HiddenPage, CountedPage)
      for change in (lambda page: type(page)(page.points[:-1] + bytes([page.points[-1] ^ 1])),)),
    *((kind, lambda page: type(page)(page.points[:-1]), "wrong length") for kind in (HiddenPage, CountedPage)),
    (ListCommitment, lambda sent: replace(sent, entries=6), "more points than it can have"),
    (ListCommitment, lambda sent: replace(sent, digest=bytes(32)), "does not keep to the points"),
    (PlacesPage, lambda page: PlacesPage(page.places[:4] * 5), "two of our points in one place"),
    (PlacesPage, lambda page: PlacesPage(page.places[:-4] + b"\xff" * 4), "two of our points in one place"),
    (PlacesPage, lambda page: PlacesPage(page.places[:-1]), "wrong length"),
    (PlacesPage, lambda _: PlacesPage(b""), "wrong length"),
    (IdList, lambda sent: replace(sent, ids=5), "wrong length"),
    (IdList, lambda sent: replace(sent, ids=7), "wrong length"),
    (BlindedPage, lambda _: Verdict(""), "expected BlindedPage from the peer, got Verdict"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "problem"), ATTACKS)
def test_what_the_protocol_does_not_allow_ends_the_run(kind: type[Message], change: Change, problem: str) -> None:
    alice, _ = struck(kind, change)
    assert isinstance(alice.error, PeerError)
    assert problem in str(alice.error)
    assert "\n" not in str(alice.error)


def test_points_that_are_put_in_other_places_are_seen_by_the_people_that_come_out() -> None:
    def swapped(page: PlacesPage) -> PlacesPage:
        return PlacesPage(b"".join(page.places[start : start + 4] for start in (16, 12, 8, 4, 0)))

    alice, bob = struck(PlacesPage, swapped)
    assert isinstance(alice.error, DeviationError)
    assert isinstance(bob.error, DeviationError)


def test_more_common_points_than_were_counted_are_a_deviation() -> None:
    """Who echoes what we tell makes all seem common; but the overlap has been counted."""
    told: list[ReblindedPage] = []

    def echoed(sender: str, number: int, message: Message) -> Message | None:
        del number
        if sender == "b" and isinstance(message, ReblindedPage):
            told.append(message)
        return ReblindedPage(told[0].points) if sender == "a" and isinstance(message, ReblindedPage) else message

    same = listing("bob", numbered(range(3, 8)))
    _, alice = duel(align(same, "alice", NONCES, Judge()), align(ALICE, "bob", NONCES, Judge()), echoed)
    assert isinstance(alice.error, DeviationError)
    assert not any(isinstance(message, PlacesPage) for message in alice.sent)


def test_another_end_than_ours_is_a_deviation() -> None:
    alice, _ = struck(JointDigests, lambda sent: JointDigests(bytes(len(sent.digests))))
    assert isinstance(alice.error, DeviationError)


def test_a_peer_that_shows_us_our_own_points_again_learns_nothing() -> None:
    """It would find all of ours in a list of ours, without an id of its own."""
    pages: list[BlindedPage] = []

    def mirror(sender: str, number: int, message: Message) -> Message | None:
        del number
        if sender == "a" and isinstance(message, BlindedPage):
            pages.append(message)
        if sender == "b" and isinstance(message, IdList):
            return replace(message, ids=5)
        return pages[0] if sender == "b" and isinstance(message, BlindedPage) else message

    roles = align(ALICE, "bob", NONCES, Judge()), align(BOB, "alice", NONCES, Judge())
    alice, _ = duel(*roles, mirror)
    assert isinstance(alice.error, PeerError)
    assert "our own points" in str(alice.error)
    assert not any(isinstance(message, ReblindedPage) for message in alice.sent)


def test_errors_of_hostile_points_hold_no_id() -> None:
    for kind, change, _ in ATTACKS:
        error = struck(kind, change)[0].error
        assert isinstance(error, CotallyError)
        assert not any(record in str(error) for record in ALICE.records)


def test_an_id_under_two_numbers_is_one_point_in_whatever_order_they_came() -> None:

    one, other = 12345, ORDER - 678
    first = blind_points(PointsToBlind(other, blind_ids(IdsToBlind(one, ["p1", "é"]))))
    assert first == blind_points(PointsToBlind(one, blind_ids(IdsToBlind(other, ["p1", "é"]))))
    assert len(first) == 66
