"""Where a party's heavy arithmetic is done: in threads of this process, in worker processes, or on a Dask cluster.

Each place is a map whose results come in order and which takes only a few tasks ahead; the core
(`protocols.work`) does not see which one it is, and the results are equal.

What a worker is given:

* to *count by transfers*, in a thread or on a cluster: the keys of blocks of records, and of these records our codes
  and the counts that are asked, or our choices and the peer's page. No seed and no randomness.
* to *encrypt*, in a process or on a cluster: our own private key of Paillier and the plaintexts of one page. It draws
  its own chance.

No worker is given the secret of the coins, the key of the certificate or ids of records. A cluster's scheduler passes
tasks on, so it sees what its workers see: who runs the cluster holds the key of Paillier once it encrypts there,
and our columns, if not our ids, once it counts there.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from party.compute.cluster import Cluster
from party.compute.pool import Heedful, LocalPool, ParallelEncryptor, Threads, WorkerError
from protocols.errors import InputError
from protocols.work import INLINE, Compute, Places, Workers

__all__ = [
    "Cluster",
    "ComputeSettings",
    "LocalPool",
    "ParallelEncryptor",
    "Threads",
    "WorkerError",
    "available_cpus",
    "heeding",
    "make_compute",
]


ALL_CPUS = 0
MOST_WORKERS = 1024

_CLUSTER = re.compile(r"dask(\+tls)?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}")


@dataclass(frozen=True)
class ComputeSettings:
    """Where to compute: in `workers` processes here (`ALL_CPUS`: all), or at a Dask scheduler (`dask://host:port`)."""

    workers: int = ALL_CPUS
    cluster: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.workers <= MOST_WORKERS:
            raise InputError(f"workers must be 0 (one per processor) to {MOST_WORKERS}")
        if self.cluster is not None and not (
            _CLUSTER.fullmatch(self.cluster) and 1 <= int(self.cluster.rpartition(":")[2]) <= 65535
        ):
            raise InputError('a cluster is named as "dask://host:8786", or "dask+tls://host:8786"')


def available_cpus() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def make_compute(settings: ComputeSettings) -> Iterator[Compute]:
    """Hold workers for as long as the context lasts; each makes its tables of a key once."""
    count = settings.workers or available_cpus()
    with ExitStack() as stack:
        threads: Workers = stack.enter_context(Threads(count)) if count > 1 else INLINE
        if settings.cluster is None:
            workers: Workers = stack.enter_context(LocalPool(count)) if count > 1 else INLINE
        else:
            workers = stack.enter_context(Cluster.joined(settings.cluster))
        places = Places(threads, threads if settings.cluster is None else workers)
        yield Compute(partial(ParallelEncryptor, workers=workers), workers, places)


@contextmanager
def heeding(compute: Compute | None, check: Callable[[], None]) -> Iterator[None]:
    """Let waits for workers end with what this raises, called again and again for as long as the context lasts."""
    workers = None if compute is None else compute.workers
    if not isinstance(workers, Heedful):
        yield
        return
    before, workers.heed = workers.heed, check
    try:
        yield
    finally:
        workers.heed = before
