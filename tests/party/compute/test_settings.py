"""How many workers there are, and where: what is asked for, what there is, and what is refused."""

import os
import sys
from pathlib import Path

import pytest

from party.compute import Cluster, ComputeSettings, LocalPool, WorkerError, available_cpus, make_compute
from protocols.errors import InputError
from tests.party.compute.test_compute import HOLDER, decrypted
from tests.support.children import gone
from tests.support.tasks import meet


def test_one_worker_is_this_process_and_none_means_one_a_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_compute(ComputeSettings(workers=1)) as compute:
        assert list(compute.workers.map(meet, [(tmp_path, 1)])) == [os.getpid()]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    with make_compute(ComputeSettings()) as compute:
        assert isinstance(compute.workers, LocalPool)
        assert compute.places.blocks.ahead == compute.workers.ahead == 6
        assert compute.workers.pids == ()  # none is started where nothing is encrypted
        assert [decrypted(page) for page in compute.encryption(HOLDER).encrypt_pages([[1], [0]])] == [[1], [0]]
        pids = compute.workers.pids
        assert len(pids) == 3
    assert gone(pids)


def test_processors_are_counted_where_there_is_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert available_cpus() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus() == 1


def test_without_dask_a_cluster_is_refused_with_the_name_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(WorkerError, match=r"\.\[cluster\]"):
        Cluster.joined("dask://127.0.0.1:8786")


def test_a_cluster_is_named_and_found_or_refused() -> None:
    for address in ("dask://h:8786", "dask+tls://10.0.0.1:1", "dask://[::1]:65535"):
        assert ComputeSettings(cluster=address).cluster == address
    for address in (
        "",
        "local",
        "h:8786",
        "tcp://h:8786",
        "dask://h",
        "dask://:1",
        "dask://h:0",
        "dask://h:65536",
        "dask://h:1/x",
    ):
        with pytest.raises(InputError, match="dask://host:8786"):
            ComputeSettings(cluster=address)
    with pytest.raises(WorkerError, match=r"distributed\.comm\.tls"):
        Cluster.joined("dask+tls://127.0.0.1:8786")
    with pytest.raises(WorkerError, match=r"dask://127\.0\.0\.1:1.*refused"):
        Cluster.joined("dask://127.0.0.1:1")
    for workers in (-1, 1025):
        with pytest.raises(InputError, match="1024"):
            ComputeSettings(workers=workers)
