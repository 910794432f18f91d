"""A real Dask scheduler with two worker processes: the same models, fresh ciphertexts, clear errors when it fails."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import neg
from pathlib import Path

import numpy as np
import pytest

from party.compute import Cluster, ParallelEncryptor, WorkerError, cluster
from party.compute.pool import _encryptor
from protocols.ciphers.paillier.arithmetic import from_bytes
from protocols.errors import InputError
from tests.support.cases import correlated
from tests.support.parties import key_holder
from tests.support.processes import Pair, finish, make_pair, serving, wait_for
from tests.support.tasks import echo, exhaust_memory, has_loaded, own_version

ROOT = Path(__file__).parents[2]
RECORDS = 160
HOLDER = key_holder(0)
KEY = HOLDER.private_key
Process = subprocess.Popen[bytes]


@dataclass
class Dask:
    """Scheduler and workers, each a process of its own, none with a guard that would start it again."""

    folder: Path
    scheduler: Process
    workers: list[Process]

    @property
    def address(self) -> str:
        file = self.folder / "scheduler.json"
        wait_for(file.exists)
        wait_for(lambda: file.read_text().endswith("}"))
        return str(json.loads(file.read_text())["address"]).replace("tcp://", "dask://")


def dask_process(folder: Path, kind: str, *more: str) -> Process:
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(folder / "scheduler.json")]
    local = ("--host", "127.0.0.1", "--no-dashboard")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}
    return subprocess.Popen(
        [*command, *local, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=environment
    )


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    folder = tmp_path_factory.mktemp("dask")
    dask = Dask(folder, dask_process(folder, "scheduler", "--port", "0"), [])
    try:
        dask.workers += [dask_process(folder, "worker", "--nthreads", "1", "--no-nanny") for _ in range(2)]
        with Cluster.joined(dask.address) as ready:
            wait_for(lambda: ready._threads() == 2)
        yield dask
    finally:
        for process in (*dask.workers, dask.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    codes = correlated([2, 3, 2, 2, 2, 3, 2], RECORDS)
    alice, bob = (np.char.add("v", part.astype(str)).tolist() for part in (codes[:, :3], codes[:, 3:]))
    made = make_pair(trusting, tmp_path / "parties", (["a0", "a1", "a2"], alice), (["b0", "b1", "b2", "class"], bob))
    for party in ("alice", "bob"):
        made.edit(party, "workers = 1", "workers = 0")  # with a cluster there are none to count
    return made


def trained(pair: Pair, *workers: str, **terms: object) -> tuple[bytes, str]:
    with serving(pair, "--once", *workers) as alice:
        ended = pair.train(pair.write_job(**terms), *workers)
        assert ended.code == 0, ended.err
        listened = finish(alice)
        assert listened.code == 0, listened.err
    model = (pair.alice / "model.json").read_bytes()
    assert model == (pair.bob / "model.json").read_bytes()
    return model, ended.err


def tables(ready: Cluster) -> list[int]:
    """Return how many keys each worker has tables of."""
    return [info.currsize for info in ready._client.run(_encryptor.cache_info).values()]


@pytest.mark.full
def test_two_parties_give_the_same_model_on_the_cluster_which_gets_a_key_only_to_encrypt(
    pair: Pair, dask: Dask
) -> None:
    here, told = trained(pair, "--workers", "1", "--progress", "none", omega=2, counting="paillier")
    found = re.search(r"Encryption key of (\w+)", told)
    assert found
    holder = found[1]
    counter = "bob" if holder == "alice" else "alice"
    with Cluster.joined(dask.address) as ready:
        before = tables(ready)
    pair.edit(counter, "\n[data]\n", f'\ncompute = "{dask.address}"\n[data]\n')
    pair.edit(counter, "[compute]", "")
    pair.edit(counter, "\nworkers = 0", "")
    assert trained(pair, omega=2, counting="paillier")[0] == here
    with Cluster.joined(dask.address) as ready:
        assert tables(ready) == before  # not even to measure its speed
    pair.edit(holder, "[compute]", f'[compute]\non = "{dask.address}"')
    assert trained(pair, "--progress", "none", omega=2, counting="paillier")[0] == here
    with Cluster.joined(dask.address) as ready:
        assert tables(ready) > before


def test_blocks_of_records_are_counted_on_the_cluster_with_the_same_model(pair: Pair, dask: Dask) -> None:
    def counting(ready: Cluster) -> set[bool]:
        return set(ready._client.run(has_loaded, "protocols.oblivious.products").values())

    here, _ = trained(pair, "--workers", "1", omega=2)
    with Cluster.joined(dask.address) as ready:
        assert counting(ready) == {False}
    for party in ("alice", "bob"):
        pair.edit(party, "[compute]", f'[compute]\non = "{dask.address}"')
    assert trained(pair, omega=2)[0] == here
    with Cluster.joined(dask.address) as ready:
        assert True in counting(ready)


def test_a_page_that_is_encrypted_twice_is_encrypted_afresh(dask: Dask) -> None:
    pages = [[0, 1]] * 6 + [[number] for number in range(6)]
    size = KEY.public_key.ciphertext_bytes
    with Cluster.joined(dask.address) as ready:
        encryptor = ParallelEncryptor(HOLDER, ready)
        encrypted = [*encryptor.encrypt_pages(pages), *encryptor.encrypt_pages(pages)]
    values = [[from_bytes(page[i : i + size]) for i in range(0, len(page), size)] for page in encrypted]
    assert [[int(KEY.decrypt(value)) for value in page] for page in values] == pages * 2
    assert len({value for page in values for value in page}) == 2 * sum(map(len, pages))


def test_results_come_in_order_and_two_tasks_a_thread_are_taken_ahead(dask: Dask, tmp_path: Path) -> None:
    taken = []

    def tasks() -> Iterator[tuple[Path, str, int]]:
        for number in range(12):
            taken.append(number)
            yield tmp_path, "ended 1" if number == 0 else "", number

    with Cluster.joined(dask.address) as ready:
        results = ready.map(echo, tasks())
        assert next(results) == 0
        for number in range(4):
            wait_for((tmp_path / f"ended {number}").exists)  # all that was taken is done, and no more is
        assert len(taken) == 4
        assert list(results) == list(range(1, 12))
        early = ready.map(echo, [(tmp_path, "closed" if number else "", number) for number in range(4)])
        next(early)
        early.close()  # type: ignore[attr-defined]  # it is a generator
        (tmp_path / "closed").touch()
        assert list(ready.map(neg, [1])) == [-1]


def test_an_error_of_a_task_keeps_its_kind_and_another_one_shows_no_argument(dask: Dask) -> None:
    with Cluster.joined(dask.address) as ready:
        with pytest.raises(InputError, match="below the modulus"):
            list(ParallelEncryptor(HOLDER, ready).encrypt_pages([[int(KEY.public_key.n)]]))
        with pytest.raises(WorkerError, match="out of memory"):
            list(ready.map(exhaust_memory, [1]))
        with pytest.raises(WorkerError, match="TypeError") as caught:
            list(ready.map(neg, ["canary"]))  # type: ignore[arg-type]
        assert "canary" not in str(caught.value)


def test_workers_with_another_version_are_refused(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "version", own_version)
    with pytest.raises(WorkerError, match="must have cotally"):
        Cluster.joined(dask.address)


def test_news_that_comes_with_the_schedulers_first_message_costs_another_attempt_at_most(
    dask: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask's client then ends in an assertion of its own: the race cannot be forced, so its end is."""
    tried: list[str] = []

    def client(place: str, **how: object) -> object:
        tried.append(place)
        if len(tried) < 3:
            raise AssertionError
        return real(place, **how)

    import distributed

    real: Callable[..., object] = distributed.Client
    monkeypatch.setattr(distributed, "Client", client)
    with Cluster.joined(dask.address) as ready:
        assert list(ready.map(neg, [1])) == [-1]
    assert len(tried) == 3


def test_a_port_where_nobody_speaks_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(WorkerError, match="no Dask scheduler"):
            Cluster.joined(f"dask://127.0.0.1:{silent.getsockname()[1]}")


@contextlib.contextmanager
def killed_at_work(victim: Process, worker: Process, folder: Path) -> Iterator[None]:
    """Kill a process once a worker has begun with a task of this folder, and leave a file there."""

    def kill() -> None:
        wait_for((folder / f"begun {worker.pid}").exists)
        victim.kill()
        (folder / "killed").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        killer.join()


def test_a_cluster_that_cannot_be_reached_ends_with_2_in_one_line(pair: Pair) -> None:
    pair.edit("bob", "[compute]", '[compute]\non = "dask://127.0.0.1:1"')
    with serving(pair, "--workers", "1"):
        ended = pair.train_here(pair.write_job(omega=1))
    assert ended.code == 2
    (error,) = [line for line in ended.err.splitlines() if not line.startswith("cotally: note: ")]
    assert error.startswith("cotally: ")
    assert "dask://127.0.0.1:1" in error


def test_a_lost_worker_s_task_is_done_again_and_a_lost_cluster_ends_the_map(
    dask: Dask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last, for no cluster is left."""
    monkeypatch.setattr(cluster, "NO_WORKERS_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "_LOOK_SECONDS", 0.5)
    with Cluster.joined(dask.address) as ready:
        with killed_at_work(dask.workers[0], dask.workers[0], tmp_path):
            tasks = [(tmp_path, "killed", number) for number in range(6)]
            assert list(ready.map(echo, tasks)) == list(range(6))
        wait_for(lambda: ready._threads() == 1)
        (tmp_path / f"begun {dask.workers[1].pid}").unlink()
        with (
            killed_at_work(dask.workers[1], dask.workers[1], tmp_path),
            pytest.raises(WorkerError, match="no longer has workers"),
        ):
            list(ready.map(echo, [(tmp_path, "never", 1), (tmp_path, "never", 2)]))
        with pytest.raises(WorkerError, match="has no workers"):
            Cluster.joined(dask.address)
        monkeypatch.setattr(cluster, "NO_WORKERS_SECONDS", 60.0)
        waits = ready.submit(neg, 1)
        dask.scheduler.kill()
        with pytest.raises(WorkerError, match="lost the cluster"):
            waits()
