"""What a process that runs for weeks says again every day."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from party.transport.pages import REAL_TIME, Timer

DAY_SECONDS: Final = 86_400.0


@contextmanager
def repeated_daily(task: Callable[[], None], timer: Timer = REAL_TIME) -> Iterator[None]:
    """Call a task once a day, by a thread of its own, the first time in a day.

    Args:
        task: Must raise nothing.
        timer: Tells when a day is over.
    """
    over = threading.Event()

    def repeat() -> None:
        while not timer.wait(over, DAY_SECONDS):
            task()

    thread = threading.Thread(target=repeat, name="daily", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
