"""Alignment: both find the same people in the same order, and hear of the others no more than how many there are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.facts import AlignmentFact
from protocols.identifiers import IdForm, Spelling
from protocols.messages import (
    BaseOffer,
    BasePoints,
    ChoicePage,
    CodePage,
    CommonRows,
    CorrectionPage,
    HiddenContents,
    HintPage,
    IdList,
    JointDigests,
    MaskedPage,
    OpenedPage,
    SeedHints,
    ValuesPage,
    Verdict,
)
from protocols.role import Message, Phase, Progress, Role, Transcript, run_pair
from protocols.two_party import alignment
from protocols.two_party.alignment import Aligned, Overlap, align
from protocols.two_party.equality import compare
from protocols.two_party.objections import Objection
from tests.support.duel import End, Tamper, duel, watched
from tests.support.examples import at_most
from tests.support.lists import NONCES, Judge, Match, listing, numbered
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.meeting import on

IDS = st.lists(st.integers(0, 12).map(lambda number: f"p{number}"), min_size=1, max_size=9, unique=True)


@settings(max_examples=at_most(15), deadline=None)
@given(IDS, IDS)
def test_both_find_the_people_that_both_list_in_one_order(ours: list[str], theirs: list[str]) -> None:
    match = Match(listing("alice", ours), listing("bob", theirs))
    assert match.people[0] == match.people[1]
    assert sorted(match.people[0]) == sorted({*ours} & {*theirs})
    assert match.judges[0].people[0] != match.judges[1].people[0]
    both = len(match.people[0])
    assert match.overlaps == (Overlap(len(ours), len(theirs), both), Overlap(len(theirs), len(ours), both))


@settings(max_examples=at_most(8, least=1), deadline=None)
@given(IDS, IDS)
def test_who_only_counts_learns_the_number_and_nobody(ours: list[str], theirs: list[str]) -> None:
    match = Match(listing("alice", ours), listing("bob", theirs), count_only=True)
    assert [end.rows for end in match.ends] == [None, None]
    assert {each.both for each in match.overlaps} == {len({*ours} & {*theirs})}
    assert crossed(match.transcript) == FUNCTION | GATE
    assert [judge.overlaps for judge in match.judges] == [[], []]


@pytest.mark.parametrize("sizes", [(1, 1), (5, 3), (3, 5), (7, 2), (6, 6), (1, 9)])
def test_lists_of_any_length_cross_in_pages(monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, int]) -> None:
    monkeypatch.setattr(alignment, "_PAGE_ROWS", 3)
    alice, bob = (listing(name, numbered(range(size))) for name, size in zip(("alice", "bob"), sizes, strict=True))
    match = Match(alice, bob)
    assert sorted(match.people[0]) == sorted(match.people[1]) == sorted(numbered(range(min(sizes))))
    sent = (*match.transcript.sent_by_a, *match.transcript.sent_by_b)
    assert sum(isinstance(message, ValuesPage) for message in sent) == -(-min(sizes) // 3)


def test_who_lists_more_asks_and_of_equal_lists_the_one_whose_name_comes_last() -> None:
    for ours, theirs, asks, count_only in ((5, 3, "a", False), (3, 5, "b", True), (4, 4, "b", False)):
        alice, bob = listing("alice", numbered(range(ours))), listing("bob", numbered(range(theirs)))
        match = Match(alice, bob, count_only=count_only)
        sides = (match.transcript.sent_by_a, match.transcript.sent_by_b)
        assert [any(isinstance(each, CodePage) for each in side) for side in sides] == [asks == "a", asks == "b"]
        tries = [facts[0].tries for facts in match.facts]
        assert tries == ([3 * theirs, 4096] if asks == "a" else [4096, 3 * ours])


@pytest.mark.parametrize(
    ("shares", "enough"),
    [
        (("1/2", "0"), True), (("5/8", "1/8"), True), (("6/8", "0"), False), (("1/8", "5/7"), True),
        (("0", "6/7"), False),
    ],
)  # fmt: skip
def test_the_gate_lets_through_as_many_as_both_ask_for_and_no_fewer(shares: tuple[str, str], enough: bool) -> None:
    """Five of seven and eight are common; of too few no value leaves, and nobody hears how many they are."""
    judges = (Judge(Fraction(shares[0])), Judge(Fraction(shares[1])))
    transcript, alice, bob = Transcript(), listing("alice", numbered(range(7))), listing("bob", numbered(range(2, 10)))
    if enough:
        assert len(Match(alice, bob, judges=judges, transcript=transcript).people[0]) == 5
        assert crossed(transcript) == FUNCTION | GATE | NAMES
        return
    facts: tuple[list[AlignmentFact], list[AlignmentFact]] = ([], [])
    with pytest.raises(DisagreementError):
        Match(alice, bob, judges=judges, transcript=transcript, facts=facts)
    assert crossed(transcript) == FUNCTION | GATE
    assert [judge.overlaps for judge in judges] == [[], []]
    assert [[(fact.both, fact.named, fact.least) for fact in each] for each in facts] == [[(None, False, 6)]] * 2


def test_a_share_that_is_asked_for_is_judged_first() -> None:
    transcript = Transcript()
    alice, bob = listing("alice", numbered(range(4))), listing("bob", numbered(range(9)))
    judge = Judge(Fraction(1, 2))
    with pytest.raises(DisagreementError):
        Match(alice, bob, judges=(judge, Judge()), transcript=transcript)
    assert crossed(transcript) == {IdList, Verdict}
    assert judge.few == [(9, 5, ())]
    assert [end.overlap.both for end in Match(alice, bob, count_only=True, judges=(judge, Judge())).ends] == [4, 4]
    match = Match(listing("alice", numbered(range(7))), listing("bob", numbered(range(2, 10))))
    assert crossed(match.transcript) == FUNCTION | NAMES


@pytest.mark.parametrize("count_only", [False, pytest.param(True, marks=pytest.mark.full)])
def test_no_mask_of_a_transfer_serves_twice_in_a_whole_alignment(
    count_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = MaskRecorder(monkeypatch)
    alice, bob = listing("alice", numbered(range(7))), listing("bob", numbered(range(2, 10)))
    Match(alice, bob, count_only=count_only, judges=(Judge(Fraction(1, 8)), Judge()))
    assert recorder.offsets == 2
    assert recorder.times() <= ONCE


def test_the_common_people_and_the_bit_of_the_gate_show_nothing_by_order_or_length() -> None:
    lengths = []
    for common in (1, 5):
        judges = Judge(Fraction(1, 9)), Judge()
        bob = listing("bob", numbered(range(common)) + [f"q{number}" for number in range(9 - common)])
        match = Match(listing("alice", numbered(range(9))), bob, judges=judges)
        sent = (*match.transcript.sent_by_a, *match.transcript.sent_by_b)
        lengths.append([(type(each), len(each.words)) for each in sent if isinstance(each, MaskedPage | OpenedPage)])
    assert lengths[0] == lengths[1]
    ids = sorted(numbered(range(40)))
    for ours, theirs in ((ids, ids[::-1]), (ids[::-1], [*ids, "other"])):
        assert Match(listing("alice", ours), listing("bob", theirs)).people == (ids, ids)
    # So a party that brings other people in the name of the same lists is found out.
    ids = numbered(range(6))
    first, second, other = (
        Match(listing("alice", order), listing("bob", theirs)).judges[0].people
        for order, theirs in ((ids, ids[:4]), (ids[::-1], ids[:4]), (ids, ids[:3]))
    )
    assert first == second != other


def test_what_is_noted_precedes_what_shows_it_and_progress_is_that_of_an_alignment() -> None:
    alice, bob = listing("alice", numbered(range(5))), listing("bob", numbered(range(3, 9)))
    seen = list[Any]()
    role = align(alice, "bob", NONCES, Judge(Fraction(1, 6)))
    run_pair(watched(role, seen.append), align(bob, "alice", NONCES, Judge()))
    assert {each.phase for each in seen if isinstance(each, Progress)} == {Phase.MATCHING, Phase.OVERLAP}
    plain, gated = Match(alice, bob), Match(alice, bob, judges=(Judge(Fraction(1, 6)), Judge()))
    for match, expected in (
        (plain, [(None, True), (2, True)]),
        (gated, [(None, False), (None, True), (2, True)]),
        (Match(alice, bob, count_only=True), [(None, False), (2, False)]),
    ):
        for facts, mine, yours in zip(match.facts, (5, 6), (6, 5), strict=True):
            assert [(fact.both, fact.named) for fact in facts] == expected
            assert {(fact.mine, fact.yours, len(fact.session)) for fact in facts} == {(mine, yours, 32)}
            assert [bool(fact.people) for fact in facts] == [both == 2 and named for both, named in expected]
    assert match.facts[0][0].lists == match.facts[1][0].lists[::-1]
    assert {fact.least for facts in gated.facts for fact in facts} == {1}


ALIKE = {"case": (["ANN", "Bo"], ["ann", "bo"]), "zeros": (["007", "042"], ["7", "42"])}


def test_spellings_that_make_the_lists_the_same_are_shown() -> None:
    for kind, case in ALIKE.items():
        ours, theirs = case
        match = Match(listing("alice", ours), listing("bob", theirs), count_only=True)
        assert {each.alike for each in match.overlaps} == {(kind,)}
    match = Match(listing("alice", ["ANN", "007"]), listing("bob", ["ann", "7"]))
    assert match.overlaps[0].alike == ("case", "zeros")
    for theirs in (["ann"], ["ann", "cy"], ["ann", "bo", "cy"]):
        match = Match(listing("alice", ["ANN", "BO"]), listing("bob", theirs))
        assert match.overlaps[0].alike == ()
    form = IdForm(2)
    ours, theirs = ([form.joined([name, day]) for day in ("1", "2")] for name in ("ANN", "ann"))
    assert Match(listing("alice", ours, form), listing("bob", theirs, form)).overlaps[0].alike == ("case",)
    with pytest.raises(DisagreementError, match="alike whatever their accents, blanks, case, numbers") as caught:
        Match(listing("alice", ["a"]), listing("bob", ["a"], IdForm().with_more([Spelling.CASE])))
    assert caught.value.field == "ids"


FUNCTION: set[type] = {
    *(IdList, Verdict, HiddenContents, JointDigests, BaseOffer, BasePoints, SeedHints, ChoicePage, CodePage)
}
GATE: set[type] = {HintPage, MaskedPage, CorrectionPage, OpenedPage}
NAMES: set[type] = {ValuesPage, CommonRows}


def crossed(transcript: Transcript) -> set[type[Message]]:
    kinds: set[type[Message]] = {type(message) for message in (*transcript.sent_by_a, *transcript.sent_by_b)}
    return kinds - ({MaskedPage} if OpenedPage not in kinds else set())


def test_objections_end_it_before_what_they_are_about_and_say_what_to_do() -> None:
    """Bob, who asks as equal lists are, hears first who is common: whether he then says it depends on him alone."""
    for judge, leaves in (
        (Judge(to_list=Objection("id list", "too many")), {IdList, Verdict}),
        (Judge(to_people=Objection("overlap", "nobody")), FUNCTION | NAMES),
    ):
        for side in (0, 1):
            judges, transcript = (Judge(), judge) if side else (judge, Judge()), Transcript()
            with pytest.raises(DisagreementError):
                Match(listing("alice", ["a", "b"]), listing("bob", ["b", "c"]), judges=judges, transcript=transcript)
            assert crossed(transcript) == leaves - ({CommonRows} if side else set())
    for judge, next_step in (
        (Judge(to_list=Objection("id list", "too many")), "bring the lists of that run again, or ask it to allow more"),
        (Judge(Fraction(1)), "check that both sides spell ids alike"),
    ):
        alice, bob = listing("alice", ["a", "b"]), listing("bob", ["a", "c"])
        ends = duel(align(alice, "bob", NONCES, Judge()), align(bob, "alice", NONCES, judge))
        assert next_step in str(ends[0].error)
        assert "too" in str(ends[1].error)


ALICE, BOB = listing("alice", numbered(range(6))), listing("bob", numbered(range(2, 8)))
"""Lists of one length, four ids common: Bob asks, since his name comes last."""
Change = Callable[[Any], Message]


def struck(
    kind: type[Message], change: Change, *, side: str = "b", least: Fraction = Fraction(0), count_only: bool = False
) -> tuple[End[Aligned], End[Aligned]]:
    """Play an alignment in which all messages of this kind of one side are changed on their way."""
    one, other = (
        align(own, peer.party, NONCES, Judge(least), count_only=count_only)
        for own, peer in ((ALICE, BOB), (BOB, ALICE))
    )
    return duel(one, other, on(side, kind, change))


def reordered(page: ValuesPage) -> ValuesPage:
    return ValuesPage(page.values[30:60] + page.values[:30] + page.values[60:])


def one_more(page: CommonRows) -> CommonRows:
    """Name a row that is not common beside those that are."""
    (bits,) = page.rows
    unnamed = next(1 << place for place in range(6) if not bits >> place & 1)
    return CommonRows(bytes([bits | unnamed]))


ASKED: list[tuple[type[Message], Change, str]] = [
    (CommonRows, lambda _: CommonRows(b""), "other rows than we have sent"),
    (CommonRows, lambda page: CommonRows(page.rows + b"\0"), "other rows than we have sent"),
    (CommonRows, lambda page: CommonRows(bytes([page.rows[0] | 64])), "other rows than we have sent"),
    (CommonRows, one_more, "failed a check"),
    (CommonRows, lambda page: CommonRows(bytes([page.rows[0] & page.rows[0] - 1])), "failed a check"),
    (IdList, lambda sent: replace(sent, ids=0), "brings no ids"),
    (CodePage, lambda _: Verdict(""), "expected CodePage from the peer, got Verdict"),
]
ANSWERED: list[tuple[type[Message], Change, str]] = [
    (ValuesPage, lambda page: ValuesPage(page.values[:-1]), "wrong length"),
    (ValuesPage, lambda page: ValuesPage(page.values + bytes(30)), "wrong length"),
    (ValuesPage, lambda _: ValuesPage(b""), "wrong length"),
    (ValuesPage, reordered, "not in ascending order"),
    (IdList, lambda sent: replace(sent, ids=5), "wrong length"),
    (ValuesPage, lambda _: Verdict(""), "expected ValuesPage from the peer, got Verdict"),
]


def test_what_who_asks_may_not_send_ends_the_run() -> None:
    for kind, change, problem in ASKED:
        alice, _ = struck(kind, change)
        assert_refused(alice, problem)


def test_what_who_has_the_key_may_not_send_ends_the_run() -> None:
    for kind, change, problem in ANSWERED:
        _, bob = struck(kind, change, side="a")
        assert_refused(bob, problem)


def assert_refused(end: End[Aligned], problem: str) -> None:
    assert isinstance(end.error, PeerError)
    assert problem in str(end.error)
    assert "\n" not in str(end.error)
    assert not any(record in str(end.error) for record in (*ALICE.records, *BOB.records))


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_gate_that_is_forced_open_shows_too_few_and_ends_before_more_is_said(
    side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four of six are common where five are asked for; a flipped share is taken for enough.

    Where the side that asks deviates, it has the values then, and knows who is common: this is listed.
    """
    kind = alignment._Asking if side == "b" else alignment._Answering
    are_enough = kind._are_enough

    def forced(self: Any) -> Role[bool]:
        assert not (yield from are_enough(self))
        self._fact = replace(self._fact, least=0)
        return True

    def flipped(page: OpenedPage) -> OpenedPage:
        return OpenedPage(bytes([page.words[0] ^ 1]) + page.words[1:])

    monkeypatch.setattr(kind, "_are_enough", forced)
    honest = struck(OpenedPage, flipped, side=side, least=Fraction(5, 6))[side == "a"]
    assert isinstance(honest.error, DeviationError)
    assert any(isinstance(message, ValuesPage) for message in honest.sent) is (side == "b")
    assert not any(isinstance(message, CommonRows) for message in honest.sent)


class Indulgent(Judge):
    """Asks for a share, and does not mind where it is not reached."""

    def judge_few(self, yours: int, least: int, alike: tuple[str, ...]) -> Any:
        return None


def test_a_peer_that_does_not_mind_hears_nothing() -> None:
    ends = struck(OpenedPage, lambda page: page, least=Fraction(5, 6))
    assert [isinstance(end.error, DisagreementError) for end in ends] == [True, True]
    assert not any(isinstance(message, ValuesPage) for end in ends for message in end.sent)
    # We ask for three of six, it for five, and four are common: of our own share nobody has heard.
    roles = (align(ALICE, "bob", NONCES, Judge(Fraction(1, 2))), align(BOB, "alice", NONCES, Indulgent(Fraction(5, 6))))
    alice, _ = duel(roles[0], roles[1])
    assert isinstance(alice.error, DeviationError)
    assert not any(isinstance(message, ValuesPage) for message in alice.sent)


def test_a_row_of_two_of_our_ids_or_an_end_that_cannot_be_is_refused() -> None:
    """So that no row asks about several people at once."""
    asking = object.__new__(alignment._Asking)
    asking._ways, asking._places = np.array([0, 1]), np.array([[0, 9, 9], [9, 1, 9]])
    asking._values = np.random.default_rng(1).integers(0, 256, (10, 24), dtype=np.uint8)
    rows = np.random.default_rng(2).integers(0, 256, (2, 3, 10), dtype=np.uint8)
    rows = rows[np.argsort(rows[:, 0, :8].copy().view("<u8")[:, 0])]
    rows[1, 1] = asking._values[1, :10]
    assert [each.tolist() for each in asking._matched(rows)] == [[1], [1]]
    rows[1, 0] = asking._values[0, :10]
    rows = rows[np.argsort(rows[:, 0, :8].copy().view("<u8")[:, 0])]
    with pytest.raises(PeerError, match="a row of two of our ids"):
        asking._matched(rows)
    # Five more than the four that there are.

    def more(page: OpenedPage) -> OpenedPage:
        return OpenedPage((int.from_bytes(page.words, "little") + 5).to_bytes(8, "little"))

    alice, _ = struck(OpenedPage, more, count_only=True)
    assert isinstance(alice.error, DeviationError)
    alice, _ = struck(JointDigests, lambda sent: JointDigests(bytes(len(sent.digests))))
    assert isinstance(alice.error, DeviationError)


EQUALITY_ALICE, EQUALITY_BOB = listing("alice", ["p1"]), listing("bob", ["p1"])


def compared(hers: Sequence[bytes], his: Sequence[bytes], tamper: Tamper | None = None) -> tuple[End[Any], End[Any]]:
    roles = compare(EQUALITY_ALICE, "bob", NONCES, b"test", hers), compare(EQUALITY_BOB, "alice", NONCES, b"test", his)
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
    roles = (
        compare(EQUALITY_ALICE, "bob", NONCES, b"one", [b"x"]),
        compare(EQUALITY_BOB, "alice", NONCES, b"other", [b"x"]),
    )
    assert [end.result for end in duel(*roles)] == [(False,), (False,)]


STRANGE: dict[str, tuple[type[Message], Callable[[Any], Message], str]] = {
    "a point too few": (HiddenContents, lambda m: HiddenContents(m.points[33:]), "another number of contents"),
    "a point too many": (HiddenContents, lambda m: HiddenContents(m.points * 2), "another number of contents"),
    "no point": (HiddenContents, lambda m: HiddenContents(bytes(len(m.points))), "not on the curve"),
    "a digest too few": (JointDigests, lambda m: JointDigests(m.digests[32:]), "another number of contents"),
    "a digest too many": (JointDigests, lambda m: JointDigests(m.digests * 2), "another number of contents"),
}


def test_what_a_hostile_peer_sends_ends_in_one_error() -> None:
    for kind, change, told in STRANGE.values():
        alice, _ = compared([b"x", b"y"], [b"x", b"y"], on("b", kind, change))
        assert isinstance(alice.error, PeerError)
        assert told in str(alice.error)
