"""What a peer that deviates tries in an alignment: to read who is common where that is not told, or to make it be told.

It plays Bob by hand, with what Bob is sent and numbers of its own choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points, secret_number
from protocols.ciphers.curve import POINT_BYTES
from protocols.errors import DisagreementError, PeerError
from protocols.messages import (
    BlindedPage,
    CountedPage,
    HiddenPage,
    IdList,
    ListCommitment,
    PlacesPage,
    ReblindedPage,
)
from protocols.randomness import keyed_digest
from protocols.role import Role, Send, receive
from protocols.two_party.agreement import Objection, settle
from protocols.two_party.alignment import Overlap, align
from protocols.two_party.equality import compare
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.overlap import COUNTED_BYTES, FEW_MATCHED, Sample
from protocols.two_party.people import list_commitment, list_spellings
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, listing, numbered

PEOPLE = numbered(range(6))
FIRST_NUMBER, SECOND_NUMBER = 1001, 2001


def cut(data: bytes, size: int = POINT_BYTES) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def times(number: int, point: bytes) -> bytes:
    return blind_points(PointsToBlind(number, point))


def commitment(kind: type, entries: Sequence[bytes], sender: str = "bob", nonces: bytes = NONCES) -> ListCommitment:
    digest = keyed_digest(nonces, kind.__name__.encode(), sender.encode(), b"".join(entries))
    return ListCommitment(len(entries), digest)


def counted(point: bytes, nonces: bytes = NONCES) -> bytes:
    return keyed_digest(nonces, b"counted", point)[:COUNTED_BYTES]


@dataclass
class Deviating:
    """A Bob that hides each id by a number of its own, and asks of each of Alice's points about one of them."""

    bob: PartyInputs
    blinded: list[bytes] = field(default_factory=list)
    found: set[str] = field(default_factory=set)

    def play(self) -> Role[None]:
        numbers = {person: FIRST_NUMBER + place for place, person in enumerate(self.bob.records)}
        yield from greeted(self.bob)
        own = sorted(blind_ids(IdsToBlind(number, [person])) for person, number in numbers.items())
        yield Send(BlindedPage(b"".join(own)))
        self.blinded = cut((yield from receive(BlindedPage)).points)
        slots = dict(zip(numbers, self.blinded, strict=False))
        hidden: dict[bytes, tuple[str, int]] = {}
        for place, (person, point) in enumerate(slots.items()):
            number = SECOND_NUMBER + place
            joint = times(numbers[person], point)
            hidden[blind_ids(IdsToBlind(number, [joint.hex()]))] = person, number
        entries = sorted(hidden)
        yield Send(commitment(HiddenPage, entries))
        yield from receive(ListCommitment)
        yield Send(HiddenPage(b"".join(entries)))
        alices = cut((yield from receive(HiddenPage)).points)
        yield from settle(None)
        answers = sorted(counted(times(SECOND_NUMBER, point)) for point in alices)
        yield Send(commitment(CountedPage, answers))
        yield from receive(ListCommitment)
        yield Send(CountedPage(b"".join(answers)))
        told = set(cut((yield from receive(CountedPage)).points, COUNTED_BYTES))
        for person, number in hidden.values():
            if told & {counted(times(number, point)) for point in alices}:
                self.found.add(person)


def greeted(bob: PartyInputs) -> Role[Any]:
    """Begin as an honest Bob does."""
    yield Send(IdList(len(bob.records), bob.form, list_commitment(b"bob", bob.records)))
    yield from receive(IdList)
    yield from settle(None)
    yield from compare(bob, "alice", NONCES, b"spellings", list_spellings(bob.records, bob.form))


def alices_number(alice: PartyInputs, bob: PartyInputs) -> int:
    lists = (list_commitment(alice.secrets.coins, alice.records), list_commitment(b"bob", bob.records))
    return secret_number(alice.secrets.coins, alice.dataset.encode(), b"bob", *lists)


def test_a_peer_with_a_number_for_each_id_reads_one_person_on_average_and_of_joint_points_in_clear_all() -> None:
    """All six are common. A slot is right by chance: as many fixed points as a random order has, one on average.

    Of 40 lists: 40 with variance 40; above 80 once in 10^7 (Poisson's tail), where all would be 240.
    """
    bob, found = listing("bob", PEOPLE), 0
    for number in range(40):
        alice, attacker = listing("alice", PEOPLE, dataset=f"d{number}"), Deviating(bob)
        duel(against(alice), attacker.play())
        found += len(attacker.found)
        if not number:
            assert read_of_joint_points(alice, attacker) == set(PEOPLE)
    assert 1 <= found <= 80


def read_of_joint_points(alice: PartyInputs, attacker: Deviating) -> set[str]:
    """Return whom the attacker would know again if Alice told its points times her number."""
    numbers = dict(zip(PEOPLE, range(FIRST_NUMBER, FIRST_NUMBER + len(PEOPLE)), strict=True))
    hers = alices_number(alice, attacker.bob)
    told = {times(hers, blind_ids(IdsToBlind(number, [person]))) for person, number in numbers.items()}
    return {who for who, number in numbers.items() if told & {times(number, each) for each in attacker.blinded}}


def against(alice: PartyInputs, judge: Judge | None = None, nonces: bytes = NONCES) -> Role[Any]:
    return align(alice, "bob", nonces, judge or Judge(), count_only=True)


def mirror(
    strangers: PartyInputs, nonces: bytes, sender: str, replayed: Sequence[bytes], heard: list[bytes]
) -> Role[None]:
    """Play a Bob that knows nobody: multiples of what Alice sends, and of what is counted what it has or has heard."""
    yield from greeted(strangers)
    points = cut((yield from receive(BlindedPage)).points)
    yield Send(BlindedPage(b"".join(sorted(times(2, point) for point in points))))
    yield from receive(ListCommitment)
    hidden = sorted(blind_ids(IdsToBlind(3, [person])) for person in strangers.records)
    yield Send(commitment(HiddenPage, hidden, nonces=nonces))
    yield Send(HiddenPage(b"".join(hidden)))
    yield from receive(HiddenPage)
    yield from settle(None)
    hers = yield from receive(ListCommitment)
    own = list(replayed) or sorted(counted(point) for point in hidden)
    yield Send(hers if sender == "alice" else commitment(CountedPage, own, nonces=nonces))
    heard += cut((yield from receive(CountedPage)).points, COUNTED_BYTES)
    yield Send(CountedPage(b"".join(heard if sender == "alice" else own)))


STRANGERS = listing("bob", [f"nobody {number}" for number in range(6)])


def mirrored(nonces: bytes = NONCES, sender: str = "bob", replayed: Sequence[bytes] = ()) -> tuple[Any, list[bytes]]:
    """Return how Alice ends, and what she told to be counted."""
    heard: list[bytes] = []
    alice = against(listing("alice", PEOPLE), nonces=nonces)
    return duel(alice, mirror(STRANGERS, nonces, sender, replayed, heard))[0], heard


def test_a_peer_that_shows_multiples_of_our_points_has_nobody_in_common() -> None:
    end, _ = mirrored()
    assert end.result.overlap.both == 0


def test_a_peer_cannot_repeat_as_its_own_what_we_tell_to_be_counted() -> None:
    end, heard = mirrored(sender="alice")
    assert isinstance(end.error, PeerError)
    assert "does not keep to the points that it has committed to" in str(end.error)
    assert len(heard) == len(PEOPLE)


def test_a_peer_must_answer_for_each_of_our_points() -> None:
    end, _ = mirrored(replayed=[bytes(COUNTED_BYTES)])
    assert isinstance(end.error, PeerError)
    assert "does not answer for each of our points" in str(end.error)


def test_what_was_told_in_one_session_counts_for_nothing_in_the_next() -> None:
    """Were it not bound to the session, as where its nonces are the same, all would seem to be common."""
    _, heard = mirrored()
    assert mirrored(b"of the next one", replayed=heard)[0].result.overlap.both == 0
    assert mirrored(replayed=heard)[0].result.overlap.both == len(PEOPLE)


def test_a_peer_that_asks_about_other_points_of_the_same_lists_shows_other_points_to_be_judged() -> None:
    judges = Judge(), Judge()
    for judge, first in zip(judges, (PEOPLE, PEOPLE[::-1]), strict=True):
        duel(against(listing("alice", PEOPLE), judge), Deviating(listing("bob", first)).play())
    assert judges[0].lists == judges[1].lists
    assert judges[0].points != judges[1].points


@pytest.mark.parametrize("told", [False, True])
def test_joint_points_are_told_only_where_the_overlap_is_enough(told: bool) -> None:
    judge = Judge(to_overlap=None if told else Objection("overlap", "too few"))
    roles = (align(listing(name, PEOPLE), peer, NONCES, judge) for name, peer in (("alice", "bob"), ("bob", "alice")))
    a, b = roles
    left, right = duel(a, b)
    assert any(isinstance(message, ReblindedPage) for message in (*left.sent, *right.sent)) is told


class Exacting(Judge):
    """Lets any estimate pass, and objects to the number itself."""

    def judge_overlap(self, overlap: Overlap) -> Objection | None:
        return None if overlap.at_most else Objection("overlap", "too few")


def test_who_is_common_is_not_told_where_a_sample_promised_more_than_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("protocols.two_party.overlap.SAMPLED_POINTS", 3)
    roles = align(listing("alice", PEOPLE), "bob", NONCES, Exacting()), align(STRANGERS, "alice", NONCES, Judge())
    ends = duel(*roles)
    for end in ends:
        assert isinstance(end.error, DisagreementError)
        assert any(isinstance(message, ReblindedPage) for message in end.sent)
        assert not any(isinstance(message, PlacesPage) for message in end.sent)


def test_few_of_a_sample_prove_nothing_and_few_of_whole_lists_are_those_that_there_are() -> None:
    sample = Sample.of(1_000_000, 1_000_000)
    assert [sample.is_few(matched) for matched in (0, FEW_MATCHED - 1, FEW_MATCHED)] == [True, True, False]
    assert not Sample().is_few(0)
