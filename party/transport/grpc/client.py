"""The initiator: two threads push and pull pages in order; a failed call is repeated with the same bytes."""

import contextlib
import itertools
import logging
import secrets
import threading
from collections.abc import Callable
from typing import Any, Final

import grpc

from party.errors import PeerLostError, PeerPausedError, PeerStoppedError
from party.keys.certificates import Clock, OnRenewed, Peer, utc_now
from party.keys.identity import Identity
from party.transport.channel import STOP_SECONDS, PagedChannel
from party.transport.grpc import status
from party.transport.grpc.probe import Acquaintance
from party.transport.pages import USUAL_WAITS, Page, Pages, Reason, Waits
from party.wire.codec import is_canonical, require_fast_protobuf
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import CotallyError, PeerError
from protocols.two_party.agreement import common_version, versions_text

REFUSED_SECONDS: Final = 5.0  # a port that nobody listens on: the peer's process has ended
_BEAT_SECONDS: Final = 1.0
_FIRST_PAUSE, _LAST_PAUSE = 0.05, 1.0
_LOOK_PAUSE: Final = 1.0
_LOST: Final = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED})
_BUSY: Final = _LOST | {grpc.StatusCode.RESOURCE_EXHAUSTED}

_log = logging.getLogger(__name__)


def connect(
    identity: Identity,
    peer: Peer,
    address: str,
    *,
    waits: Waits = USUAL_WAITS,
    clock: Clock = utc_now,
    latest: Callable[[], Identity] | None = None,
    renewed: OnRenewed = lambda _: None,
) -> PagedChannel:
    """Open a session with a pinned peer that listens at `host:port`, waiting for it as long as our patience lasts."""
    require_fast_protobuf()
    acquaintance = Acquaintance(latest or (lambda: identity), peer, address, clock, renewed)
    acquaintance.check()
    line = _Line(acquaintance, waits)
    try:
        line.open()
    except BaseException:
        line.close()
        raise
    session = _Session(peer, line)
    session.start()
    return session


class _Line:
    """Calls to one peer, with deadlines and our own repetition."""

    def __init__(self, acquaintance: Acquaintance, waits: Waits) -> None:
        self._acquaintance = acquaintance
        self._peer, self._address = acquaintance.peer.name, acquaintance.address
        self.waits = waits
        self._patience, self._timer = waits.patience, waits.timer
        self._gone = threading.Event()
        self.session = secrets.token_bytes(status.SESSION_BYTES)
        self.version = waits.spoken[0]
        self._looking, self._looked = threading.Lock(), self._timer.now()
        self._channels: list[grpc.Channel] = []
        self._connect()

    def _connect(self) -> None:
        self._channels.append(self._acquaintance.channel())
        self.stub = node_pb2_grpc.NodeStub(self._channels[-1])

    def _look(self) -> None:
        """Go on over a new connection if either side has renewed its certificate; two calls may fail at once."""
        with self._looking:
            if self._timer.now() - self._looked >= _LOOK_PAUSE and not self._gone.is_set():
                self._looked = self._timer.now()
                if self._acquaintance.refresh():
                    self._connect()

    def open(self) -> None:
        """Start the session, in the newest version that both speak."""
        request = wire.OpenRequest(version=versions_text(self.waits.spoken), session=self.session)
        try:
            reply: wire.OpenReply = self.call("Open", request, refused_seconds=self._patience, heed=self.waits.heed)
        except PeerLostError:
            tried = f"tried for {self._patience:g} s"
            raise PeerLostError(f"{self._acquaintance.why_silent()} ({tried})") from None
        version = common_version(reply.version, self.waits.spoken)
        if version is None or reply.version != str(version):
            raise status.other_version(self._peer, reply.version, self.waits.spoken)
        self.version = version

    def call(
        self,
        name: str,
        request: Any,
        *,
        repeat: frozenset[grpc.StatusCode] = _BUSY,
        refused_seconds: float = REFUSED_SECONDS,
        heed: Callable[[], None] | None = None,
    ) -> Any:
        """Make one call, repeated with the same bytes while its failure may pass."""
        started = self._timer.now()
        for attempt in itertools.count():
            left = started + self._patience - self._timer.now()
            try:
                return self._known(_called(getattr(self.stub, name), request, max(left, _FIRST_PAUSE), heed))
            except ValueError:  # the channel has been closed
                self._gone.set()
                code, details = grpc.StatusCode.CANCELLED, ""
            except grpc.RpcError as error:
                code, details = status.status_told(error), str(error.details())
            _log.debug("a call failed: %s %r", code, details)
            if code not in repeat:
                raise self._told(code)
            nobody = "onnection refused" in details
            limit = min(self._patience, refused_seconds) if nobody else self._patience
            if self._timer.now() - started >= limit or self._pause(attempt):
                raise self._given_up(code, limit, nobody=nobody)
            if code is grpc.StatusCode.UNAVAILABLE and not nobody:
                self._look()
        raise AssertionError

    def _known(self, reply: Any) -> Any:
        if not is_canonical(reply, reply.SerializeToString()):
            raise PeerError(f"{self._peer} sent a reply with unknown fields")
        return reply

    def rest(self) -> None:
        """Wait for the shortest pause."""
        self._pause(0)

    def _pause(self, attempt: int) -> bool:
        """Wait before the next attempt; return whether there shall be none."""
        return self._timer.wait(self._gone, min(_FIRST_PAUSE * 2.0 ** min(attempt, 10), _LAST_PAUSE))

    def _told(self, code: grpc.StatusCode) -> CotallyError:
        return status.refused(code, self._peer, self._acquaintance.own_dates())

    def _given_up(self, code: grpc.StatusCode, limit: float, *, nobody: bool) -> CotallyError:
        if code not in _LOST:
            return self._told(code)
        what = "refuses connections" if nobody else "does not answer"
        return PeerLostError(f"{self._peer} at {self._address} {what}, for {limit:g} s now")

    def close(self) -> None:
        """End all calls."""
        self._gone.set()
        with self._looking:
            for channel in self._channels:
                channel.close()


def _called(method: Any, request: Any, seconds: float, heed: Callable[[], None] | None) -> Any:
    if heed is None:
        return method(request, timeout=seconds, wait_for_ready=False)
    call = method.future(request, timeout=seconds, wait_for_ready=False)
    try:
        while True:
            heed()
            with contextlib.suppress(grpc.FutureTimeoutError):
                return call.result(timeout=_BEAT_SECONDS)
    finally:
        call.cancel()  # which changes nothing of one that is over


class _Session(PagedChannel):
    """The initiator's end of one session."""

    def __init__(self, peer: Peer, line: _Line) -> None:
        timer, silence = line.waits.timer, line.waits.silence
        super().__init__(peer.name, Pages(timer=timer), Pages(timer=timer), silence, peer.fingerprint)
        self._line, self.version = line, line.version
        self._leaving = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(move,), name=move.__name__, daemon=True)
            for move in (self._push_all, self._pull_all)
        ]

    def start(self) -> None:
        """Begin to move pages."""
        for thread in self._threads:
            thread.start()

    def _run(self, move: Callable[[], None]) -> None:
        try:
            move()
        except status.StoppedHereError:
            pass
        except CotallyError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - a thread must not die in silence while the role waits for it
            _log.exception("a thread of the session failed")
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Let our role's next step raise; while the line holds, a reason can still be pushed."""
        self._incoming.fail(error, at_once=not isinstance(error, PeerLostError | PeerPausedError))
        if isinstance(error, PeerLostError | PeerStoppedError) or threading.current_thread() is self._threads[0]:
            self._outgoing.fail(error)

    def _push_all(self) -> None:
        sequence = 0
        while True:
            page = self._outgoing.head()
            assert page is not None  # noqa: S101 - a wait without a limit returns a page or raises
            request = wire.PushRequest(session=self._line.session, page=status.page_to_wire(page, sequence))
            started = self._line.waits.timer.now()
            try:
                self._line.call("Push", request, repeat=_LOST)
            except status.NotNowError:
                self._line.rest()
                continue  # with what is the head by then: a stop overtakes
            self._pace.took(page, self._line.waits.timer.now() - started)
            self._outgoing.remove(page)
            sequence += 1
            if page.end is not None:
                return

    def _pull_all(self) -> None:
        for sequence in itertools.count():
            page = self._pull(sequence)
            if page is None:
                return
            if page.end is not None:
                self._incoming.put(page)
                self._acknowledge(sequence + 1)
                return
            while not self._incoming.put(page, timeout=_BEAT_SECONDS):
                if self._leaving.is_set():
                    return
                self._line.call("Push", wire.PushRequest(session=self._line.session))

    def _pull(self, sequence: int) -> Page | None:
        """Ask until there is a page; None when there is none and we are leaving."""
        request = wire.PullRequest(session=self._line.session, sequence=sequence)
        while True:
            reply: wire.PullReply = self._line.call("Pull", request)
            if reply.HasField("page"):
                if reply.page.sequence != sequence:
                    raise PeerError("the peer sent a page out of order")
                return status.page_from_wire(reply.page)
            if self._leaving.is_set():  # and by this call the peer knows that we have all before
                return None

    def _acknowledge(self, sequence: int) -> None:
        """Say that the end arrived; the peer waits for this only a moment, and may be gone."""
        request = wire.PullRequest(session=self._line.session, sequence=sequence)
        with contextlib.suppress(grpc.RpcError, ValueError):
            self._line.stub.Pull(request, timeout=1.0)

    def _tell(self, reason: Reason) -> None:
        stopped = status.StoppedHereError(reason)
        self._incoming.fail(stopped)
        self._outgoing.replace(Page(end=reason), stopped)
        with contextlib.suppress(CotallyError):
            self._outgoing.wait_delivered(end=True, timeout=STOP_SECONDS)

    def _leave(self) -> None:
        """Wait until our pages are taken, and until the peer knows that we have all of its."""
        self._outgoing.wait_delivered(end=False)
        with contextlib.suppress(CotallyError):
            while not (self._incoming.ended or self._outgoing.wait_delivered(end=True, timeout=_FIRST_PAUSE)):
                pass
        self._leaving.set()
        self._threads[1].join()

    def _release(self) -> None:
        closed = PeerLostError(f"the session with {self.peer} is closed")
        self._incoming.fail(closed)
        self._outgoing.fail(closed)
        self._line.close()
        for thread in self._threads:
            thread.join(timeout=STOP_SECONDS)
