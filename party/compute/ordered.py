"""Tasks as futures: results in order, only a few tasks ahead, so that memory stays flat and a slow peer slows us.

No wait for a result is without end: twice a second we look whether anybody still waits for it.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from protocols.errors import InputError

AHEAD = 2  # tasks per worker: one in work, one waiting

A = TypeVar("A")
B = TypeVar("B")

_LOOK_SECONDS = 0.5


class WorkerError(InputError):
    """Workers cannot be had, or were lost with their work; the text says what to do."""


OUT_OF_MEMORY = "a worker ran out of memory: use fewer workers, or a machine with more memory"


def ordered_map(
    submit: Callable[[A], Future[B]], result: Callable[[Future[B]], B], tasks: Iterable[A], ahead: int
) -> Iterator[B]:
    """Yield the results of all tasks in order; closed early, it cancels what waits.

    Args:
        submit: Starts a task.
        result: Waits for it.
        tasks: Taken one by one.
        ahead: How many tasks may be started before the first of them is asked for.

    Raises:
        WorkerError: A worker ran out of memory.
    """
    started: deque[Future[B]] = deque()
    try:
        for task in tasks:
            started.append(submit(task))
            if len(started) >= ahead:
                yield _take(started, result)
        while started:
            yield _take(started, result)
    finally:
        for future in started:
            future.cancel()


class Heedful(ABC):
    """Workers whose results are waited for as long as `heed` raises nothing."""

    def __init__(self) -> None:
        self.heed: Callable[[], None] = lambda: None

    @property
    @abstractmethod
    def ahead(self) -> int:
        """How many tasks are started before the first result is waited for: two a worker."""

    @abstractmethod
    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        """Start a task."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply a function of a module to tasks; results come in order.

        Raises:
            WorkerError: Workers were lost, or ran out of memory.
        """
        return ordered_map(partial(self._start_task, function), self.wait, tasks, self.ahead)

    def submit(self, function: Callable[[A], B], task: A) -> Callable[[], B]:
        """Start one task; return what waits for its result.

        Raises:
            WorkerError: Workers were lost, or ran out of memory.
        """
        started = self._start_task(function, task)
        return lambda: _result(started, self.wait)

    def look(self) -> None:
        """See, twice a second while a result is waited for, whether it can still come.

        Raises:
            Exception: It cannot, or what `heed` raises.
        """
        self.heed()

    def wait(self, future: Future[B]) -> B:
        """Wait for a result.

        Raises:
            Exception: What the task, or `look`, has raised.
        """
        while True:
            try:
                return future.result(_LOOK_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                self.look()


def _take(started: deque[Future[B]], result: Callable[[Future[B]], B]) -> B:
    """Wait for the oldest task. It stays in the queue until it is done, so that an interruption cancels it too."""
    value = _result(started[0], result)
    started.popleft()
    return value


def _result(future: Future[B], result: Callable[[Future[B]], B]) -> B:
    try:
        return result(future)
    except MemoryError:
        raise WorkerError(OUT_OF_MEMORY) from None
