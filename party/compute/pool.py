"""Worker processes of this machine.

They are spawned, never forked: a fork with a live channel of gRPC deadlocks, and would inherit state. They start with
the first task, as few runs need them: a started one is a process of its own at once, and loads its code meanwhile.

Each worker has a pipe whose other end only the party holds. So a worker that dies is noticed at once, as the end of its
pipe, and a party that dies is noticed by its workers, whatever killed it. A worker that is at a task shows that it
lives; one that is stopped, and not dead, does not, and is ended. The task of a worker that died is done again by a
fresh one; a task that kills that one too ends the run.
"""

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from threading import Lock
from typing import Any, Self, TypeVar

from party.closing import Closing
from party.compute.ordered import AHEAD, Heedful, WorkerError
from party.compute.worker import serve

A = TypeVar("A")
B = TypeVar("B")

_SPAWN = get_context("spawn")
_JOIN_SECONDS = 5.0
_SILENT_LOOKS = 120  # of half a second; no time that this process has slept, too, counts


class LocalPool(Heedful, Closing):
    """Worker processes, which start with the first task; a context, at whose end they end.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._lock = Lock()
        self._closed = False
        self._workers: list[_Worker] = []
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="worker")
        self._idle: SimpleQueue[_Worker] = SimpleQueue()

    @classmethod
    def started(cls, workers: int) -> Self:
        """Start this many worker processes at once.

        Raises:
            WorkerError: One cannot be started.
        """
        pool = cls(workers)
        try:
            pool._fill()
        except BaseException:
            pool.close()
            raise
        return pool

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the processes."""
        return tuple(worker.pid for worker in self._workers)

    @property
    def ahead(self) -> int:
        """Two tasks a worker."""
        return AHEAD * self._count

    def look(self) -> None:
        """See whether anybody waits for us, and end workers that have shown no sign of life for a minute."""
        super().look()
        for worker in tuple(self._workers):
            if worker.looked_for() > _SILENT_LOOKS:
                worker.kill()

    def close(self) -> None:
        """End all workers, in the middle of their work if need be."""
        with self._lock:
            self._closed = True
            workers = tuple(self._workers)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        self._threads.shutdown()
        for worker in workers:
            worker.hang_up()

    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        self._fill()
        return self._threads.submit(self._call, function, task)

    def _fill(self) -> None:
        while len(self._workers) < self._count:
            self._idle.put(self._start())

    def _call(self, function: Callable[[A], B], task: A) -> B:
        worker = self._idle.get()  # there are as many threads as workers
        try:
            try:
                result: B = worker.call(function, task)
            except _WorkerDiedError:
                worker = self._replace(worker)
                result = worker.call(function, task)
        except _WorkerDiedError as died:
            raise WorkerError(
                f"two worker processes in a row ended over the same task, the last {died}; if memory ran out, use "
                "fewer workers, or a machine with more"
            ) from None
        else:
            return result
        finally:
            self._idle.put(worker)

    def _replace(self, worker: "_Worker") -> "_Worker":
        fresh = self._start()
        self._workers.remove(worker)
        worker.hang_up()
        return fresh

    def _start(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise WorkerError("the workers have been ended")
            worker = _Worker.started()
            self._workers.append(worker)
            return worker


class _WorkerDiedError(Exception):
    """A worker's process ended; the text says how."""


class _Worker:
    """One process and our end of its pipe. One thread at a time calls it."""

    def __init__(self, process: SpawnProcess, connection: "Connection[Any, Any]") -> None:
        self._process, self._connection = process, connection
        self.pid = process.pid or 0
        self._at_work, self._looks = False, 0

    @classmethod
    def started(cls) -> Self:
        """Start a process.

        Raises:
            WorkerError: It cannot be started.
        """
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=serve, args=(theirs,), daemon=True)
        try:
            with _interruptions_held_back():
                process.start()
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error.strerror}; use fewer workers") from None
        finally:
            theirs.close()
        return cls(process, ours)

    def call(self, function: Callable[[Any], Any], task: object) -> Any:
        """Have one task done.

        Raises:
            _WorkerDiedError: The process died over it, or before.
        """
        self._at_work, self._looks = True, 0
        try:
            self._connection.send((function, task))
            while (answer := self._connection.recv()) is None:
                self._looks = 0
        except (EOFError, OSError):
            raise _WorkerDiedError(self._obituary()) from None
        finally:
            self._at_work = False
        done, result = answer
        if not done:
            raise result
        return result

    def looked_for(self) -> int:
        """Note that a sign of life is looked for; return how often it has been in vain."""
        self._looks += self._at_work
        return self._looks if self._at_work else 0

    def _obituary(self) -> str:
        self._process.join(_JOIN_SECONDS)
        code = self._process.exitcode
        self.kill()
        return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"

    def kill(self) -> None:
        """End the process; one that the system does not let go of is left to it."""
        self._process.kill()
        self._process.join(_JOIN_SECONDS)

    def hang_up(self) -> None:
        """Let go of the pipe, once nobody waits on it."""
        self._connection.close()


@contextmanager
def _interruptions_held_back() -> Iterator[None]:
    """Let a process start with SIGINT blocked: a Ctrl-C then ends the party only, which ends its workers."""
    resource_tracker.ensure_running()  # NB: unblocks SIGINT when it starts, so it has to run before
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
