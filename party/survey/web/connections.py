"""Connections that ask for nothing make room: a head that never ends cannot keep others out.

uvicorn answers 503 to everybody while too many connections are open, and waits for a head, or for a reader of what it
writes, as long as it takes. Here a connection without a request in progress has some seconds for one, a head has some
bytes, and a reader some seconds for what is ready for it. Where there are too many connections, the address with most
that wait for their other end loses the oldest. A request whose head has arrived is cut off only if nobody reads.

TLS begins here, not in the listener, so that a handshake that does not end counts as idle as well.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, Self, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from party.survey.web.limits import ConnectionLimits, Cut, network

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSWER_431: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class CollectorProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with limits and room for whoever is new.

    NB: uvicorn has no setting for these limits, and promises nothing of its class beyond `asyncio.Protocol`: so
    pyproject.toml bounds its version, and a test names what is relied on.
    """

    tls: SSLContext | None = None
    """By which it is encrypted; None for connections in the clear."""
    limits: ConnectionLimits
    report_cut: Callable[[Cut], None]
    """Told of each connection that was cut."""

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
