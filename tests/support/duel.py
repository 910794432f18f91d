"""Plays two roles against each other and tells how *each* of them ended, with a hand on the wire in between."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from protocols.role import Effect, Message, Player, Role, Send

T = TypeVar("T")

Tamper = Callable[[str, int, Message], Message | None]
"""Gets the sender ("a" or "b"), how many messages it sent before, and the message; None drops it."""


@dataclass
class End(Generic[T]):
    """How a role ended: with a result, with an error, or waiting for a message that never came."""

    result: T | None = None
    error: Exception | None = None
    sent: list[Message] = field(default_factory=list)

    @property
    def waits(self) -> bool:
        """Whether it had not ended when nothing moved any more."""
        return self.result is None and self.error is None


def honest(sender: str, number: int, message: Message) -> Message:
    """Deliver everything as it is."""
    del sender, number
    return message


def duel(a: Role[T], b: Role[T], tamper: Tamper = honest) -> tuple[End[T], End[T]]:
    """Play both roles until neither can move; an error of one does not stop the other."""
    ends: dict[str, End[T]] = {"a": End(), "b": End()}

    def deliver(sender: str, message: Message) -> None:
        delivered = tamper(sender, len(ends[sender].sent), message)
        ends[sender].sent.append(message)
        if delivered is not None:
            (right if sender == "a" else left).inbox.append(delivered)

    def advance(name: str, player: Player[T]) -> bool:
        end = ends[name]
        if not end.waits:
            return False
        try:
            moved = player.advance()
        except Exception as error:  # noqa: BLE001  # whichever it is, the test judges it
            end.error = error
            return True
        end.result = player.result
        return moved

    left, right = Player(a, partial(deliver, "a")), Player(b, partial(deliver, "b"))
    while advance("a", left) | advance("b", right):
        pass
    return ends["a"], ends["b"]


def watched(role: Role[T], see: Callable[[Effect], object]) -> Role[T]:
    """Play a role, and let all that it does be seen before it is done."""
    answer: Message | None = None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        see(effect)
        answer = yield effect


def replay(role: Role[T], messages: Iterable[Message]) -> End[T]:
    """Play a role against a recorded peer, which says what it says whatever it hears."""

    def peer() -> Role[Any]:
        for message in messages:
            yield Send(message)
        return "recorded"

    return duel(role, peer())[0]
