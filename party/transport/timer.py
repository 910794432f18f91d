"""How long a party waits, and the time that its waits are measured by. A test brings a time of its own."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from party.errors import ConfigError

_LEAST_PATIENCE, _MOST_PATIENCE = 1.0, 86_400.0


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


@dataclass(frozen=True)
class Waits:
    """How long a party waits for its peer.

    Args:
        patience: Seconds without a sign of life before the peer counts as lost.
        silence: Seconds without a frame from a peer that lives: computing takes time, but not for ever.
        timer: Measures both.

    Raises:
        ConfigError: Patience is out of its range.
    """

    patience: float = 30.0
    silence: float = 3600.0
    timer: Timer = REAL_TIME

    def __post_init__(self) -> None:
        if not _LEAST_PATIENCE <= self.patience <= _MOST_PATIENCE:
            raise ConfigError(f"patience must be {_LEAST_PATIENCE:g} to {_MOST_PATIENCE:g} seconds")


USUAL_WAITS: Final = Waits()
