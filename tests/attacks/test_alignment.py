"""A curious partner of an alignment: what it may try on the points, on the counts, and by lists of its own choice."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, permutations
from pathlib import Path

import pytest

from party.files import locked_folder
from party.node.aligning import ListRules
from party.records.entries import PeerPages
from party.records.ledger import PeerName, open_ledger
from party.settings.ids import AlignmentBounds
from protocols.ciphers.blinding import IdsToBlind, blind_ids
from protocols.errors import DisagreementError
from protocols.messages import BlindedPage, CountedPage, HiddenPage, IdList
from protocols.randomness import keyed_digest
from protocols.role import Message
from protocols.two_party.alignment import align
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, Match, listing, noting, numbered

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
        return message.commitment
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


@contextmanager
def rules(folder: Path, bounds: AlignmentBounds) -> Iterator[ListRules]:
    """Yield what Alice objects to, by these bounds and her ledger."""
    folder.mkdir(mode=0o700)
    with locked_folder(folder) as held, open_ledger(held, bytes(32)) as ledger:
        yield ListRules("d", bounds, PeerPages(ledger, PeerName("bob", "its certificate")))


def ask(guesses: list[str], judge: ListRules) -> int:
    """Have Bob count who of his list is on Alice's, which has two people; return the number, or what ended it."""
    alice, bob = listing("alice", numbered(range(2))), listing("bob", guesses)
    match = (align(alice, "bob", NONCES, judge, count_only=True), align(bob, "alice", NONCES, Judge(), count_only=True))
    ends = duel(noting(match[0], judge.note), match[1])
    if ends[1].result is None:
        assert not any(isinstance(message, BlindedPage) for message in ends[0].sent)
        raise ends[0].error or AssertionError
    return ends[1].result.overlap.both


def test_lists_that_leave_out_one_person_each_read_who_is_listed_and_few_are_allowed(tmp_path: Path) -> None:
    """With `most_alignments` of 9 all are read; with 3 two are, and the fourth list ends before a point leaves."""
    people = numbered(range(6))

    def lists() -> Iterator[list[str]]:
        yield people
        for left_out in people:
            yield [person for person in people if person != left_out]

    with rules(tmp_path / "many", AlignmentBounds(alignments=9)) as judge:
        whole, *others = (ask(each, judge) for each in lists())
        read = [person for person, count in zip(people, others, strict=True) if count != whole]
        assert read == numbered(range(2))
    with rules(tmp_path / "few", AlignmentBounds(alignments=3)) as judge:
        tried = lists()
        assert [ask(next(tried), judge) for _ in range(3)] == [2, 1, 1]
        for _ in range(2):
            with pytest.raises(DisagreementError, match="most_alignments allows 3 pairs of lists"):
                ask(next(tried), judge)
        assert ask(people, judge) == 2


def test_one_real_id_among_invented_ones_reads_one_person_per_list_and_every_list_is_counted(tmp_path: Path) -> None:
    """Nobody else on the list can be hers, so the number is whether this one is; `least_overlap` bounds names alone."""
    invented = [f"nobody {number}" for number in range(40)]
    with rules(tmp_path / "usual", AlignmentBounds()) as judge:
        assert judge.bounds.alignments == 3
        assert [ask([person, *invented], judge) for person in ("p0", "p7", "p1")] == [1, 0, 1]
        for person in ("p2", "p3"):
            with pytest.raises(DisagreementError, match="most_alignments allows 3 pairs of lists"):
                ask([person, *invented], judge)
    with rules(tmp_path / "none", AlignmentBounds(alignments=0)) as judge, pytest.raises(DisagreementError):
        ask(["p0", *invented], judge)


def test_a_list_of_all_ids_that_there_can_be_reads_who_is_listed_and_is_too_long(tmp_path: Path) -> None:
    """Who lists everybody finds all of ours; bounded by `most_ids` it hears of none, before a point leaves."""
    everybody = numbered(range(50))
    with rules(tmp_path / "any", AlignmentBounds()) as judge:
        assert ask(everybody, judge) == 2
    with (
        rules(tmp_path / "few", AlignmentBounds(ids=49)) as judge,
        pytest.raises(DisagreementError, match="the peer brings 50 ids"),
    ):
        ask(everybody, judge)


def test_two_lists_that_differ_by_one_person_share_no_point() -> None:
    """Who is asked about a list and about the same without one person answers with two sets that have nothing common.

    Then only the numbers can be subtracted, and `[agree] most_alignments` bounds how many there are.
    """
    alice = listing("alice", numbered(range(3)))
    lists = [numbered(range(5)), numbered(range(1, 5)), numbered(range(4))]
    matches = [Match(alice, listing("bob", each), count_only=True) for each in lists]
    for kind in (BlindedPage, HiddenPage, CountedPage):
        assert all(not set(sent(one, kind)) & set(sent(other, kind)) for one, other in permutations(matches, 2))
