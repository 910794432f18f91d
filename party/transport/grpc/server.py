"""The responder: one session of a pinned peer at a time, lost when no call has come for `patience` seconds."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

import grpc

from party.closing import Closing
from party.errors import ConfigError, PeerLostError, PeerPausedError, RunCancelledError
from party.keys.certificates import Clock, OnRenewed, Peer, anchor, utc_now
from party.keys.identity import Identity
from party.transport.channel import STOP_SECONDS, PagedChannel, stopped_by
from party.transport.clocks import Sparingly
from party.transport.grpc import status
from party.transport.grpc.probe import Doctor
from party.transport.pages import USUAL_WAITS, Page, Pages, Reason, Waits
from party.wire.codec import require_fast_protobuf
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import InputError, PeerError
from protocols.two_party.agreement import common_version, versions_text

HANDSHAKE_SECONDS: Final = 10.0
CONNECTION_SECONDS: Final = 600.0  # an open connection's certificate is not looked at again (FAULTS C2)
_CONCURRENCY: Final = 16
_LEAVE_SECONDS: Final = 1.0


class NodeServer(node_pb2_grpc.NodeServicer, Closing):
    """A port on which pinned peers open sessions; made by `listen`, which opens it."""

    def __init__(self, peers: Iterable[Peer], waits: Waits) -> None:
        self._peers = {peer.fingerprint: peer for peer in peers}
        self._waits = waits
        self._changed = threading.Condition()
        self._session: _Session | None = None
        self._pending: _Session | None = None  # until it is accepted
        self._foreign: PeerError | None = None  # of a peer that speaks another version, until it hears so
        self._said = Sparingly(waits.timer)
        self._closed = False
        self._pool = ThreadPoolExecutor(_CONCURRENCY, thread_name_prefix="node")
        self._server: grpc.Server | None = None
        self.address = ""

    @classmethod
    def listen(
        cls,
        identity: Identity,
        peers: Iterable[Peer],
        address: str,
        *,
        waits: Waits = USUAL_WAITS,
        clock: Clock = utc_now,
        latest: Callable[[], Identity] | None = None,
        renewed: OnRenewed = lambda _: None,
    ) -> Self:
        """Open the port."""
        require_fast_protobuf()
        node = cls(peers, waits)
        if not node._peers:
            raise ConfigError("no peer is trusted: nobody could open a session")
        identity.check_dates(clock())
        node._open(latest or (lambda: identity), address, status.Guard(node._peers.values(), clock, renewed), clock)
        return node

    def _open(self, latest: Callable[[], Identity], address: str, guard: status.Guard, clock: Clock) -> None:
        server = grpc.server(
            self._pool,
            interceptors=[guard],
            options=server_options(),
            maximum_concurrent_rpcs=_CONCURRENCY,
            compression=grpc.Compression.NoCompression,
        )
        node_pb2_grpc.add_NodeServicer_to_server(self, server)
        doctor = Doctor(self._peers.values(), clock, lambda: self._session is not None and not self._session.over)
        node_pb2_grpc.add_DoctorServicer_to_server(doctor, server)
        credentials = _credentials(latest, self._peers.values())
        self.address = status.bound_address(address, lambda place: server.add_secure_port(place, credentials))
        self._server = server
        server.start()

    def accept(self, timeout: float | None = None) -> PagedChannel:
        """Wait for the next session."""
        with self._changed:
            self._waits.timer.wait_for(self._changed, lambda: self._closed or self._waiting() or self._foreign, timeout)
            if self._closed:
                raise InputError("the node has been closed")
            if (error := self._foreign) is not None:
                self._foreign = None
                raise error
            session = self._waiting()
            if session is None:
                raise PeerLostError(f"no peer opened a session within {timeout:g} s")
            self._pending = None
            return session

    def since_contact(self) -> float | None:
        """Return how many seconds ago a peer called in a session; None if there was none."""
        session = self._session
        return None if session is None else self._waits.timer.now() - session.last_call

    def _waiting(self) -> "_Session | None":
        return None if self._pending is None or self._pending.over else self._pending

    def close(self) -> None:
        """Stop a session that still runs, let calls in flight end, and free the port."""
        with self._changed:
            session, self._closed = self._session, True
            self._changed.notify_all()
        if session is not None:
            session.stop(Reason.PAUSED)
        if self._server is not None:
            self._server.stop(grace=2 * status.LONG_POLL).wait()
        self._pool.shutdown(wait=False)

    def Open(  # noqa: N802 - the wire's name
        self, request: wire.OpenRequest, context: grpc.ServicerContext
    ) -> wire.OpenReply:
        """Start a session, unless one with another peer runs; of one peer the new one takes the place of the old."""
        if len(request.session) != status.SESSION_BYTES:
            raise PeerError("a session's id is not 16 bytes")
        peer = self._peers[status.caller(context)]
        spoken = self._waits.spoken
        version = common_version(request.version, spoken)
        with self._changed:
            if version is not None:
                self._start(peer, request.session, version)
            elif self._said.may_say(peer.fingerprint):
                self._foreign = status.other_version(peer.name, request.version, spoken)
                self._changed.notify_all()
        return wire.OpenReply(version=versions_text(spoken) if version is None else str(version))

    def _start(self, peer: Peer, number: bytes, version: int) -> None:
        if self._session is not None:
            if self._session.belongs(number, peer.fingerprint):
                return
            if not self._session.over and not self._session.give_way(peer.fingerprint):
                raise status.NotNowError("another session runs")
        self._session = self._pending = _Session(peer, number, self._waits, version)
        self._session.start()
        self._changed.notify_all()

    def Push(  # noqa: N802 - the wire's name
        self, request: wire.PushRequest, context: grpc.ServicerContext
    ) -> wire.PushReply:
        """Take a page, or a sign of life."""
        with self._known(request.session, context).call() as session:
            if request.HasField("page"):
                session.push(request.page.sequence, status.page_from_wire(request.page))
            else:
                session.note_full_inbox()
        return wire.PushReply()

    def Pull(  # noqa: N802 - the wire's name
        self, request: wire.PullRequest, context: grpc.ServicerContext
    ) -> wire.PullReply:
        """Give a page when there is one in time."""
        with self._known(request.session, context).call() as session:
            page = session.pull(request.sequence)
        return wire.PullReply(page=None if page is None else status.page_to_wire(page, request.sequence))

    def _known(self, number: bytes, context: grpc.ServicerContext) -> "_Session":
        with self._changed:
            session = self._session
        if session is None or not session.belongs(number, status.caller(context)):
            raise status.UnknownSessionError("a call of a session that is not known")
        return session


class _Session(PagedChannel):
    """The responder's end of one session; gRPC's threads move its pages."""

    def __init__(self, peer: Peer, number: bytes, waits: Waits, version: int) -> None:
        outgoing, incoming = Pages(timer=waits.timer), Pages(timer=waits.timer)
        super().__init__(peer.name, outgoing, incoming, waits.silence, peer.fingerprint)
        self._owner, self.version = (number, peer.fingerprint), version
        self._patience, self._timer = waits.patience, waits.timer
        self._pushing = threading.Lock()
        self._next_push = 0
        self._last_push: Page | None = None
        self._pulling = threading.Lock()
        self._next_pull = 0
        self._given: Page | None = None
        self._given_at: float | None = None
        self.last_call = self._timer.now()
        self._told = threading.Event()
        self._released = threading.Event()

    def start(self) -> None:
        """Begin to watch whether the peer still calls."""
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether another session may take its place."""
        return self._over or self._incoming.failure is not None

    def belongs(self, number: bytes, fingerprint: str) -> bool:
        """Whether a call with this number and certificate is one of this session."""
        return self._owner == (number, fingerprint)

    def give_way(self, fingerprint: str) -> bool:
        """End for a new session of the same peer, which has one at a time: it has lost this one, as by a kill."""
        same = self._owner[1] == fingerprint
        if same:
            self._fail(PeerLostError(f"lost {self.peer}: it has started again, and no longer knows this session"))
        return same

    @contextlib.contextmanager
    def call(self) -> Iterator[Self]:
        """Note that the peer lives, and that it hears of our stop."""
        self.last_call = self._timer.now()
        try:
            yield self
        except (status.StoppedHereError, RunCancelledError):
            self._told.set()
            raise
        finally:
            self.last_call = self._timer.now()

    def push(self, sequence: int, page: Page) -> None:
        """Take the next page, or the last one again."""
        with self._pushing:
            if sequence == self._next_push - 1 and page == self._last_push:
                return
            if sequence != self._next_push:
                raise status.OutOfOrderError("a pushed page is out of order")
            if page.end not in {None, Reason.FINISHED}:
                self._fail(stopped_by(self.peer, page.end))
            elif not self._incoming.put(page, timeout=status.LONG_POLL):
                raise status.NotNowError("the inbox is full")
            self._next_push += 1
            self._last_push = page

    def pull(self, sequence: int) -> Page | None:
        """Give the next page or the last one again; asking for the next one says that the last arrived."""
        with self._pulling:
            if self._given is not None and sequence == self._next_pull + 1:
                self._outgoing.remove(self._given)
                if self._given_at is not None:
                    self._pace.took(self._given, self._timer.now() - self._given_at)
                self._given = None
                self._next_pull += 1
            if sequence != self._next_pull:
                raise status.OutOfOrderError("a page is asked for out of order")
            self._given = self._outgoing.head(timeout=status.LONG_POLL)
            self._given_at = self._timer.now()
            return self._given

    def note_full_inbox(self) -> None:
        """Note that the peer has the last page and no room for another: the line is not what keeps it."""
        self._given_at = None

    def _fail(self, error: Exception) -> None:
        self._incoming.fail(error, at_once=not isinstance(error, PeerLostError | PeerPausedError))
        self._outgoing.fail(error)

    def _watch(self) -> None:
        try:
            while not self._timer.wait(self._released, self._patience / 10):
                gone = self._incoming.ended and self._outgoing.idle
                if not gone and self._timer.now() - self.last_call > self._patience:
                    self._fail(PeerLostError(f"lost {self.peer}: it has not called for {self._patience:g} s"))
                    return
        except Exception as error:  # noqa: BLE001 - or else nobody would miss the peer
            self._fail(error)

    def _tell(self, reason: Reason) -> None:
        if isinstance(self._incoming.failure, RunCancelledError | None):
            self._fail(status.StoppedHereError(reason))
            self._timer.wait(self._told, 0 if self._incoming.ended else STOP_SECONDS)

    def _leave(self) -> None:
        self._outgoing.wait_delivered(end=False)
        if not self._incoming.ended:
            with contextlib.suppress(PeerError):
                self._outgoing.wait_delivered(end=True, timeout=_LEAVE_SECONDS)

    def _release(self) -> None:
        self._released.set()


def _credentials(latest: Callable[[], Identity], peers: Iterable[Peer]) -> grpc.ServerCredentials:
    """Return TLS that shows our certificate of the moment, and lets in what a peer's key has signed, for a guard."""
    anchors = b"".join(map(anchor, peers))

    def of_the_moment() -> grpc.ServerCertificateConfiguration:
        own = latest()
        return grpc.ssl_server_certificate_configuration([(own.key_pem, own.pem)], root_certificates=anchors)

    return grpc.dynamic_ssl_server_credentials(of_the_moment(), of_the_moment, require_client_authentication=True)


def server_options() -> list[tuple[str, int]]:
    """Return what every server of ours is set to."""
    return [
        *status.OPTIONS,
        ("grpc.so_reuseport", 0),  # else two servers share a port without a word
        ("grpc.max_concurrent_streams", _CONCURRENCY),
        ("grpc.server_handshake_timeout_ms", int(HANDSHAKE_SECONDS * 1000)),
        ("grpc.max_connection_age_ms", int(CONNECTION_SECONDS * 1000)),
        ("grpc.max_connection_age_grace_ms", 30_000),
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ]
