"""Alignment: both find the same people in the same order, and hear of the others no more than how many there are."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DisagreementError
from protocols.identifiers import IdForm, Spelling
from protocols.messages import (
    BlindedPage,
    CountedPage,
    HiddenContents,
    HiddenPage,
    IdList,
    JointDigests,
    ListCommitment,
    ReblindedPage,
    Verdict,
)
from protocols.role import Transcript
from protocols.two_party import alignment, overlap, point_lists
from protocols.two_party.agreement import Objection
from protocols.two_party.alignment import Overlap, align
from tests.support.duel import duel
from tests.support.lists import NONCES, Judge, Match, listing, numbered

IDS = st.lists(st.integers(0, 12).map(lambda number: f"p{number}"), min_size=1, max_size=9, unique=True)


@settings(max_examples=30, deadline=None)
@given(IDS, IDS)
def test_both_find_the_people_that_both_list_in_one_order(ours: list[str], theirs: list[str]) -> None:
    match = Match(listing("alice", ours), listing("bob", theirs))
    assert match.people[0] == match.people[1]
    assert sorted(match.people[0]) == sorted({*ours} & {*theirs})
    both = len(match.people[0])
    assert match.overlaps == (Overlap(len(ours), len(theirs), both), Overlap(len(theirs), len(ours), both))


@settings(max_examples=10, deadline=None)
@given(IDS, IDS)
def test_who_only_counts_learns_the_number_and_nobody(ours: list[str], theirs: list[str]) -> None:
    match = Match(listing("alice", ours), listing("bob", theirs), count_only=True)
    assert [end.rows for end in match.ends] == [None, None]
    assert {each.both for each in match.overlaps} == {len({*ours} & {*theirs})}
    crossed = {type(message) for message in (*match.transcript.sent_by_a, *match.transcript.sent_by_b)}
    assert crossed == HIDDEN | {CountedPage}


@pytest.mark.parametrize("sizes", [(1, 1), (5, 3), (3, 5), (7, 2), (6, 6), (1, 9)])
def test_lists_of_any_length_cross_in_pages(monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, int]) -> None:
    for module in (alignment, point_lists):
        monkeypatch.setattr(module, "PAGE_IDS", 3)
    alice, bob = (listing(name, numbered(range(size))) for name, size in zip(("alice", "bob"), sizes, strict=True))
    match = Match(alice, bob)
    assert sorted(match.people[0]) == sorted(match.people[1]) == sorted(numbered(range(min(sizes))))
    pages = sum(isinstance(message, BlindedPage) for message in match.transcript.sent_by_a)
    assert pages == -(-sizes[0] // 3)


def test_of_long_lists_a_sample_is_counted_first_and_its_estimate_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 120 of 150 common and 60 sampled, 48 are expected, deviation 5; what is judged is above the estimate."""
    monkeypatch.setattr(overlap, "SAMPLED_POINTS", 60)
    match = Match(listing("alice", numbered(range(150))), listing("bob", numbered(range(30, 180))))
    assert match.people[0] == match.people[1]
    assert len(match.people[0]) == 120
    for judge, facts in zip(match.judges, match.facts, strict=True):
        estimated, exact = judge.overlaps
        assert (exact.both, exact.at_most) == (120, False)
        assert estimated.at_most
        assert 80 <= (facts[1].both or 0) <= 170
        assert estimated.both > (facts[1].both or 0)
        assert [fact.both for fact in facts[2:]] == [120, 120]
        assert [fact.about for fact in facts] == [False, True, False, False]
    hidden = sum(len(message.points) // 33 for message in match.transcript.sent_by_a if isinstance(message, HiddenPage))
    assert 20 <= hidden <= 100
    counted = Match(match.alice, match.bob, count_only=True)
    assert [end.overlap.both for end in counted.ends] == [120, 120]


def test_a_sample_takes_its_share_of_any_list_by_the_abscissa_alone() -> None:
    points = point_lists.encoded(
        b"".join(bytes([2]) + number.to_bytes(1, "big") + bytes([7] * 31) for number in range(256))
    )
    sample = overlap.Sample(1 << 30)
    assert sample.taken(points).tolist() == points[:64].tolist()
    assert overlap.Sample().taken(points) is points
    assert (sample.estimate(64), sample.most(256), overlap.Sample().most(9), overlap.Sample().likely_most(9)) == (
        256,
        136,
        9,
        9,
    )


def test_the_order_of_a_list_changes_nothing() -> None:
    ids = numbered(range(6))
    one, other = (Match(listing("alice", order), listing("bob", ids)) for order in (ids, ids[::-1]))
    assert one.people == other.people
    assert points(one, "alice") == points(other, "alice")


def points(match: Match, party: str) -> bytes:
    """Return all points that are to be the same whenever the same lists are compared."""
    sent = match.transcript.sent_by_a if party == "alice" else match.transcript.sent_by_b
    return b"".join(message.points for message in sent if isinstance(message, BlindedPage | HiddenPage | ReblindedPage))


def test_the_same_lists_cross_as_the_same_points_and_other_lists_as_others() -> None:
    """What was told once is told again, and nothing can be compared from one pair of lists to the next."""
    alice, bob = listing("alice", numbered(range(5))), listing("bob", numbered(range(3, 9)))
    first = Match(alice, bob)
    again = Match(alice, bob, nonces=b"of another run")
    assert [points(again, name) for name in ("alice", "bob")] == [points(first, name) for name in ("alice", "bob")]
    assert again.people == first.people
    changed = (
        Match(alice, listing("bob", numbered(range(3, 8)))),
        Match(listing("alice", numbered(range(6))), bob),
        Match(listing("alice", numbered(range(5)), dataset="other"), bob),
    )
    assert all(parts(points(first, "alice")).isdisjoint(parts(points(other, "alice"))) for other in changed)


def parts(data: bytes) -> set[bytes]:
    return {data[start : start + 33] for start in range(0, len(data), 33)}


def test_what_is_noted_precedes_what_tells_it() -> None:
    match = Match(listing("alice", numbered(range(5))), listing("bob", numbered(range(3, 9))))
    for facts, mine, yours in zip(match.facts, (5, 6), (6, 5), strict=True):
        assert [(fact.mine, fact.yours, fact.both, fact.named) for fact in facts] == [
            (mine, yours, None, False), (mine, yours, 2, False), (mine, yours, 2, True),
        ]  # fmt: skip
    assert [fact.both for fact in Match(match.alice, match.bob, count_only=True).facts[0]] == [None, 2]
    assert match.facts[0][0].lists == match.facts[1][0].lists[::-1]


ALIKE = {
    "case": (["ANN", "Bo"], ["ann", "bo"]),
    "zeros": (["007", "042"], ["7", "42"]),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_the_same_people_in_another_spelling_are_told_by_what_differs(kind: str) -> None:
    ours, theirs = ALIKE[kind]
    match = Match(listing("alice", ours), listing("bob", theirs), count_only=True)
    assert {each.alike for each in match.overlaps} == {(kind,)}


def test_spellings_that_differ_in_several_ways_at_once_are_told_together() -> None:
    match = Match(listing("alice", ["ANN", "007"]), listing("bob", ["ann", "7"]))
    assert match.overlaps[0].alike == ("case", "zeros")


@pytest.mark.parametrize("theirs", [["ann"], ["ann", "cy"], ["ann", "bo", "cy"]])
def test_no_spelling_is_named_unless_it_makes_the_whole_lists_the_same(theirs: Sequence[str]) -> None:
    match = Match(listing("alice", ["ANN", "BO"]), listing("bob", theirs))
    assert match.overlaps[0].alike == ()


def test_ids_of_several_columns_are_compared_in_another_spelling_too() -> None:
    form = IdForm(2)
    ours, theirs = ([form.joined([name, day]) for day in ("1", "2")] for name in ("ANN", "ann"))
    assert Match(listing("alice", ours, form), listing("bob", theirs, form)).overlaps[0].alike == ("case",)


def test_ids_in_two_normal_forms_are_not_compared() -> None:
    with pytest.raises(DisagreementError, match="alike whatever their accents, blanks, case, numbers") as caught:
        Match(listing("alice", ["a"]), listing("bob", ["a"], IdForm().with_more([Spelling.CASE])))
    assert caught.value.field == "ids"


HIDDEN: set[type] = {IdList, Verdict, HiddenContents, JointDigests, BlindedPage, ListCommitment, HiddenPage}


@pytest.mark.parametrize(
    ("judge", "leaves"),
    [
        (Judge(to_list=Objection("id list", "too many")), {IdList, Verdict}),
        (Judge(to_points=Objection("id list", "another list")), HIDDEN),
        (Judge(to_overlap=Objection("overlap", "too few")), {*HIDDEN, CountedPage}),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_an_objection_ends_it_before_what_it_is_about_is_answered(judge: Judge, leaves: set[type], side: int) -> None:
    judges, transcript = (Judge(), judge) if side else (judge, Judge()), Transcript()
    with pytest.raises(DisagreementError):
        Match(listing("alice", ["a", "b"]), listing("bob", ["b"]), judges=judges, transcript=transcript)
    assert {type(message) for message in (*transcript.sent_by_a, *transcript.sent_by_b)} == leaves


@pytest.mark.parametrize(
    ("judge", "next_step"),
    [
        (
            Judge(to_list=Objection("id list", "too many")),
            "bring the lists of an earlier alignment, or ask it to allow",
        ),
        (Judge(to_overlap=Objection("overlap", "too few")), "compare how the ids are written on both sides"),
    ],
)
def test_who_hears_of_an_objection_hears_what_to_do(judge: Judge, next_step: str) -> None:
    ours, theirs = (listing(name, ["a", "b"]) for name in ("alice", "bob"))
    ends = duel(align(ours, "bob", NONCES, Judge()), align(theirs, "alice", NONCES, judge))
    assert next_step in str(ends[0].error)
    assert "too" in str(ends[1].error)
