"""Errors across the wire: one total table each way, and the guard before every call.

What crosses is a code and a fixed text. A text that gRPC makes of an exception could hold a record's value, so
anything unexpected becomes an incident number, and the details stay in our own log (FAULTS C4).
"""

import errno
import logging
import secrets
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import grpc
from cryptography import x509
from google.protobuf.message import DecodeError

from party.errors import ConfigError, DatesError, IdentityError, PeerLostError, PeerStoppedError, RunCancelledError
from party.keys.certificates import ODD, Clock, OnRenewed, Peer, fingerprint
from party.names import Address
from party.transport.channel import stopped_by
from party.transport.clocks import Sparingly
from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE, Page, Reason
from party.wire.codec import is_canonical, is_signed_head
from party.wire.v1 import node_pb2 as wire
from protocols.errors import CotallyError, DeviationError, DisagreementError, PeerError
from protocols.messages import SignedHead
from protocols.two_party.agreement import Versions, versions_text

_log = logging.getLogger(__name__)


class NotNowError(PeerError):
    """There is no room yet, or another session runs: the call may be repeated."""


class UnknownSessionError(PeerError):
    """A call of a session that is not, or no longer, known."""


class OutOfOrderError(PeerError):
    """A page number that is not next, or known with another content."""


class StoppedHereError(CotallyError):
    """Our own role ended the session; the peer's calls learn why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(f"we ended the session: {reason.value}")
        self.reason = reason


Code = grpc.StatusCode

# The entry of the nearest class counts.
STATUS: Final[dict[type, tuple[grpc.StatusCode, str]]] = {
    CotallyError: (Code.INTERNAL, "internal error"),
    IdentityError: (Code.PERMISSION_DENIED, "the certificate is not the one agreed"),
    DatesError: (Code.UNAUTHENTICATED, "the certificate is outside its dates"),
    PeerError: (Code.INVALID_ARGUMENT, "the request cannot be read"),
    DeviationError: (Code.ABORTED, "the session has ended for good"),
    DisagreementError: (Code.FAILED_PRECONDITION, "the parties disagree"),
    PeerLostError: (Code.NOT_FOUND, "there is no such session"),
    PeerStoppedError: (Code.CANCELLED, "the session has ended"),
    RunCancelledError: (Code.CANCELLED, "the session has ended"),
    NotNowError: (Code.RESOURCE_EXHAUSTED, "not now"),
    UnknownSessionError: (Code.NOT_FOUND, "there is no such session"),
    OutOfOrderError: (Code.FAILED_PRECONDITION, "the page is out of order"),
}
STOPS: Final[dict[Reason, grpc.StatusCode]] = {
    Reason.FINISHED: Code.NOT_FOUND,
    Reason.CANCELLED: Code.CANCELLED,
    Reason.DEVIATION: Code.ABORTED,
    Reason.INTERNAL: Code.INTERNAL,
    Reason.PAUSED: Code.OUT_OF_RANGE,  # which nothing else is
}
_MARK: Final = ("cotally-status", "1")
_BREAKS: Final = frozenset({Code.UNKNOWN, Code.INTERNAL, Code.CANCELLED, Code.DATA_LOSS})
_REFUSED: Final = "{peer} refused a call as illegal or out of order"
_FORGOTTEN: Final = (
    "{peer} does not know this session any more: it was restarted, or stopped hearing from us, as "
    "when this machine sleeps"
)
_DATES: Final = (
    "by the clock of {peer} our certificate is outside its dates ({dates}): set the clock that is wrong, or renew "
    "the certificate (`cotally keys renew`)"
)
_UNTRUSTED: Final = "{peer} does not accept our certificate: it must trust our present one"

_ERRORS: Final[dict[grpc.StatusCode, Callable[[str], CotallyError]]] = {
    Code.ABORTED: lambda peer: stopped_by(peer, Reason.DEVIATION),
    Code.CANCELLED: lambda peer: stopped_by(peer, Reason.CANCELLED),
    Code.INTERNAL: lambda peer: stopped_by(peer, Reason.INTERNAL),
    Code.UNKNOWN: lambda peer: stopped_by(peer, Reason.INTERNAL),
    Code.DATA_LOSS: lambda peer: stopped_by(peer, Reason.INTERNAL),
    Code.UNAVAILABLE: lambda peer: PeerLostError(f"{peer} does not answer"),
    Code.DEADLINE_EXCEEDED: lambda peer: PeerLostError(f"{peer} does not answer"),
    Code.NOT_FOUND: lambda peer: PeerLostError(_FORGOTTEN.format(peer=peer)),
    Code.RESOURCE_EXHAUSTED: lambda peer: NotNowError(f"{peer} is busy with another session"),
    Code.PERMISSION_DENIED: lambda peer: IdentityError(_UNTRUSTED.format(peer=peer)),
    Code.INVALID_ARGUMENT: lambda peer: PeerError(_REFUSED.format(peer=peer)),
    Code.FAILED_PRECONDITION: lambda peer: PeerError(_REFUSED.format(peer=peer)),
    Code.ALREADY_EXISTS: lambda peer: PeerError(_REFUSED.format(peer=peer)),
    Code.OUT_OF_RANGE: lambda peer: stopped_by(peer, Reason.PAUSED),
    Code.UNIMPLEMENTED: lambda peer: PeerError(_REFUSED.format(peer=peer)),
}


def status_of(error: Exception, said: Sparingly | None = None) -> tuple[grpc.StatusCode, str]:
    """Return the code and the fixed text that cross for an error of a handler; a peer that repeats it fills no log."""
    if isinstance(error, StoppedHereError):
        return STOPS[error.reason], "the session has ended"
    for kind in type(error).__mro__:
        if kind in STATUS:
            quiet = kind is NotNowError or not (said is None or said.may_say(kind))  # back-pressure is no event
            _log.log(logging.DEBUG if quiet else logging.INFO, "refused a call of the peer: %s", error)
            return STATUS[kind]
    incident = secrets.token_hex(4)
    _log.error("incident %s in a call of the peer", incident, exc_info=error)
    return Code.INTERNAL, f"internal error, incident {incident}"


def refused(code: grpc.StatusCode, peer: str, dates: str) -> CotallyError:
    """Return the error of a call that a peer has refused; `dates` are those of our certificate, beside our clock."""
    return PeerError(_DATES.format(peer=peer, dates=dates)) if code is Code.UNAUTHENTICATED else _ERRORS[code](peer)


def status_told(error: grpc.RpcError) -> grpc.StatusCode:
    """Return the status a node itself gave a call, by its mark; `UNAVAILABLE` where the call broke on the way."""
    code: grpc.StatusCode = error.code()
    marked = any(each.key == _MARK[0] for each in error.trailing_metadata() or ())
    return Code.UNAVAILABLE if code in _BREAKS and not marked else code


def caller(context: grpc.ServicerContext) -> str:
    """Return the fingerprint of the key on the other end of a call."""
    return fingerprint(_shown(context))


def _shown(context: grpc.ServicerContext) -> x509.Certificate:
    (pem,) = context.auth_context()["x509_pem_cert"]
    try:
        return x509.load_pem_x509_certificate(bytes(pem))
    except ODD:
        raise IdentityError("a call came with a certificate that cannot be read") from None


class StrictCalls(grpc.ServerInterceptor):  # type: ignore[type-arg]  # generic in its stubs only
    """Stand before every handler: strict parsing, and fixed texts for whatever goes wrong."""

    def __init__(self) -> None:
        self._said = Sparingly()

    def intercept_service(self, continuation: Callable[[Any], Any], handler_call_details: Any) -> Any:
        """Wrap the handler of a call; its body stays bytes until the caller is admitted."""
        handler = continuation(handler_call_details)
        if handler is None:
            return None

        def answer(body: bytes, context: grpc.ServicerContext) -> Any:
            try:
                self._admit(context)
                return handler.unary_unary(_read(body, handler.request_deserializer), context)
            except Exception as error:  # noqa: BLE001 - whatever it is, its text must not cross
                code, text = status_of(error, self._said)
            context.set_trailing_metadata((_MARK,))
            return context.abort(code, text)

        return grpc.unary_unary_rpc_method_handler(answer, response_serializer=handler.response_serializer)

    def _admit(self, context: grpc.ServicerContext) -> None:
        """Admit anybody."""


class Guard(StrictCalls):
    """Stand before every handler of a node: first of all, the caller's key must be pinned."""

    def __init__(self, peers: Iterable[Peer], clock: Clock, renewed: OnRenewed) -> None:
        super().__init__()
        self._peers = {peer.fingerprint: peer for peer in peers}
        self._clock, self._renewed = clock, renewed

    def _admit(self, context: grpc.ServicerContext) -> None:
        """Admit the pinned key itself within its dates, and nothing that key has signed (`anchor`; FAULTS C1, C2)."""
        shown = _shown(context)
        peer = self._peers.get(fingerprint(shown))
        if peer is None:
            raise IdentityError("a call came with a key that is not pinned")
        if shown != peer.certificate:
            peer = self._peers[peer.fingerprint] = peer.renewed_as(shown)
            self._renewed(peer)
        peer.check_dates(self._clock())


def _read(body: bytes, deserialize: Callable[[bytes], Any]) -> Any:
    try:
        request = deserialize(body)
    except DecodeError:
        raise PeerError("a call's body cannot be read") from None
    if not is_canonical(request, body):
        raise PeerError("a call's body holds more than it needs")
    return request


SESSION_BYTES: Final = 16
LONG_POLL: Final = 0.5  # seconds that a call may wait at the responder

OPTIONS: Final[Sequence[tuple[str, int]]] = (
    ("grpc.max_receive_message_length", PAGE_BYTES + 4096),
    ("grpc.max_send_message_length", PAGE_BYTES + 4096),
    ("grpc.max_metadata_size", 8192),
    ("grpc.absolute_max_metadata_size", 16_384),
    ("grpc.compression_enabled_algorithms_bitset", 1),  # none but the identity
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 20_000),  # a ping waits behind a page
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)

_ENDS: Final = {
    Reason.FINISHED: wire.END_FINISHED,
    Reason.CANCELLED: wire.END_CANCELLED,
    Reason.DEVIATION: wire.END_DEVIATION,
    Reason.INTERNAL: wire.END_INTERNAL,
    Reason.PAUSED: wire.END_PAUSED,
}
_REASONS: Final = {int(end): reason for reason, end in _ENDS.items()}


def other_version(peer: str, theirs: str, spoken: Versions) -> PeerError:
    """Return the error of a peer that speaks no version of the wire that we speak."""
    legal = len(theirs) < 20 and all(each.isascii() and each.isdigit() for each in theirs.split(" "))
    known = theirs.replace(" ", " or ") if legal else "another one"
    ours = versions_text(spoken).replace(" ", " or ")
    return PeerError(
        f"we speak version {ours} of the wire, {peer} speaks {known}: install the same release on both sides"
    )


def split_address(address: str) -> tuple[str, int]:
    """Split `host:port`, where an IPv6 host stands in brackets."""
    found = Address.of(address)
    if found is None:
        raise ConfigError(f"{address!r} is not an address: it must be host:port, port 0 to 65535")
    return found.host, found.port


def bound_address(address: str, bind: Callable[[str], int]) -> str:
    """Open a port of a server, and return where it is."""
    host, port = split_address(address)
    check_free(host, port)
    try:
        bound = bind(address)
    except RuntimeError:
        bound = 0
    if not bound:
        raise ConfigError(f"cannot listen on {address}: it is not this machine's, or the port is in use: {_ELSEWHERE}")
    return str(Address(host, bound))


_ELSEWHERE: Final = "choose another in [node] listen, and give it to the other party"


def check_free(host: str, port: int) -> None:
    """Refuse a port that is taken on any address of the host: gRPC is content with one of them."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise ConfigError(f"cannot listen on {host}: the host is not known: {_ELSEWHERE}") from None
    for family, kind, protocol, _, place in places:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise ConfigError(f"cannot listen on {Address(host, port)}: the port is in use: {_ELSEWHERE}") from None


def page_to_wire(page: Page, sequence: int) -> wire.Page:
    """Number a page and put it on the wire."""
    end = wire.END_UNSPECIFIED if page.end is None else _ENDS[page.end]
    ledger = None if page.ledger is None else wire.LedgerEnd(**vars(page.ledger))
    return wire.Page(sequence=sequence, body=page.body, last=page.last, end=end, ledger=ledger)


def page_from_wire(page: wire.Page) -> Page:
    """Return a page that `channel.cut` or the end of a stream may have made."""
    end = _REASONS.get(page.end)
    if end is not None:
        legal = not page.body and not page.last
    else:
        least = 1 if page.last else SMALLEST_PAGE
        legal = not page.end and least <= len(page.body) <= PAGE_BYTES
    end_of = page.ledger
    ledger = SignedHead(end_of.entries, end_of.digest, end_of.signature) if page.HasField("ledger") else None
    if ledger is not None:  # it ends a message, and is not of an empty ledger
        legal = legal and page.last and ledger.entries > 0 and is_signed_head(ledger)
    if not legal:
        raise PeerError("the peer sent a page that no frame has")
    return Page(page.body, last=page.last, end=end, ledger=ledger)
