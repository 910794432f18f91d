"""Connections that ask for nothing make room: a head that never ends cannot keep others out.

uvicorn answers 503 to everybody while too many connections are open, and waits for a head as long as it takes. Here a
connection without a request in progress has ten seconds for one; and where there are too many, the address with the
most of these loses the oldest. A request whose head has arrived is never cut off.
"""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final, Self, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from party.survey.web.limits import network

SECONDS_FOR_A_HEAD: Final = 10

if TYPE_CHECKING:
    from collections.abc import Iterable


class CollectorProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a time for heads and room for whoever is new."""

    _late: asyncio.TimerHandle | None = None
    caller = ""
    since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Begin to wait for a head, and make room for this connection."""
        super().connection_made(transport)
        self.caller = network("" if self.client is None else self.client[0])
        self._wait()
        self._make_room()

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
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        """Drop one idle connection if there are too many: the oldest of the address that has the most."""
        if self.limit_concurrency is None or len(self.connections) < self.limit_concurrency:
            return
        idle = [each for each in cast("Iterable[Self]", self.connections) if each.is_idle]
        held = Counter(each.caller for each in idle)
        max(idle, key=lambda each: (held[each.caller], -each.since)).drop()
