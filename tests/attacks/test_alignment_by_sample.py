"""A partner with a number for each of its ids, where of long lists a sample is judged before points are told."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from party.files import locked_folder
from party.node.aligning import ListRules
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.settings.ids import AlignmentBounds
from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points
from protocols.ciphers.curve import POINT_BYTES
from protocols.messages import BlindedPage, CountedPage, HiddenPage, IdList, ListCommitment, ReblindedPage
from protocols.randomness import keyed_digest
from protocols.role import Role, Send, receive
from protocols.two_party import overlap
from protocols.two_party.agreement import Objection, settle
from protocols.two_party.alignment import Overlap, align
from protocols.two_party.equality import compare
from protocols.two_party.people import list_commitment, list_spellings
from tests.support.duel import duel
from tests.support.lists import NONCES, Match, listing, numbered

ALICE, BOB = listing("alice", numbered(range(200))), listing("bob", numbered(range(199, 399)))
COMMON = set(ALICE.records) & set(BOB.records)


class Credulous(ListRules):
    """Believes a sample, however few of it are common."""

    def judge_overlap(self, overlap: Overlap) -> Objection | None:
        return super().judge_overlap(replace(overlap, few=False))


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PeerPages]:
    monkeypatch.setattr(overlap, "SAMPLED_POINTS", 60)
    with locked_folder(tmp_path) as held, open_ledger(held, bytes(32)) as ledger:
        yield PeerPages(ledger, PeerName("bob", "its certificate"))


def cut(data: bytes) -> list[bytes]:
    return [data[start : start + POINT_BYTES] for start in range(0, len(data), POINT_BYTES)]


def committed(kind: type, entries: list[bytes]) -> Send:
    digest = keyed_digest(NONCES, kind.__name__.encode(), b"bob", b"".join(entries))
    return Send(ListCommitment(len(entries), digest))


def attack(found: set[str]) -> Role[None]:
    """Have nothing counted, and know each joint point that is told again."""
    yield Send(IdList(200, BOB.form, list_commitment(b"bob", BOB.records)))
    yield from receive(IdList)
    yield from settle(None)
    yield from compare(BOB, "alice", NONCES, b"spellings", list_spellings(BOB.records, BOB.form))
    numbers = {person: 1001 + place for place, person in enumerate(BOB.records)}
    own = sorted(blind_ids(IdsToBlind(number, [person])) for person, number in numbers.items())
    yield Send(BlindedPage(b"".join(own)))
    hers = (yield from receive(BlindedPage)).points
    hidden = [blind_ids(IdsToBlind(3, ["nobody"]))]
    yield committed(HiddenPage, hidden)
    yield from receive(ListCommitment)
    yield Send(HiddenPage(hidden[0]))
    asked = len(cut((yield from receive(HiddenPage)).points))
    yield from settle(None)
    counted = [place.to_bytes(16, "big") for place in range(asked)]
    yield committed(CountedPage, counted)
    yield from receive(ListCommitment)
    yield Send(CountedPage(b"".join(counted)))
    yield from receive(CountedPage)
    yield from settle(None)
    told = set(cut((yield from receive(ReblindedPage)).points))
    found |= {who for who, number in numbers.items() if told & set(cut(blind_points(PointsToBlind(number, hers))))}


@pytest.mark.parametrize(("rules", "read"), [(ListRules, set()), (Credulous, COMMON)])
def test_a_number_for_each_id_reads_nobody_by_a_sample_that_has_few(
    pages: PeerPages, rules: type[ListRules], read: set[str]
) -> None:
    """One of 200 is common, 1/100 asked for; a sample of 60 without any could be of lists with ten."""
    found: set[str] = set()
    judge = rules("d", AlignmentBounds(Fraction(1, 100)), pages)
    alice = duel(align(ALICE, "bob", NONCES, judge), attack(found))[0]
    assert found == read
    assert any(isinstance(message, ReblindedPage) for message in alice.sent) is bool(read)


def test_who_asks_for_no_share_goes_on_with_few_and_who_has_many_is_believed(pages: PeerPages) -> None:
    few = Overlap(200, 200, 10, at_most=True, few=True)
    assert ListRules("d", AlignmentBounds(Fraction(0)), pages).judge_overlap(few) is None
    objection = ListRules("d", AlignmentBounds(Fraction(1, 100)), pages).judge_overlap(few)
    assert objection
    assert "fewer than 16 of a sample" in objection.reason
    many = Match(ALICE, listing("bob", numbered(range(20, 220)))).judges[0].overlaps[0]
    assert many.at_most
    assert not many.few
    assert ListRules("d", AlignmentBounds(Fraction(1, 100)), pages).judge_overlap(many) is None
