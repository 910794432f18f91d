"""Roles and the specification of what a transport does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.errors import PeerError
from protocols.messages import MaskedPage, ModelDigest, Verdict
from protocols.role import (
    Message,
    Phase,
    Progress,
    Receive,
    Role,
    Send,
    Transcript,
    as_part,
    exchange,
    receive,
    run_alone,
    run_pair,
    together,
)


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


def test_who_waits_in_vain_ends() -> None:
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(hears(1), hears(1))
    with pytest.raises(PeerError, match="both roles wait"):
        run_pair(says("a"), hears(2))
    for first in (True, False):
        with pytest.raises(PeerError, match="messages unread"):
            run_pair(says("a", "b"), hears(1)) if first else run_pair(hears(1), says("a", "b"))


def test_progress_needs_no_answer_and_reaches_nobody() -> None:
    def busy() -> Role[str]:
        assert (yield Progress(Phase.COUNTS, 1, 2)) is None
        yield Send(Verdict("a"))
        assert (yield Progress(Phase.COUNTS, 2, 2)) is None
        return (yield from receive(Verdict)).field

    assert run_pair(busy(), busy()) == ("a", "a")


def test_messages_arrive_in_order() -> None:
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


def test_a_role_alone_runs_through_its_progress() -> None:
    def busy() -> Role[int]:
        yield Progress(Phase.COUNTS, 1, 1)
        return 7

    assert run_alone(busy()) == 7


@pytest.mark.parametrize("role", [says("a"), hears(1)])
def test_a_role_alone_may_neither_send_nor_wait(role: Role[object]) -> None:
    with pytest.raises(PeerError, match="needs a peer"):
        run_alone(role)


def test_the_progress_of_a_part_becomes_its_part_and_all_else_passes() -> None:
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


def test_messages_show_their_kind_alone() -> None:
    def digest() -> Role[None]:
        yield Send(ModelDigest(b"canary"))

    with pytest.raises(PeerError) as error:
        run_pair(hears(1), digest())
    assert str(error.value) == "expected Verdict from the peer, got ModelDigest"

    @dataclass(frozen=True, repr=False)
    class Letter(Message):
        text: str
        more: list[str] = field(default_factory=list)

    assert repr(Letter("canary")) == "<Letter>"
    assert repr(Send(Letter("canary"))) == "Send(message=<Letter>)"
