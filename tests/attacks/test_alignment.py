"""A curious partner of an alignment: what it may try on the points, on the counts, and by lists of its own choice."""

import hashlib
from collections import Counter
from itertools import combinations, permutations

from protocols.ciphers.blinding import IdsToBlind, blind_ids
from protocols.messages import BlindedPage, CountedPage, HiddenPage, IdList
from protocols.randomness import keyed_digest
from protocols.role import Message
from tests.support.lists import NONCES, Match, listing, numbered

POINT, DIGEST = 33, 16


def cut(messages: list[Message], kind: type[BlindedPage] | type[HiddenPage] | type[CountedPage]) -> list[bytes]:
    data = b"".join(message.points for message in messages if isinstance(message, kind))
    size = DIGEST if kind is CountedPage else POINT
    return [data[start : start + size] for start in range(0, len(data), size)]


def sent(match: Match, kind: type[BlindedPage] | type[HiddenPage] | type[CountedPage]) -> list[bytes]:
    """Return the points of this kind that Alice sent."""
    return cut(match.transcript.sent_by_a, kind)


def test_no_hash_of_an_id_crosses() -> None:
    """Nothing that Bob can compute of an id without Alice's secret is in what she sends."""
    ids = numbered(range(4))
    match = Match(listing("alice", ids), listing("bob", numbered(range(2, 6))))
    crossed = b"".join(_bytes(message) for message in match.transcript.sent_by_a)
    for each in ids:
        guesses = [each.encode(), blind_ids(IdsToBlind(1, [each]))[1:], keyed_digest(NONCES, each.encode())]
        guesses += [hashlib.new(name, each.encode()).digest() for name in ("md5", "sha1", "sha256", "sha512")]
        assert not any(guess in crossed for guess in guesses)


def _bytes(message: Message) -> bytes:
    if isinstance(message, IdList):
        return message.commitment + message.spellings
    return b"".join(value for value in vars(message).values() if isinstance(value, bytes))


def test_what_the_counter_is_told_is_the_same_whichever_of_its_ids_are_common() -> None:
    """All of Alice's lists of two among five: Bob sees his own five under all numbers, of which two are told.

    Where his ids stand among these depends on Alice's secret alone. So each place is as often that of a common id
    as any other: of 100 lists, chance 2/5, 15 to 65 but for 10^-6 (binomial tails); a place that told would have 0 or
    100.
    """
    bob = numbered(range(5))
    places: Counter[int] = Counter()
    for number, pair in enumerate([*combinations(bob, 2)] * 10):
        match = Match(listing("alice", pair, dataset=f"d{number}"), listing("bob", bob), count_only=True)
        answers = _under_both(match)
        assert answers == sorted(answers)
        assert len(answers) == len(bob)
        common = set(answers) & set(sent(match, CountedPage))
        assert len(common) == match.overlaps[1].both == 2
        places.update(answers.index(point) for point in common)
    assert all(15 <= places[place] <= 65 for place in range(5))


def _under_both(match: Match) -> list[bytes]:
    """Return what Bob knows of his own ids, under all numbers: he cannot tell which is which."""
    return cut(match.transcript.sent_by_b, CountedPage)


def test_two_lists_that_differ_by_one_person_share_no_point() -> None:
    """Who is asked about a list and about the same without one person answers with two sets that have nothing common.

    Then only the numbers can be subtracted, and `[agree] most_alignments` bounds how many there are.
    """
    alice = listing("alice", numbered(range(3)))
    lists = [numbered(range(5)), numbered(range(1, 5)), numbered(range(4))]
    matches = [Match(alice, listing("bob", each), count_only=True) for each in lists]
    for kind in (BlindedPage, HiddenPage, CountedPage):
        assert all(not set(sent(one, kind)) & set(sent(other, kind)) for one, other in permutations(matches, 2))
