"""Time as transports take it: waiting by a clock that stops where this process does, and what is said once a minute."""

import threading
import time
from collections.abc import Callable, Hashable
from typing import Final, Protocol

_LOOK_SECONDS: Final = 0.5
_STILL_SECONDS: Final = 5.0
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
