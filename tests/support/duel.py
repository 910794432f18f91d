"""Plays two roles against each other and tells how *each* of them ended, with a hand on the wire in between."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from protocols.role import Message, Receive, Role, Send

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


@dataclass
class _Side(Generic[T]):
    name: str
    role: Role[T]
    end: End[T] = field(default_factory=End)
    inbox: deque[Message] = field(default_factory=deque)
    waiting: bool = False
    started: bool = False

    def advance(self, peer: "_Side[Any]", tamper: Tamper) -> bool:
        moved = False
        while self.end.waits and not (self.waiting and not self.inbox):
            moved = True
            value = self.inbox.popleft() if self.waiting else None
            self.waiting = False
            try:
                effect = self.role.send(value) if self.started else next(self.role)
            except StopIteration as stop:
                self.end.result = stop.value
                break
            except Exception as error:  # noqa: BLE001  # whichever it is, the test judges it
                self.end.error = error
                break
            self.started = True
            if isinstance(effect, Send):
                delivered = tamper(self.name, len(self.end.sent), effect.message)
                self.end.sent.append(effect.message)
                if delivered is not None:
                    peer.inbox.append(delivered)
            self.waiting = isinstance(effect, Receive)
        return moved


def honest(sender: str, number: int, message: Message) -> Message:
    """Deliver everything as it is."""
    del sender, number
    return message


def duel(a: Role[T], b: Role[T], tamper: Tamper = honest) -> tuple[End[T], End[T]]:
    """Play both roles until neither can move; an error of one does not stop the other."""
    left, right = _Side("a", a), _Side("b", b)
    while left.advance(right, tamper) | right.advance(left, tamper):
        pass
    return left.end, right.end


def replay(role: Role[T], messages: Iterable[Message]) -> End[T]:
    """Play a role against a recorded peer, which says what it says whatever it hears."""

    def peer() -> Role[Any]:
        for message in messages:
            yield Send(message)
        return "recorded"

    return duel(role, peer())[0]
