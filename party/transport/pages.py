"""Pages: the pieces in which frames travel, and the bounded queues in which they wait."""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

from party.errors import ConfigError
from party.wire.codec import MAX_FRAME
from protocols.errors import PeerError
from protocols.messages import SignedHead
from protocols.two_party.agreement import SPOKEN, Versions

_LOOK_SECONDS: Final = 0.5
_STILL_SECONDS: Final = 5.0
_LEAST_PATIENCE, _MOST_PATIENCE = 1.0, 86_400.0
_SAID_AGAIN_SECONDS: Final = 60.0


class Timer(Protocol):
    """Monotonic time, and waiting by it."""

    def now(self) -> float:
        """Return seconds since some moment."""

    def wait_for(self, condition: threading.Condition, holds: Callable[[], object], timeout: float | None) -> None:
        """Wait, with the condition's lock held, until something holds or the time is over."""

    def wait(self, event: threading.Event, timeout: float) -> bool:
        """Wait for an event; return whether it has come."""


class AwakeTime:
    """The machine's monotonic clock, less the time in which this process stood still, as when a laptop sleeps.

    Who has slept must not take the others for lost, who had no chance to call. A thread looks at the clock twice a
    second; where nobody has looked for longer than `_STILL_SECONDS`, nothing of this process has run. If that thread
    has died (a fork has none, say), that proves nothing: time has passed, and another thread looks from then on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looking = threading.Lock()
        self._looker: threading.Thread | None = None
        self._last = 0.0
        self._stood_still = 0.0

    def now(self) -> float:
        """Return the seconds that this process has been awake, since some moment."""
        with self._looking:
            moment = self._clock()
            if self._looker is None or not self._looker.is_alive():
                self._looker = threading.Thread(target=self._look, name="clock", daemon=True)
                self._looker.start()
            elif moment - self._last > _STILL_SECONDS:
                self._stood_still += moment - self._last
            self._last = moment
            return moment - self._stood_still

    def _look(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            self.now()

    def wait_for(self, condition: threading.Condition, holds: Callable[[], object], timeout: float | None) -> None:
        """Wait, with the condition's lock held, until something holds or the time is over."""
        deadline = None if timeout is None else self.now() + timeout
        while not condition.wait_for(holds, None if deadline is None else max(deadline - self.now(), 0)):
            if deadline is not None and self.now() >= deadline:
                return

    def wait(self, event: threading.Event, timeout: float) -> bool:
        """Wait for an event; return whether it has come."""
        deadline = self.now() + timeout
        while not event.wait(max(deadline - self.now(), 0)):
            if self.now() >= deadline:
                return False
        return True


REAL_TIME: Final[Timer] = AwakeTime()


class Sparingly:
    """Lets what a peer could make us say at will be said once a minute, key by key."""

    def __init__(self, timer: Timer = REAL_TIME) -> None:
        self._timer = timer
        self._saying = threading.Lock()
        self._said: dict[Hashable, float] = {}

    def may_say(self, key: Hashable) -> bool:
        """Return whether it has not been said for a minute; it counts as said from now on."""
        with self._saying:
            now = self._timer.now()
            may = key not in self._said or now - self._said[key] >= _SAID_AGAIN_SECONDS
            if may:
                self._said[key] = now
            return may


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
