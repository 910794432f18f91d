"""Worker processes of this machine encrypt for a party; their results come in order, and a dead worker is replaced.

They are spawned, never forked: a fork with a live channel of gRPC deadlocks, and would inherit state. They start with
the first task, as few runs need them: a started one is a process of its own at once, and loads its code meanwhile.

Each worker has a pipe whose other end only the party holds. So a worker that dies is noticed at once, as the end of its
pipe, and a party that dies is noticed by its workers, whatever killed it. A worker that is at a task shows that it
lives; one that is stopped, and not dead, does not, and is ended. The task of a worker that died is done again by a
fresh one; a task that kills that one too ends the run.

A task of encryption holds our private key and the plaintexts of one page, and nothing more. The tables of the key are
made once per process. Chance comes from the operating system, asked by the worker itself: no worker starts from
another's state (FAULTS case 27), and a task that is done twice gives different ciphertexts.

Only a few tasks are ahead of the results that are taken, so that memory stays flat and a slow peer slows us. No wait
for a result is without end: twice a second we look whether anybody still waits for it.
"""

import os
import secrets
import signal
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from threading import Lock
from typing import Any, Self, TypeVar

from party.closing import Closing
from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError
from protocols.work import PageEncryptor, Workers

A = TypeVar("A")
B = TypeVar("B")

AHEAD = 2  # tasks per worker: one in work, one waiting
_LOOK_SECONDS = 0.5


class WorkerError(InputError):
    """Workers cannot be had, or were lost with their work; the text says what to do."""


OUT_OF_MEMORY = "a worker ran out of memory: use fewer workers, or a machine with more memory"


def ordered_map(
    submit: Callable[[A], Future[B]], result: Callable[[Future[B]], B], tasks: Iterable[A], ahead: int
) -> Iterator[B]:
    """Yield the results of all tasks in order; closed early, it cancels what waits."""
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

    def __init__(self, count: int) -> None:
        self._count = count
        self.heed: Callable[[], None] = lambda: None

    @property
    def ahead(self) -> int:
        """How many tasks are started before the first result is waited for: two a worker."""
        return AHEAD * self._count

    @abstractmethod
    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        """Start a task."""

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        """Apply a function of a module to tasks; results come in order."""
        return ordered_map(partial(self._start_task, function), self.wait, tasks, self.ahead)

    def submit(self, function: Callable[[A], B], task: A) -> Callable[[], B]:
        """Start one task; return what waits for its result."""
        started = self._start_task(function, task)
        return lambda: _result(started, self.wait)

    def look(self) -> None:
        """See, twice a second while a result is waited for, whether it can still come."""
        self.heed()

    def wait(self, future: Future[B]) -> B:
        """Wait for a result."""
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


BEAT_SECONDS = 1.0
_ORPHANED = 143


def serve(connection: "Connection[Any, Any]") -> None:
    """Answer each `(function, task)` by `(True, result)` or `(False, error)` until the party hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, name="watch", daemon=True).start()
    line = _Line(connection)
    try:
        while True:
            function, task = connection.recv()
            with line.beating():
                try:
                    answer = True, function(task)
                except Exception as error:  # noqa: BLE001  # raised again in the party, which knows what it means
                    error.add_note("In a worker:\n" + "".join(traceback.format_tb(error.__traceback__)))
                    answer = False, error
            connection.send(answer)
    except (EOFError, OSError, MemoryError, ImportError):  # without memory to take a task or its code, or to answer
        return


class _Line:
    """Sends a sign of life every second while a task is done."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._busy = False
        threading.Thread(target=self._beat, name="beat", daemon=True).start()

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Send signs for as long as the context lasts, and none later: what is sent then is the answer."""
        self._busy = True
        try:
            yield
        finally:
            with self._sending:
                self._busy = False

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._sending, suppress(OSError):  # the party has gone: the main thread sees that, too
                if self._busy:
                    self._connection.send(None)


def end_with_parent() -> None:
    """End this process, even in the middle of a task, when its parent is gone, however it went."""
    party = parent_process()
    assert party is not None  # noqa: S101  # only the target of a process calls this
    wait([party.sentinel])
    os._exit(_ORPHANED)


SPAWN = get_context("spawn")
_JOIN_SECONDS = 5.0
_SILENT_LOOKS = 120  # of half a second; no time that this process has slept, too, counts


class Threads(Heedful, Closing):
    """Threads of this process; a context, at whose end they end.

    They work at blocks of records (DESIGN 15): numpy and AES let go of the interpreter, and nothing is copied. For
    `paillier`, encryption holds the interpreter, and needs processes.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="block")

    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        return self._threads.submit(function, task)

    def close(self) -> None:
        """End all threads, each after the block that it is at."""
        self._threads.shutdown(cancel_futures=True)


class LocalPool(Heedful, Closing):
    """Worker processes, which start with the first task; a context, at whose end they end."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._lock = Lock()
        self._closed = False
        self._workers: list[_Worker] = []
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="worker")
        self._idle: SimpleQueue[_Worker] = SimpleQueue()

    @classmethod
    def started(cls, workers: int) -> Self:
        """Start this many worker processes at once."""
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
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=serve, args=(theirs,), daemon=True)
        try:
            with _interruptions_held_back():
                process.start()
        except OSError as error:
            raise WorkerError(f"a worker process cannot be started: {error.strerror}; use fewer workers") from None
        finally:
            theirs.close()
        return cls(process, ours)

    def call(self, function: Callable[[Any], Any], task: object) -> Any:
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


_KEYS = 2  # 50 MB each
_one_at_a_time = threading.Lock()  # a worker of a cluster may have several threads


@dataclass(frozen=True, eq=False, repr=False)
class EncryptionTask:
    """One page to encrypt."""

    key: AnyKeyHolder
    messages: Sequence[int]


def encrypt_page(task: EncryptionTask) -> bytes:
    """Encrypt a page as it crosses."""
    with _one_at_a_time:
        (page,) = _encryptor(task.key).encrypt_pages([task.messages])
        return page


@lru_cache(maxsize=_KEYS)
def _encryptor(key: AnyKeyHolder) -> PageEncryptor:
    return key.encryption(secrets)


class ParallelEncryptor:
    """Encrypts pages under our key by workers."""

    def __init__(self, key: AnyKeyHolder, workers: Workers) -> None:
        self._key, self._workers = key, workers

    def encrypt_pages(self, pages: Iterable[Sequence[int]]) -> Iterator[bytes]:
        """Return the pages as they cross, in order; every ciphertext is fresh."""
        return self._workers.map(encrypt_page, (EncryptionTask(self._key, messages) for messages in pages))
