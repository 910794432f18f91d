"""The time that waits are measured by: seconds that never go back. A test brings its own."""

import threading
import time
from collections.abc import Callable
from typing import Final, Protocol


class Timer(Protocol):
    """Monotonic time, and waiting by it."""

    def now(self) -> float:
        """Return seconds since some moment."""
        ...

    def wait_for(self, condition: threading.Condition, holds: Callable[[], object], timeout: float | None) -> None:
        """Wait, with the condition's lock held, until something holds or the time is over."""
        ...

    def wait(self, event: threading.Event, timeout: float) -> bool:
        """Wait for an event; tell whether it has come."""
        ...


class _RealTime:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def wait_for(self, condition: threading.Condition, holds: Callable[[], object], timeout: float | None) -> None:
        condition.wait_for(holds, timeout)

    def wait(self, event: threading.Event, timeout: float) -> bool:
        return event.wait(timeout)


REAL_TIME: Final[Timer] = _RealTime()
