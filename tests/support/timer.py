"""Real time that a test may move ahead, so that nobody has to sleep until patience ends."""

import threading
import time
from collections.abc import Callable

_LOOK_SECONDS = 0.005
_MOST_SKIPS = 2000


class SkippingTimer:
    """The machine's monotonic clock and what was skipped."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def now(self) -> float:
        return time.monotonic() + self._ahead

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
        while not holds() and (deadline is None or self.now() < deadline):
            condition.wait(_LOOK_SECONDS)

    def wait(self, event: threading.Event, timeout: float) -> bool:
        deadline = self.now() + timeout
        while not event.wait(_LOOK_SECONDS) and self.now() < deadline:
            pass
        return event.is_set()
