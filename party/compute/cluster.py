"""Workers of a Dask cluster (extra `cluster`).

Tasks are never identified by their contents (`pure=False`): Dask would answer a second, equal task with the result of
the first, and two encryptions of a page would be one. When a worker is lost, Dask has its task done again elsewhere,
for an encryption with fresh chance; a task that takes three workers with it, or a lost scheduler, ends the run.

Security: `dask://` is plain TCP, for a network that the party trusts with its key of Paillier; `dask+tls://` takes
the certificates that Dask's own settings name (`distributed.comm.tls`).
"""

import importlib
import logging
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from typing import Any, Self, TypeVar

from party.closing import Closing
from party.compute.pool import AHEAD, Heedful, WorkerError
from protocols.errors import CotallyError

A = TypeVar("A")
B = TypeVar("B")

CONNECT_SECONDS = 10.0
NO_WORKERS_SECONDS = 60.0
_LOOK_SECONDS = 5.0
_LEAVE_SECONDS = 2.0
_ATTEMPTS = 3
TLS = "dask+tls"
_TRANSPORT = {"dask": "tcp", TLS: "tls"}
_PROBLEMS = (OSError, TypeError, ValueError, RuntimeError)  # of Dask, where it cannot reach or read


class Cluster(Heedful, Closing):
    """A cluster's workers, made by `joined`; a context, at whose end we leave it."""

    def __init__(self, address: str, client: Any) -> None:
        super().__init__(1)
        self._address = address
        self._seen = self._looked = time.monotonic()
        self._client = client
        self._executor: Executor = client.get_executor(pure=False)

    @classmethod
    def joined(cls, address: str) -> Self:
        """Connect to a cluster whose workers have this version of cotally."""
        cluster = cls(address, _connect(address))
        try:
            cluster._check_workers()
        except BaseException:
            cluster.close()
            raise
        return cluster

    @property
    def ahead(self) -> int:
        """Two tasks per thread of the cluster."""
        return AHEAD * max(1, self._threads())

    def _start_task(self, function: Callable[[A], B], task: A) -> Future[B]:
        try:
            return self._executor.submit(function, task)
        except _PROBLEMS:
            raise self._lost() from None

    def wait(self, future: Future[B]) -> B:
        """Wait for a result."""
        self._seen = time.monotonic()
        try:
            return super().wait(future)
        except CancelledError:
            raise self._lost() from None
        except (CotallyError, MemoryError):
            raise
        except Exception as error:
            raise self._failed(error) from error

    def look(self) -> None:
        """See whether anybody waits for us, and whether there are workers: Dask itself waits forever for new ones."""
        super().look()
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        if self._threads():
            self._seen = now
        elif now - self._seen > NO_WORKERS_SECONDS:
            raise WorkerError(
                f"the cluster at {self._address} no longer has workers: start some there, then the same again"
            )

    def _threads(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except _PROBLEMS:
            raise self._lost() from None

    def _check_workers(self) -> None:
        deadline = time.monotonic() + NO_WORKERS_SECONDS
        while not self._threads():
            if time.monotonic() > deadline:
                raise WorkerError(f"the cluster at {self._address} has no workers: start some with `dask worker`")
            time.sleep(0.1)
        try:
            versions = set(self._client.run(version, "cotally").values())
        except Exception as error:
            raise self._failed(error) from error
        if versions != {version("cotally")}:
            raise WorkerError(f"the workers at {self._address} must have cotally {version('cotally')} installed")

    def _failed(self, error: Exception) -> WorkerError:
        """Say what kind of fault it was; the error's own text may hold an argument and is not shown."""
        return WorkerError(
            f"the cluster at {self._address} failed in a task ({type(error).__name__}): its workers need this version "
            "of cotally and of Python, and memory for a page and the key's tables"
        )

    def _lost(self) -> WorkerError:
        return WorkerError(f"lost the cluster at {self._address}, or its scheduler was restarted")

    def close(self) -> None:
        """Leave the cluster, whose workers go on."""
        with suppress(*_PROBLEMS):
            self._client.close(timeout=_LEAVE_SECONDS)


def _connect(address: str) -> Any:
    try:
        dask, distributed = importlib.import_module("dask"), importlib.import_module("distributed")
    except ImportError:
        raise WorkerError("a cluster needs Dask: pip install '.[cluster]' in cotally's clone") from None
    for name in ("distributed", "distributed.client"):  # its troubles become our one-line error
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    kind, _, place = address.partition("://")
    security = distributed.Security()
    if kind == TLS and security.get_connection_args("client")["ssl_context"] is None:
        raise WorkerError(f"{address} needs certificates, named in Dask's own settings (distributed.comm.tls)")
    _check_answer(address, place)
    make = partial(distributed.Client, timeout=CONNECT_SECONDS, set_as_default=False, security=security)
    for _ in range(_ATTEMPTS):
        try:
            return _in_time(partial(make, f"{_TRANSPORT[kind]}://{place}"))
        except AssertionError:  # news, as of a worker that leaves, came with the first message, which Dask wants alone
            continue
        except _PROBLEMS as error:
            raise WorkerError(f"no Dask scheduler can be reached at {address} ({type(error).__name__})") from None
    raise WorkerError(f"the Dask scheduler at {address} greets nobody as Dask expects: try again")


def _in_time(make: Callable[[], B]) -> B:
    """Make a client, or give up: at a port that accepts and says nothing, Dask waits forever."""
    made: Future[B] = Future()

    def run() -> None:
        try:
            made.set_result(make())
        except Exception as error:  # noqa: BLE001  # raised again where somebody waits
            made.set_exception(error)

    threading.Thread(target=run, name="connect", daemon=True).start()
    return made.result(CONNECT_SECONDS + _LOOK_SECONDS)


def _check_answer(address: str, place: str) -> None:
    """Find out at once, and why, when nobody listens there: Dask would try for a while."""
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise WorkerError(f"no Dask scheduler can be reached at {address}: {error}") from None
