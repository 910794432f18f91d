"""What a party says about its arithmetic (`[compute]` in `party.toml`)."""

import os
import re
from dataclasses import dataclass

from protocols.errors import InputError

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
        if self.cluster is not None and not _is_cluster(self.cluster):
            raise InputError('a cluster is named as "dask://host:8786", or "dask+tls://host:8786"')


def _is_cluster(address: str) -> bool:
    return bool(_CLUSTER.fullmatch(address)) and 1 <= int(address.rpartition(":")[2]) <= 65535


def available_cpus() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
