"""Connections that ask for nothing make room: a head that never ends cannot keep others out.

uvicorn answers 503 to everybody while too many connections are open, and waits for a head as long as it takes. Here a
connection without a request in progress has ten seconds for one; and where there are too many, the address with the
most of these loses the oldest. A request whose head has arrived is never cut off.

TLS begins here, not in the listener, so that a handshake that does not end counts as idle as well.
"""

import asyncio
from collections import Counter
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, Final, Self, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from party.survey.web.limits import network

SECONDS_FOR_A_HEAD: Final = 10

if TYPE_CHECKING:
    from collections.abc import Iterable


class CollectorProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a time for heads and room for whoever is new."""

    tls: SSLContext | None = None
    """By which it is encrypted; None for connections in the clear."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._late: asyncio.TimerHandle | None = None
        self._handshake: asyncio.Task[None] | None = None
        self._early = b""
        self.caller, self.since = "", 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a head, and make room for this connection."""
        super().connection_made(transport)
        self.caller = network("" if self.client is None else self.client[0])
        self._wait()
        self._make_room()
        if self.tls is not None and not transport.is_closing():
            self._handshake = self.loop.create_task(self._shake_hands(transport, self.tls))

    async def _shake_hands(self, transport: asyncio.Transport, tls: SSLContext) -> None:
        """Begin TLS, then read what has come by it meanwhile."""
        try:
            safe = await self.loop.start_tls(
                transport, self, tls, server_side=True, ssl_handshake_timeout=SECONDS_FOR_A_HEAD
            )
        except OSError:  # its other end is gone, late, or speaks no TLS
            self.drop()
            return
        self._handshake = None
        if safe is not None and not transport.is_closing():
            super().connection_made(safe)
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Take what has come, once TLS has begun."""
        if self._handshake is not None:
            self._early += data
        elif data:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._unwait()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what has come; a whole head ends the waiting."""
        super().handle_events()
        if not self.is_idle:
            self._unwait()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head, unless it is there already."""
        super().on_response_complete()
        if self.is_idle:
            self._wait()

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def _wait(self) -> None:
        self._unwait()
        self.since = self.loop.time()
        self._late = self.loop.call_later(SECONDS_FOR_A_HEAD, self.drop)

    def _unwait(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def drop(self) -> None:
        """End the connection at once, even if its other end reads nothing."""
        self._unwait()
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        """Drop one idle connection if there are too many: the oldest of the address that has the most."""
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency:
            return
        idle = [each for each in cast("Iterable[Self]", self.connections) if each.is_idle]
        held = Counter(each.caller for each in idle)
        max(idle, key=lambda each: (held[each.caller], -each.since)).drop()


def protocol_with(tls: SSLContext | None) -> type[CollectorProtocol]:
    """Return the protocol of a server that has a certificate, or none."""
    return type("CollectorProtocol", (CollectorProtocol,), {"tls": tls})
