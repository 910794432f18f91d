"""Pages: the pieces in which frames travel, and the bounded queues in which they wait."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from party.errors import ConfigError
from party.transport.clocks import REAL_TIME, Timer
from party.wire.codec import MAX_FRAME
from protocols.errors import PeerError
from protocols.messages import SignedHead
from protocols.two_party.agreement import SPOKEN, Versions

_LEAST_PATIENCE, _MOST_PATIENCE = 1.0, 86_400.0


@dataclass(frozen=True)
class Waits:
    """How long a party waits for its peer, and which versions of the messages it speaks.

    After `patience` seconds without a sign of life the peer counts as lost, after `silence` seconds without a frame
    too: computing takes time, but not for ever. `heed` is called again and again while no session is open yet; what it
    raises ends the waiting. Versions `spoken` have the newest first.
    """

    patience: float = 30.0
    silence: float = 3600.0
    timer: Timer = REAL_TIME
    heed: Callable[[], None] | None = None
    spoken: Versions = SPOKEN

    def __post_init__(self) -> None:
        if not _LEAST_PATIENCE <= self.patience <= _MOST_PATIENCE:
            raise ConfigError(f"patience must be {_LEAST_PATIENCE:g} to {_MOST_PATIENCE:g} seconds")


USUAL_WAITS: Final = Waits()


PAGE_BYTES: Final = 1 << 19  # at most; a line of 20 kB/s, met without warning, takes less than the usual patience
SMALLEST_PAGE: Final = 1 << 14  # but for the last of a frame
WINDOW: Final = 8  # pages that wait in each queue
MAX_UNREAD: Final = MAX_FRAME + 2 * WINDOW * PAGE_BYTES
_FIRST_PAGE: Final = 1 << 16
_QUICK, _SLOW = 0.25, 1.0


class Reason(Enum):
    """Why a stream ends."""

    FINISHED = "finished"
    CANCELLED = "cancelled"
    DEVIATION = "deviation"
    INTERNAL = "internal"
    PAUSED = "paused"


@dataclass(frozen=True, repr=False)
class Page:
    """A piece of a frame, with how far the sender's signed `ledger` leads; or, with `end`, the last of a stream."""

    body: bytes = b""
    last: bool = False
    end: Reason | None = None
    ledger: SignedHead | None = None


class Pace:
    """How many bytes the next page has: what this line carries in about a second, as a whole page is a sign of life."""

    def __init__(self) -> None:
        self.size = _FIRST_PAGE

    def took(self, page: Page, seconds: float) -> None:
        """Learn how long a page was on its way, there and the answer back."""
        if seconds > _SLOW:
            self.size = max(SMALLEST_PAGE, self.size // 2)
        elif seconds < _QUICK and len(page.body) >= self.size:
            self.size = min(PAGE_BYTES, self.size * 2)


def cut(frame: bytes, pace: Pace, ledger: SignedHead | None = None) -> Iterator[Page]:
    """Cut a frame into pages, each as large as the pace is when it is asked for; the last shows the ledger's end."""
    start = 0
    while start < len(frame):
        end = start + pace.size
        last = end >= len(frame)
        yield Page(frame[start:end], last=last, ledger=ledger if last else None)
        start = end


class Pages:
    """A bounded queue of pages that either side can make fail; its head stays until removed: empty is delivered."""

    def __init__(self, limit: int = WINDOW, timer: Timer = REAL_TIME) -> None:
        self._least = self._limit = limit
        self._timer = timer
        self._pages: deque[Page] = deque()
        self._changed = threading.Condition()  # NB: reentrant
        self._failure: Exception | None = None
        self._closed: Exception | None = None
        self._at_once = False

    def put(self, page: Page, timeout: float | None = None) -> bool:
        """Wait for room and append; return whether there was room in time. An end needs none."""
        with self._changed:
            self._wait(lambda: self._failure or self._closed or page.end or len(self._pages) < self._limit, timeout)
            if error := self._failure or self._closed:
                raise error
            room = page.end is not None or len(self._pages) < self._limit
            if room:
                self._pages.append(page)
                self._changed.notify_all()
            return room

    def head(self, timeout: float | None = None) -> Page | None:
        """Wait for a page and return it without removing it; None when none came in time."""
        with self._changed:
            self._wait(lambda: self._failure or self._pages, timeout)
            self.check()
            return self._pages[0] if self._pages else None

    def check(self) -> None:
        """Make sure that there is, or may come, another page."""
        with self._changed:
            if self._failure and (self._at_once or not self._pages):
                raise self._failure

    def remove(self, page: Page) -> None:
        """Remove this page if it is still the head."""
        with self._changed:
            if self._pages and self._pages[0] is page:
                self._pages.popleft()
                if len(self._pages) < self._least:
                    self._limit = self._least
                self._changed.notify_all()

    def finish(self) -> None:
        """Append the end of a stream that is complete."""
        with self._changed:
            self._pages.append(Page(end=Reason.FINISHED))
            self._changed.notify_all()

    def refuse(self, error: Exception) -> None:
        """Take no more: who would put another page gets the error."""
        with self._changed:
            self._closed = error
            self._changed.notify_all()

    def replace(self, page: Page, error: Exception) -> None:
        """Drop all pages for this last one; who would put another gets the error."""
        with self._changed:
            self._closed = error
            self._pages.clear()
            self._pages.append(page)
            self._changed.notify_all()

    def widen(self) -> None:
        """Make room in a full queue, until it has been emptied again."""
        with self._changed:
            if len(self._pages) < self._limit:
                return
            if sum(max(len(page.body), SMALLEST_PAGE) for page in self._pages) >= MAX_UNREAD:
                raise PeerError("the peer sends more than it may while it does not receive")
            self._limit += self._least
            self._changed.notify_all()

    def fail(self, error: Exception, *, at_once: bool = True) -> None:
        """Let every wait raise this error, the first one given; not `at_once`: hand out the pages before."""
        with self._changed:
            if self._failure is None:
                self._failure, self._at_once = error, at_once
            self._changed.notify_all()

    def wait_delivered(self, *, end: bool, timeout: float | None = None) -> bool:
        """Wait until nothing is left, or nothing but the end; return whether that came to pass."""
        with self._changed:
            self._wait(lambda: self._failure or self._delivered(end=end), timeout)
            if self._failure and not self._delivered(end=end):
                raise self._failure
            return self._delivered(end=end)

    def _wait(self, holds: Callable[[], object], timeout: float | None) -> None:
        self._timer.wait_for(self._changed, holds, timeout)

    def _delivered(self, *, end: bool) -> bool:
        return not self._pages or (not end and self._pages[0].end is not None)

    @property
    def idle(self) -> bool:
        """Whether nothing is left, or nothing but the end."""
        with self._changed:
            return self._delivered(end=False)

    @property
    def failure(self) -> Exception | None:
        """What `fail` was given first."""
        return self._failure

    @property
    def ended(self) -> bool:
        """Whether the stream's last page is here."""
        with self._changed:
            return bool(self._pages) and self._pages[-1].end is not None

    @property
    def unread(self) -> bool:
        """Whether a piece of a frame waits."""
        with self._changed:
            return bool(self._pages) and self._pages[0].end is None
