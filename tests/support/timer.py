"""Real time that a test may move ahead, so that nobody has to sleep until patience ends; or time that only it moves."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOOK_SECONDS = 0.005
_MOST_SKIPS = 2000


class SkippingTimer:
    """The machine's monotonic clock and what was skipped.

    Args:
        stands: Time passes by skipping alone.
    """

    def __init__(self, *, stands: bool = False) -> None:
        self._ahead = 0.0
        self._stands = stands
        self._lock = threading.Lock()
        self._waiting = 0

    def now(self) -> float:
        return self._ahead + (0.0 if self._stands else time.monotonic())

    @property
    def waiting(self) -> int:
        """How many threads wait for a condition."""
        return self._waiting

    def skip(self, seconds: float) -> None:
        """Move ahead: every wait that is over by then ends."""
        self._ahead += seconds

    @property
    def skipped(self) -> float:
        """Seconds that were skipped so far."""
        return self._ahead

    def settle(self) -> None:
        """Let threads that a skip has woken do what they do then."""
        time.sleep(10 * _LOOK_SECONDS)

    def skip_until(self, holds: Callable[[], object], seconds: float) -> None:
        """Skip these seconds again and again, as long as it takes until something holds."""
        for _ in range(_MOST_SKIPS):
            if holds():
                return
            self.skip(seconds)
            time.sleep(_LOOK_SECONDS)  # the threads that have woken need a moment
        raise AssertionError("skipping time changed nothing")

    def wait_for(self, condition: threading.Condition, holds: Callable[[], object], timeout: float | None) -> None:
        deadline = None if timeout is None else self.now() + timeout
        with self._counted():
            while not holds() and (deadline is None or self.now() < deadline):
                condition.wait(_LOOK_SECONDS)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def wait(self, event: threading.Event, timeout: float) -> bool:
        deadline = self.now() + timeout
        while not event.wait(_LOOK_SECONDS) and self.now() < deadline:
            pass
        return event.is_set()
