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

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from party.compute.cluster import Cluster
from party.compute.pool import Heedful, LocalPool, ParallelEncryptor, Threads, WorkerError
from party.compute.settings import ComputeSettings, available_cpus
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


@contextmanager
def make_compute(settings: ComputeSettings) -> Iterator[Compute]:
    """Hold workers for as long as the context lasts; each makes its tables of a key once."""
    with _workers(settings) as workers, _threads(settings) as threads:
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


def _workers(settings: ComputeSettings) -> AbstractContextManager[Workers]:
    if settings.cluster is not None:
        return Cluster.joined(settings.cluster)
    count = settings.workers or available_cpus()
    return LocalPool(count) if count > 1 else nullcontext(INLINE)


def _threads(settings: ComputeSettings) -> AbstractContextManager[Workers]:
    count = settings.workers or available_cpus()
    return Threads(count) if count > 1 else nullcontext(INLINE)
