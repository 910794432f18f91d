"""Threads of this process: numpy and AES let go of the interpreter, and nothing is copied.

They work at blocks of records (DESIGN 15). Who encrypts for `paillier` holds the interpreter, and needs processes.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from party.closing import Closing
from party.compute.ordered import AHEAD, Heedful

A = TypeVar("A")
B = TypeVar("B")


class Threads(Heedful, Closing):
    """So many threads; a context, at whose end they end."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="block")

    @property
    def ahead(self) -> int:
        """Two tasks a thread."""
        return AHEAD * self._count

    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        return self._threads.submit(function, task)

    def close(self) -> None:
        """End all threads, each after the block that it is at."""
        self._threads.shutdown(cancel_futures=True)
