"""What a caller may take: connections that ask for nothing make room, and calls a minute are limited.

uvicorn answers 503 to everybody while too many connections are open, and waits for a head, or for a reader of what it
writes, as long as it takes. Here a connection without a request in progress has some seconds for one, a head has some
bytes, and a reader some seconds for what is ready for it. Where there are too many connections, the address with most
that wait for their other end loses the oldest. A request whose head has arrived is cut off only if nobody reads.

TLS begins here, not in the listener, so that a handshake that does not end counts as idle as well.

Calls are counted by a bucket per address, which fills with time. It is kept in memory, and forgotten there.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, Self, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from party.survey.web.submissions import Cut

_MOST_ADDRESSES = 10_000
_MINUTE = 60.0


class CallLimits:
    """Lets each address call so often per minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._most, self._clock = float(per_minute), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Take one call of an address; return whether it is within its limit."""
        now, caller = self._clock(), network(address)
        left, then = self._buckets.pop(caller, (self._most, now))
        left = min(self._most, left + (now - then) * self._most / _MINUTE)
        fits = left >= 1
        self._buckets[caller] = (left - 1 if fits else left, now)
        if len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return fits


def network(address: str) -> str:
    """Return what one caller has: an address, of IPv6 the 64 bits that a household is given.

    >>> network("2001:db8:1:2:3:4:5:6"), network("203.0.113.9")
    ('2001:db8:1:2::', '203.0.113.9')
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address[:64]
    return str(IPv6Address(int(known) >> 64 << 64)) if known.version == 6 else str(known)


@dataclass(frozen=True)
class ConnectionLimits:
    """What connections may take.

    A head has `head_seconds` from the moment when none is in progress, and `head_bytes`: one of fewer than twice as
    many may pass. Where more is ready than buffers hold, a reader has `read_seconds`. Fewer than `at_once` are kept.
    """

    head_seconds: float = 10
    head_bytes: int = 16384
    read_seconds: float = 30
    at_once: int = 512


USUAL_CONNECTIONS: Final = ConnectionLimits()


if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSWER_431: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class CollectorProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with limits and room for newcomers.

    NB: uvicorn has no setting for these limits, and promises nothing of its class beyond `asyncio.Protocol`: so
    pyproject.toml bounds its version, and a test names what is relied on.
    """

    tls: SSLContext | None = None
    """By which it is encrypted; None for connections in the clear."""
    limits: ConnectionLimits
    report_cut: Callable[[Cut], None]
    """Called with each connection that was cut."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._late: asyncio.TimerHandle | None = None
        self._handshake: asyncio.Task[None] | None = None
        self._early = b""
        self._unread = self._too_long = False
        self.caller, self.since = "", 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a head, and make room for this connection."""
        super().connection_made(transport)
        self.caller = network("" if self.client is None else self.client[0])
        self._wait(self.limits.head_seconds)
        self._make_room()
        if self.tls is not None and not transport.is_closing():
            self._handshake = self.loop.create_task(self._shake_hands(transport, self.tls))

    async def _shake_hands(self, transport: asyncio.Transport, tls: SSLContext) -> None:
        """Begin TLS, then read what has come by it meanwhile."""
        try:
            safe = await self.loop.start_tls(
                transport, self, tls, server_side=True, ssl_handshake_timeout=self.limits.head_seconds
            )
        except OSError:  # its other end is gone, late, or speaks no TLS
            self.drop()
            return
        self._handshake = None
        if safe is not None and not transport.is_closing():
            super().connection_made(safe)
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Take what has come, once TLS has begun, in pieces that a long head cannot hide in."""
        if self._handshake is not None:
            self._early += data
            return
        most = self.limits.head_bytes
        for start in range(0, len(data), most):
            if self._too_long or self.transport.is_closing():
                return
            super().data_received(data[start : start + most])
            if self.is_idle and len(self.conn.trailing_data[0]) > most:
                self._refuse_head()

    def _refuse_head(self) -> None:
        """Answer 431; what still comes is thrown away until the time for a head is over, so that the answer is read."""
        self._too_long = True
        self.transport.write(_ANSWER_431)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.report_cut(Cut.LONG_HEAD)

    def pause_writing(self) -> None:
        """Begin to wait for the reader: buffers are full."""
        super().pause_writing()
        self._unread = True
        self._wait(self.limits.read_seconds)

    def resume_writing(self) -> None:
        """Stop to wait for the reader."""
        super().resume_writing()
        self._unread = False
        self._unwait()
        if self.is_idle:
            self._wait(self.limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._unwait()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what has come; a whole head ends the waiting."""
        super().handle_events()
        if not self.waits:
            self._unwait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head, unless it is there already."""
        super().on_response_complete()
        if self.is_idle and not self._unread:
            self._wait(self.limits.head_seconds)

    @property
    def waits(self) -> bool:
        """Whether nothing happens before its other end sends or reads."""
        return self.is_idle or self._unread

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self._unwait()
        self.since = self.loop.time()
        self._late = self.loop.call_later(seconds, self.drop)

    def _unwait(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def drop(self) -> None:
        """End the connection at once, even if its other end reads nothing."""
        self._unwait()
        self.connections.discard(self)
        self.transport.abort()
        if self._unread:
            self.report_cut(Cut.UNREAD)

    def _make_room(self) -> None:
        """Drop one that waits for its other end if there are too many: the oldest of the address with the most."""
        if len(self.connections) < self.limits.at_once:
            return
        waiting = [each for each in cast("Iterable[Self]", self.connections) if each.waits]
        held = Counter(each.caller for each in waiting)
        max(waiting, key=lambda each: (held[each.caller], -each.since)).drop()


def protocol_with(
    tls: SSLContext | None, limits: ConnectionLimits, report_cut: Callable[[Cut], None]
) -> type[CollectorProtocol]:
    """Return the protocol of a server that has a certificate, or none."""
    return type(
        "CollectorProtocol",
        (CollectorProtocol,),
        {"tls": tls, "limits": limits, "report_cut": staticmethod(report_cut)},
    )


_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_NO_POLICY: Final = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; form-action 'none'")
_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")


class SecureHeaders:
    """Puts the headers of all answers on each, and reports to the collector what nobody foresaw."""

    def __init__(self, app: ASGIApp, fault: Callable[[Exception], None], *, has_tls: bool) -> None:
        self._app, self._fault = app, fault
        self._headers = [*_HEADERS, *([_HSTS] if has_tls else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                missing = [] if _NO_POLICY[0] in own else [_NO_POLICY]
                message["headers"] = [*message["headers"], *self._headers, *missing]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  # the last frame of a call, whose sender has got one line
            self._fault(error)
        return None
