"""The seam "Channel": messages to and from one peer, in order, both ways at once, and a loop that plays roles.

A message is a frame, a frame is cut into *pages*, and pages wait in two bounded queues, one each way. What
moves pages between the queues of two parties makes a channel: a shared queue in one process, gRPC between two
(`party.transport.grpc`). A full queue holds its sender back, so both machines work at once and neither holds
everything.

A stream ends with a page that says why. `Reason.FINISHED` comes after all the rest; the other reasons overtake
what waits to be sent, and the peer's calls fail with `PeerStoppedError` at once. No text ever crosses.

NB: Two parties that both send more than the queues hold, before either receives, would wait for ever. So a
sender that waits with its own inbox full makes the inbox larger.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from party import errors
from party.transport.pages import Pace, Page, Pages, Reason, cut
from party.wire.codec import decode, encode, longest_frame
from protocols.errors import DisagreementError, PeerError
from protocols.messages import SignedHead
from protocols.role import Fact, Message, Note, Progress, Receive, Role, Save, Send
from protocols.two_party.agreement import SPOKEN

STOP_SECONDS: Final = 2.0  # how long a stop may take to reach the peer
_ABSORB_SECONDS: Final = 0.05

M = TypeVar("M", bound=Message)
T = TypeVar("T")


def stopped_by(peer: str, reason: Reason) -> PeerError:
    """Return the error that shows our operator why the peer ended its stream."""
    match reason:
        case Reason.FINISHED:
            return PeerError(f"{peer} ended the session before its last message")
        case Reason.CANCELLED:
            return errors.PeerCancelledError(f"{peer} cancelled the run")
        case Reason.DEVIATION:
            return errors.PeerAbortedError(f"{peer} reports that what we sent failed a check: the run ends for good")
        case Reason.INTERNAL:
            return errors.PeerStoppedError(
                f"{peer} had a fault of its own and ended the run; its operator can read which"
            )
        case Reason.PAUSED:
            return errors.PeerPausedError(f"{peer} has stopped for now")


def reason_for(error: BaseException) -> Reason:
    """Return what the peer hears when this error ends our role: a deviation only where it must be broken or hostile."""
    if isinstance(error, DisagreementError | errors.RunCancelledError):
        return Reason.CANCELLED
    if not isinstance(error, Exception) or isinstance(error, errors.PeerLostError | errors.PeerStoppedError):
        return Reason.PAUSED
    return Reason.DEVIATION if isinstance(error, PeerError) else Reason.INTERNAL


@dataclass
class Traffic:
    """What crossed, in frames and their bytes; `round_trips` counts the waits that follow a sending."""

    frames_sent: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    round_trips: int = 0


@dataclass(repr=False)
class Recording:
    """The frames that crossed, for a test or an auditor to read with `decode`."""

    sent: list[bytes] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)


class LedgerHeads(Protocol):
    """How far the ledgers of both parties about each other lead."""

    def grown(self) -> SignedHead | None:
        """Return our ledger's head if it has grown since it was asked for: the message that leaves now shows it."""

    def see(self, head: SignedHead) -> None:
        """Take note of the head of the peer's ledger, which came with a message."""


class PagedChannel(ABC):
    """One session with one peer, of this name and certificate (in memory there is none), over two queues of pages.

    Somebody else moves the pages. `heads` are shown and seen once they are set. `send`, `receive` and `check` raise
    `PeerLostError`, `PeerStoppedError`, or another `PeerError` for what the wire does not allow. `close` returns when
    the peer has everything that was sent. `stop` sends the peer why we end, and raises nothing. `interrupt` may be
    called by another thread: what waits then raises that error.
    """

    def __init__(self, peer: str, outgoing: Pages, incoming: Pages, silence: float, fingerprint: str = "") -> None:
        self.peer = peer
        self.fingerprint = fingerprint
        self.version = SPOKEN[0]
        self.traffic = Traffic()
        self.recording: Recording | None = None
        self.heads: LedgerHeads | None = None
        self._outgoing, self._incoming, self._silence = outgoing, incoming, silence
        self._pace = Pace()
        self._sent_since_wait = False
        self._over = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.stop(reason_for(error))
        self.close()

    def send(self, message: Message) -> None:
        """Queue a message; return when its last page waits there."""
        frame = encode(message)
        for page in cut(frame, self._pace, None if self.heads is None else self.heads.grown()):
            self._put(page)
        self._sent_since_wait = True
        self.traffic.frames_sent += 1
        self.traffic.bytes_sent += len(frame)
        if self.recording is not None:
            self.recording.sent.append(frame)

    def _put(self, page: Page) -> None:
        while not self._outgoing.put(page, timeout=_ABSORB_SECONDS):
            self._incoming.widen()
        if self._incoming.ended and not self._incoming.unread:  # what is unread may say why
            raise stopped_by(self.peer, Reason.FINISHED)

    def receive(self, kind: type[M]) -> M:
        """Wait for the peer's next message, which must be of this kind: no other is put together or parsed."""
        if self._sent_since_wait:
            self.traffic.round_trips += 1
            self._sent_since_wait = False
        frame = self._take_frame(kind)
        self.traffic.bytes_received += len(frame)
        if self.recording is not None:
            self.recording.received.append(frame)
        return decode(frame, kind)

    def _take_frame(self, kind: type[Message]) -> bytes:
        bodies: list[bytes] = []
        size = 0
        while True:
            page = self._incoming.head(self._silence)
            if page is None:
                raise errors.PeerLostError(
                    f"{self.peer} is there but has sent nothing for {self._silence:g} s: the run ends"
                )
            if page.end is not None:
                raise stopped_by(self.peer, Reason.FINISHED)
            self._incoming.remove(page)
            size += len(page.body)
            bodies.append(page.body)
            if size > (most := longest_frame(kind, bodies[0])):
                raise PeerError(f"the peer sent a {kind.__name__} of more than {most} bytes")
            if page.last:
                if self.heads is not None and page.ledger is not None:
                    self.heads.see(page.ledger)
                return bodies[0] if len(bodies) == 1 else b"".join(bodies)

    def check(self) -> None:
        """Make sure that the peer is there, or has left something to read, and that nobody has interrupted us."""
        self._incoming.check()

    def interrupt(self, error: Exception) -> None:
        """Let our role's next wait, or the one that it is in, raise this error; why it ends is then sent as ever."""
        self._incoming.fail(error)
        self._outgoing.refuse(error)

    def stop(self, reason: Reason) -> None:
        """Send the peer why we end, as far as it can be reached, and let go of everything."""
        if not self._over:
            self._over = True
            self._tell(reason)
            self._release()

    def close(self) -> None:
        """Wait until the peer has everything that was sent, and let go of everything."""
        if self._over:
            return
        self._over = True
        try:
            self._outgoing.finish()
            self._leave()
            failure = self._incoming.failure
            if failure is not None and not isinstance(failure, errors.PeerLostError):
                raise failure
            if self._incoming.unread:
                raise PeerError(f"{self.peer} sent more than we wait for")
        finally:
            self._release()

    @abstractmethod
    def _tell(self, reason: Reason) -> None:
        """Deliver the end of a session that failed; raise nothing."""

    @abstractmethod
    def _leave(self) -> None:
        """Wait until the peer has everything."""

    def _release(self) -> None:  # noqa: B027  # a channel in memory has nothing to let go of
        """Let go of threads and sockets."""


@dataclass(frozen=True)
class Watchers:
    """Follow a role, note what each side learns, save what resuming needs; each is safe when its watcher returns."""

    progress: Callable[[Progress], None] = lambda _: None
    note: Callable[[Fact], None] = lambda _: None
    save: Callable[[Save], None] = lambda _: None


NO_WATCHERS: Final = Watchers()


def drive(role: Role[T], channel: PagedChannel, watch: Watchers = NO_WATCHERS) -> T:
    """Run a role and return its result; the peer hears why it ended early, except of a disagreement it must receive."""
    try:
        return _run(role, channel, watch)
    except DisagreementError:
        with suppress(PeerError):
            channel.close()
        raise
    except BaseException as error:
        channel.stop(reason_for(error))
        raise
    finally:
        role.close()


def _run(role: Role[T], channel: PagedChannel, watch: Watchers) -> T:
    answer: Any = None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]  # a role's return type is T
        answer = None
        if isinstance(effect, Send):
            channel.send(effect.message)
        elif isinstance(effect, Receive):
            answer = channel.receive(effect.kind)
        elif isinstance(effect, Note):
            watch.note(effect.fact)
        elif isinstance(effect, Save):
            watch.save(effect)
        else:
            watch.progress(effect)
