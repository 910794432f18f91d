"""A peer that does not keep to the alignment: each thing it may send ends the run in one line."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from protocols.errors import DeviationError, DisagreementError, PeerError
from protocols.messages import CodePage, CommonRows, HintPage, IdList, JointDigests, OpenedPage, ValuesPage, Verdict
from protocols.role import Message, Role
from protocols.two_party import alignment
from protocols.two_party.alignment import Aligned, align
from tests.support.duel import End, duel
from tests.support.lists import NONCES, Judge, listing, numbered
from tests.support.meeting import on

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
    (CodePage, lambda page: CodePage(page.rows[:-1]), "rows of another length"),
    (CodePage, lambda page: CodePage(page.rows * 2), "rows of another length"),
    (CodePage, lambda _: CodePage(b""), "rows of another length"),
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


@pytest.mark.parametrize(("kind", "change", "problem"), ASKED)
def test_what_who_asks_may_not_send_ends_the_run(kind: type[Message], change: Change, problem: str) -> None:
    alice, _ = struck(kind, change)
    assert_refused(alice, problem)


@pytest.mark.parametrize(("kind", "change", "problem"), ANSWERED)
def test_what_who_has_the_key_may_not_send_ends_the_run(kind: type[Message], change: Change, problem: str) -> None:
    _, bob = struck(kind, change, side="a")
    assert_refused(bob, problem)


def assert_refused(end: End[Aligned], problem: str) -> None:
    assert isinstance(end.error, PeerError)
    assert problem in str(end.error)
    assert "\n" not in str(end.error)
    assert not any(record in str(end.error) for record in (*ALICE.records, *BOB.records))


def test_a_row_of_the_values_of_two_of_our_ids_is_refused() -> None:
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


@pytest.mark.parametrize("field", ["nonces", "slots"])
def test_hints_of_another_length_end_the_run(field: str) -> None:
    def short(page: HintPage) -> HintPage:
        return replace(page, **{field: getattr(page, field)[:-1]})

    _, bob = struck(HintPage, short, side="a", count_only=True)
    assert_refused(bob, "hints of another length")


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("count_only", [True, False])
def test_a_share_of_another_length_ends_the_run(side: str, count_only: bool) -> None:
    ends = struck(
        OpenedPage, lambda page: OpenedPage(page.words[:-1]), side=side, least=Fraction(1, 6), count_only=count_only
    )
    assert_refused(ends[side == "a"], "shares of another length")


def test_a_number_that_no_two_such_lists_have_is_a_deviation() -> None:
    """Five more than the four that there are."""

    def more(page: OpenedPage) -> OpenedPage:
        return OpenedPage((int.from_bytes(page.words, "little") + 5).to_bytes(8, "little"))

    alice, _ = struck(OpenedPage, more, count_only=True)
    assert isinstance(alice.error, DeviationError)


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
        self._told = replace(self._told, least=0)
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


def test_a_peer_that_does_not_mind_is_told_nothing() -> None:
    ends = struck(OpenedPage, lambda page: page, least=Fraction(5, 6))
    assert [isinstance(end.error, DisagreementError) for end in ends] == [True, True]
    assert not any(isinstance(message, ValuesPage) for end in ends for message in end.sent)
    # We ask for three of six, it for five, and four are common: of our own share nobody has heard.
    roles = (align(ALICE, "bob", NONCES, Judge(Fraction(1, 2))), align(BOB, "alice", NONCES, Indulgent(Fraction(5, 6))))
    alice, _ = duel(roles[0], roles[1])
    assert isinstance(alice.error, DeviationError)
    assert not any(isinstance(message, ValuesPage) for message in alice.sent)


def test_another_end_than_ours_is_a_deviation() -> None:
    alice, _ = struck(JointDigests, lambda sent: JointDigests(bytes(len(sent.digests))))
    assert isinstance(alice.error, DeviationError)
