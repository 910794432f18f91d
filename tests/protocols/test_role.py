"""Roles and the specification of what a transport does."""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.answers import AnswerNumbers, KeptAnswers
from protocols.errors import DeviationError, PeerError
from protocols.messages import KeptParts, LostAnswers, MaskedPage, ModelDigest, Verdict
from protocols.role import (
    Message,
    Part,
    Phase,
    Progress,
    Receive,
    Role,
    Save,
    Send,
    Transcript,
    as_part,
    exchange,
    receive,
    run_alone,
    run_pair,
    together,
)
from protocols.two_party.memory import resume
from tests.support.duel import duel


def says(*fields: str) -> Role[str]:
    for text in fields:
        yield Send(Verdict(text))
    return "said"


def hears(count: int) -> Role[list[str]]:
    heard = []
    for _ in range(count):
        heard.append((yield from receive(Verdict)).field)  # noqa: PERF401  # a comprehension cannot yield
    return heard


def talk(kind: Callable[[str], Message], name: str, turns: Sequence[int]) -> Role[list[object]]:
    """Send some messages and receive as many, turn by turn."""
    heard = list[object]()
    for turn, count in enumerate(turns):
        for number in range(count):
            yield Send(kind(f"{name} {turn} {number}"))
        for _ in range(count):
            heard.append(content((yield Receive(Message))))
    return heard


def content(message: Message) -> object:
    (value,) = vars(message).values()
    return value


def page(text: str) -> Message:
    return MaskedPage(text.encode())


@pytest.mark.parametrize("last", [page, Verdict])
@given(*[st.lists(st.integers(1, 3), max_size=4)] * 3)
def test_roles_together_hear_each_its_own_and_wait_no_longer_than_the_longest(
    last: Callable[[str], Message], first: list[int], second: list[int], third: list[int]
) -> None:
    """Also where one of them is two roles together; pages cross as one in each turn, other messages by themselves."""

    def both() -> Role[tuple[list[object], tuple[list[object], list[object]]]]:
        return together(talk(page, "x", first), together(talk(page, "y", second), talk(last, "z", third)))

    transcript = Transcript()
    ours, theirs = run_pair(both(), both(), transcript)
    x, y, z = ([content(kind(f"{name} {turn} {at}")) for turn, count in enumerate(turns) for at in range(count)]
               for name, kind, turns in (("x", page, first), ("y", page, second), ("z", last, third)))  # fmt: skip
    assert ours == theirs == (x, (y, z))
    if last is page:
        assert len(transcript.sent_by_a) == max(map(len, (first, second, third)))


def test_a_page_of_two_roles_together_must_be_as_long_as_ours() -> None:
    def play(texts: Sequence[str]) -> Role[object]:
        return together(talk(page, texts[0], [1]), talk(page, texts[1], [1]))

    with pytest.raises(PeerError, match="shares of another length"):
        run_pair(play(["x", "y"]), play(["x", "longer"]))


def test_who_waits_in_vain_ends_and_progress_needs_no_answer() -> None:
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(hears(1), hears(1))
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(says("a"), hears(2))
    for first in (True, False):
        with pytest.raises(PeerError, match="messages unread"):
            run_pair(says("a", "b"), hears(1)) if first else run_pair(hears(1), says("a", "b"))

    def busy() -> Role[str]:
        assert (yield Progress(Phase.COUNTS, 1, 2)) is None
        yield Send(Verdict("a"))
        assert (yield Progress(Phase.COUNTS, 2, 2)) is None
        return (yield from receive(Verdict)).field

    assert run_pair(busy(), busy()) == ("a", "a")


@pytest.mark.parametrize("role", [says("a"), hears(1)])
def test_a_role_alone_may_neither_send_nor_wait(role: Role[object]) -> None:
    with pytest.raises(PeerError, match="needs a peer"):
        run_alone(role)


def test_a_role_alone_runs_through_its_progress_and_that_of_a_part_becomes_its_part() -> None:
    def busy() -> Role[int]:
        yield Progress(Phase.COUNTS, 1, 1)
        return 7

    assert run_alone(busy()) == 7

    def part() -> Role[str]:
        yield Progress(Phase.COLUMNS, 1, 4)
        yield Progress(Phase.COLUMNS, 0, 0)
        yield Send(Verdict("out"))
        return (yield from receive(Verdict)).field

    outer = Progress(Phase.TREE, 3, 10)
    role = as_part(part(), outer)
    assert next(role) == Progress(Phase.TREE, 3, 10, Progress(Phase.COLUMNS, 1, 4))
    assert role.send(None) == Progress(Phase.TREE, 3, 10, Progress(Phase.COLUMNS, 0, 0))
    assert role.send(None) == Send(Verdict("out"))
    assert role.send(None) == Receive(Verdict)
    with pytest.raises(StopIteration) as stop:
        role.send(Verdict("in"))
    assert stop.value.value == "in"


def test_messages_arrive_in_order_and_show_their_kind_alone() -> None:
    assert run_pair(says("a", "b", "c"), hears(3)) == ("said", ["a", "b", "c"])
    assert run_pair(hears(3), says("a", "b", "c")) == (["a", "b", "c"], "said")
    a, b = run_pair(exchange(Verdict("from a")), exchange(Verdict("from b")))
    assert (a.field, b.field) == ("from b", "from a")
    transcript = Transcript()
    run_pair(says("a", "b"), hears(2), transcript)
    assert transcript == Transcript([Verdict("a"), Verdict("b")], [])

    def careful() -> Role[None]:
        assert (yield Send(Verdict("a"))) is None
        assert (yield Receive(Verdict)) == Verdict("a")

    assert run_pair(careful(), careful()) == (None, None)

    def digest() -> Role[None]:
        yield Send(ModelDigest(b"canary"))

    with pytest.raises(PeerError) as error:
        run_pair(hears(1), digest())
    assert str(error.value) == "expected Verdict from the peer, got ModelDigest"

    class Letter(Message):
        text: str
        more: list[str] = field(default_factory=list)

    assert repr(Letter("canary")) == "<Letter>"
    assert repr(Send(Letter("canary"))) == "Send(message=<Letter>)"


FIRST, SECOND = (3.0, 5.0), (-1.0, 2.0**52)


def asked(told: AnswerNumbers) -> Role[AnswerNumbers]:
    yield from ()
    return told


def saved(role: Role[Any]) -> tuple[list[Save], Any]:
    found: list[Save] = []
    try:
        while True:
            effect = next(role)
            assert isinstance(effect, Save)
            found.append(effect)
    except StopIteration as stop:
        return found, stop.value


def kept(*answers: AnswerNumbers) -> list[bytes]:
    fresh = KeptAnswers()
    return [saved(fresh.ask(asked(each)))[0][0].content for each in answers]


@pytest.mark.parametrize("told", [FIRST, SECOND[::-1], SECOND[:1], ()])
def test_an_answer_other_than_the_one_that_we_remember_ends_the_run(told: AnswerNumbers) -> None:
    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    answers.recalled()
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(told)))


class Memory:
    def __init__(self, answers: list[bytes], opened: int = 0) -> None:
        self._parts = {Part.ANSWERS: answers, Part.COPY: [], Part.OPENED: [b""] * opened}

    def recall(self, part: Part) -> Any:
        return iter(self._parts[part])


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)])
def test_the_common_answers_are_those_that_the_shorter_memory_has(ours: int, theirs: int) -> None:
    every = kept(FIRST, SECOND)
    pair = run_pair(resume(Memory(every[:ours]), b"n"), resume(Memory(every[:theirs]), b"n"))
    for resumed in pair:
        for told in (FIRST, SECOND)[: min(ours, theirs)]:
            assert resumed.answers.recalled() == told
        assert resumed.answers.recalled() is None


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (0, 2), (2, 0), (1, 2), (2, 2)])
def test_what_is_opened_once_is_sent_to_whoever_has_lost_it_and_saved_when_it_fits(ours: int, theirs: int) -> None:
    every = kept(FIRST, SECOND)
    left, right = (resume(Memory(every[:each], opened=2), b"n", opens_once=True) for each in (ours, theirs))
    for memory, resumed in zip((ours, theirs), run_pair(left, right), strict=True):
        for number, told in enumerate((FIRST, SECOND)[: max(ours, theirs)]):
            items, known = saved(resumed.answers.ask(asked(()), told.__eq__))
            assert known == told
            assert [item.number for item in items] == ([number] if number >= memory else [])
        assert resumed.answers.recalled() is None


@pytest.mark.parametrize(
    ("lost", "opened", "fits"),
    [([], 1, False), ([0.5], 1, False), ([np.nan], 1, False), ([3.0], 1, True), ([3.0], 0, False)],
)
def test_what_a_peer_has_kept_for_us_is_as_many_whole_numbers_as_it_says_and_was_opened_here(
    lost: list[float], opened: int, *, fits: bool
) -> None:
    def lying() -> Role[None]:
        yield Send(KeptParts(1, bytes(32), copy=False))
        yield from receive(KeptParts)
        yield Send(LostAnswers(tuple(np.array([number]).tobytes() for number in lost)))

    ends = duel(resume(Memory([], opened), b"n", opens_once=True), lying())
    assert any(isinstance(end.error, DeviationError) for end in ends) != fits


def test_an_answer_is_kept_before_it_is_used_and_no_foreign_one_is_taken() -> None:
    fresh = KeptAnswers()
    for number, told in enumerate((FIRST, SECOND)):
        ((item,), result) = saved(fresh.ask(asked(told)))
        assert (item.part, item.number, result) == (Part.ANSWERS, number, told)

    def never() -> Role[AnswerNumbers]:
        yield Send(KeptParts(0, b"", copy=False))
        return ()

    answers = KeptAnswers(kept(FIRST, SECOND), common=1)
    assert run_alone(answers.ask(never())) == FIRST
    assert saved(answers.ask(asked(SECOND))) == ([], SECOND)  # we remember it, and hear it again
    assert saved(answers.ask(asked(FIRST)))[0][0].number == 2
    answers = KeptAnswers(kept(FIRST), common=1, own=0)
    with pytest.raises(DeviationError):
        saved(answers.ask(asked(FIRST), lambda numbers: numbers == SECOND))
    ends = duel(resume(Memory(kept(FIRST)), b"n"), resume(Memory(kept(SECOND, FIRST)), b"n"))
    assert any(isinstance(end.error, DeviationError) for end in ends)
