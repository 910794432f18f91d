"""Roles: what one party does in a protocol, as a generator that reads like the paper.

A role yields `Send(message)`, `Receive(kind)`, `Note`, `Save` or `Progress`, is composed with `yield from`, and returns
its result. Any role raises `PeerError` where the peer sent what the protocol does not allow, and `DeviationError` where
what it sent cannot be true.
It knows nothing of sockets or threads. `run_pair` plays two roles against each other in one process and is the
specification of what any transport must do: deliver messages in order, both ways at once; `run_alone` plays one that
needs no peer. A role that plays others passes on what they yield: `together` two at once, `with_progress` one with
other progress.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import accumulate
from typing import Any, Final, Generic, Protocol, TypeVar, dataclass_transform

from protocols.errors import PeerError

M = TypeVar("M", bound="Message")
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

_JOINED_BYTES: Final = 1 << 20


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True, repr=False)
class _Frozen:
    """What crosses or is known: each kind of it is a frozen dataclass, whose repr shows the kind only."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, repr=False)(cls)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class Message(_Frozen):
    """Anything that one role sends to another."""


class Joinable(Message):
    """Bytes of which the peer sends as many: several may cross as one message (`together`)."""

    words: bytes


@dataclass(frozen=True)
class Send:
    """Ask the driver to deliver `message` to the peer."""

    message: Message


@dataclass(frozen=True)
class Receive:
    """Ask the driver for the peer's next message, of which none but this kind is expected."""

    kind: type[Message]


class Fact(_Frozen):
    """Something that the peer learns of us, or we of it."""


@dataclass(frozen=True)
class Note:
    """Ask the driver to keep a fact for good before it goes on (DESIGN 12): what is noted precedes what sends it."""

    fact: Fact


class Part(Enum):
    """What a run keeps, so that it can go on after it has ended early.

    ANSWERS     what both sides learned, batch by batch
    COPY        the peer's disguised copy
    OPENED      nothing; it is there if what follows the answers was opened and is not among them
    """

    ANSWERS = "answers"
    COPY = "copy"
    OPENED = "opened"


@dataclass(frozen=True, repr=False)
class Save:
    """Ask the driver to keep item `number` of a part for as long as the run lasts (DESIGN 12); later ones fall away."""

    part: Part
    number: int
    content: bytes


class Kept(Protocol):
    """What a run that goes on has kept before."""

    def recall(self, part: Part) -> Iterator[bytes]:
        """Yield the items of a part, the first one first."""


class Phase(Enum):
    """What a role may be busy with; the words for it are the display's."""

    MATCHING = auto()
    OVERLAP = auto()
    COPIES = auto()
    COLUMNS = auto()
    COUNTS = auto()
    TREE = auto()
    HELD_OUT = auto()
    ROWS = auto()


@dataclass(frozen=True)
class Progress:
    """Show the driver how far the present phase is: `done` of `total` units of work, and how far a `part` of it is."""

    phase: Phase
    done: float
    total: float
    part: "Progress | None" = None


Effect = Send | Receive | Note | Save | Progress
Role = Generator[Effect, Any, T]


def receive(kind: type[M]) -> Role[M]:
    """Wait for the peer's next message, which must be of this kind."""
    message = yield Receive(kind)
    if not isinstance(message, kind):
        raise PeerError(f"expected {kind.__name__} from the peer, got {type(message).__name__}")
    return message


def exchange(message: M) -> Role[M]:
    """Send a message and receive one of the same kind."""
    yield Send(message)
    return (yield from receive(type(message)))


def as_part(role: Role[T], outer: Progress) -> Role[T]:
    """Run a role as a part of a longer phase: its own progress becomes the part of `outer`."""
    return with_progress(role, lambda own: replace(outer, part=own))


def in_phase(role: Role[T], phase: Phase) -> Role[T]:
    """Run a role whose progress is all of one phase."""
    return with_progress(role, lambda own: replace(own, phase=phase))


def with_progress(role: Role[T], change: Callable[[Progress], Progress | None]) -> Role[T]:
    """Run a role with other progress in the place of its own, or without."""
    answer: Message | None = None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        shown = change(effect) if isinstance(effect, Progress) else effect
        answer = None if shown is None else (yield shown)


def together(first: Role[A], second: Role[B]) -> Role[tuple[A, B]]:
    """Play two roles at once, so that both wait for the peer in one exchange; the peer does the same.

    Both sides must send alike before they receive: of each turn a role takes as many messages of the same kinds and
    lengths as it has sent. What both send in a turn crosses as one message where it may be joined.
    """
    one, other = (yield from _turn(first, ())), (yield from _turn(second, ()))
    while one.sent or other.sent:
        heard = yield from _crossing([*one.sent, *other.sent])
        of_first = heard[: len(one.sent)]
        if one.sent:
            one = yield from _turn(first, of_first)
        if other.sent:
            other = yield from _turn(second, heard[len(of_first) :])
    return one.result, other.result


@dataclass(frozen=True)
class _Turn:
    """What a role has sent since it last waited, none if it is over; its result."""

    sent: Sequence[Message]
    result: Any = None


def _turn(role: Role[Any], heard: Sequence[Message]) -> Role[_Turn]:
    """Go on with what a role waits for until it waits for more; collect what it sends."""
    sent, left = list[Message](), deque(heard)
    answer = left.popleft() if left else None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            return _Turn((), stop.value)
        if isinstance(effect, Receive) and not left:
            return _Turn(sent)
        if isinstance(effect, Receive):
            answer = left.popleft()
        elif isinstance(effect, Send):
            sent.append(effect.message)
            answer = None
        else:
            answer = yield effect


def _crossing(messages: Sequence[Message]) -> Role[Sequence[Message]]:
    """Send messages, as one if they may be, and receive as many alike."""
    kinds = {type(message) for message in messages}
    words = [message.words for message in messages if isinstance(message, Joinable)]
    if len(kinds) > 1 or len(words) < len(messages) or sum(map(len, words)) > _JOINED_BYTES:
        for message in messages:
            yield Send(message)
        theirs = []
        for message in messages:
            theirs.append((yield Receive(type(message))))  # noqa: PERF401  # a comprehension cannot yield
        return theirs
    (kind,) = kinds
    joined = (yield from exchange(kind(b"".join(words)))).words  # type: ignore[call-arg, attr-defined]  # `Joinable`
    if len(joined) != sum(map(len, words)):
        raise PeerError("the peer sent shares of another length")
    ends = accumulate(map(len, words))
    return [kind(joined[end - len(own) : end]) for own, end in zip(words, ends, strict=True)]  # type: ignore[call-arg]


@dataclass
class Transcript:
    """What crossed in `run_pair`, in the order of sending."""

    sent_by_a: list[Message] = field(default_factory=list)
    sent_by_b: list[Message] = field(default_factory=list)


@dataclass
class Player(Generic[T]):
    """One role in play: what it is sent waits in `inbox`, what it sends goes to `deliver`."""

    role: Role[T]
    deliver: Callable[[Message], None]
    inbox: deque[Message] = field(default_factory=deque)
    waiting: bool = False
    result: T | None = None
    finished: bool = False

    def advance(self) -> bool:
        """Run until the role needs a message that is not there; return whether anything happened."""
        moved = False
        while not self.finished and not (self.waiting and not self.inbox):
            moved = True
            value = self.inbox.popleft() if self.waiting else None
            self.waiting = False
            try:
                effect = self.role.send(value)
            except StopIteration as stop:
                self.result, self.finished = stop.value, True
                break
            if isinstance(effect, Send):
                self.deliver(effect.message)
            self.waiting = isinstance(effect, Receive)
        return moved


def run_pair(a: Role[A], b: Role[B], transcript: Transcript | None = None) -> tuple[A, B]:
    """Play two roles against each other and return both results."""
    crossed = transcript or Transcript()

    def from_a(message: Message) -> None:
        crossed.sent_by_a.append(message)
        right.inbox.append(message)

    def from_b(message: Message) -> None:
        crossed.sent_by_b.append(message)
        left.inbox.append(message)

    left, right = Player(a, from_a), Player(b, from_b)
    while not (left.finished and right.finished):
        if not (left.advance() | right.advance()):
            raise PeerError("both roles wait for a message")
    if left.inbox or right.inbox:
        raise PeerError("a role ended with messages unread")
    return left.result, right.result  # type: ignore[return-value]  # finished players hold their result


def nothing(_: object) -> None:
    """Object to nothing, keep nothing, put nothing on record: where nobody judges, keeps or records."""


def run_alone(role: Role[T]) -> T:
    """Run a role that needs no peer."""
    try:
        while True:
            if isinstance(next(role), Send | Receive):
                raise PeerError("this role needs a peer")
    except StopIteration as stop:
        result: T = stop.value
        return result
