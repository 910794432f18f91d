"""What a peer that deviates reads from an alignment, beyond what one that follows it does: told, not prevented."""

from protocols.ciphers.blinding import IdsToBlind, PointsToBlind, blind_ids, blind_points
from protocols.ciphers.curve import POINT_BYTES
from protocols.messages import BlindedPage, ReblindedPage
from protocols.role import Message
from protocols.two_party.agreement import Objection
from protocols.two_party.alignment import align
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, listing, numbered

ALICE, BOB = listing("alice", numbered(range(5))), listing("bob", numbered(range(3, 9)))
FIRST_NUMBER = 1001


def cut(points: bytes) -> list[bytes]:
    return [points[start : start + POINT_BYTES] for start in range(0, len(points), POINT_BYTES)]


def test_a_peer_with_a_number_for_each_id_reads_who_is_common_where_they_are_only_counted_or_too_few() -> None:
    numbers = {person: FIRST_NUMBER + place for place, person in enumerate(BOB.records)}
    heard: dict[type[Message], bytes] = {}

    def numbering(sender: str, number: int, message: Message) -> Message | None:
        del number
        if sender == "a" and isinstance(message, BlindedPage | ReblindedPage):
            heard[type(message)] = message.points
        if sender == "b" and isinstance(message, BlindedPage):
            return BlindedPage(b"".join(sorted(blind_ids(IdsToBlind(own, [who])) for who, own in numbers.items())))
        return message

    few = Judge(to_overlap=Objection("overlap", "too few"))
    roles = align(ALICE, "bob", NONCES, few, count_only=True), align(BOB, "alice", NONCES, Judge(), count_only=True)
    duel(*roles, numbering)
    again = set(cut(heard[ReblindedPage]))
    common = {
        who for who, own in numbers.items() if again & set(cut(blind_points(PointsToBlind(own, heard[BlindedPage]))))
    }
    assert common == set(ALICE.records) & set(BOB.records)


def test_a_peer_that_shows_multiples_of_our_points_makes_all_seem_common_and_passes_any_least_overlap() -> None:
    heard: dict[type[Message], bytes] = {}

    def multiplied(sender: str, number: int, message: Message) -> Message | None:
        del number
        if sender == "a" and isinstance(message, BlindedPage | ReblindedPage):
            heard[type(message)] = message.points
        if sender == "b" and isinstance(message, BlindedPage):
            return BlindedPage(b"".join(sorted(cut(blind_points(PointsToBlind(2, heard[BlindedPage]))))))
        if sender == "b" and isinstance(message, ReblindedPage):
            return ReblindedPage(heard[ReblindedPage])
        return message

    strangers, judge = listing("bob", [f"nobody {number}" for number in range(5)]), Judge()
    duel(align(ALICE, "bob", NONCES, judge), align(strangers, "alice", NONCES, Judge()), multiplied)
    assert [overlap.both for overlap in judge.overlaps] == [5]
