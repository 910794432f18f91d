import os
import pickle
import secrets
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from operator import neg
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

from party.compute import (
    Cluster,
    ComputeSettings,
    LocalPool,
    ParallelEncryptor,
    Threads,
    WorkerError,
    available_cpus,
    heeding,
    make_compute,
)
from party.compute.pool import EncryptionTask, _encryptor, encrypt_page, ordered_map
from protocols.ciphers.paillier.arithmetic import Integer, from_bytes
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.errors import DeviationError, InputError
from protocols.messages import ChoicePage, CorrectionPage
from protocols.oblivious import extension, products
from protocols.oblivious.extension import set_up
from protocols.oblivious.products import (
    SummedShares,
    bits_as_numbers,
    complete_page,
    make_corrections,
    receive_products,
    send_products,
)
from protocols.role import Send, Transcript, run_pair
from protocols.two_party.inputs import PartyInputs
from protocols.work import Compute, InlineWorkers, Places
from tests.protocols.ciphers.paillier.chance import Chance
from tests.support.cases import correlated
from tests.support.children import gone
from tests.support.duel import replay
from tests.support.mask_recorder import MaskRecorder
from tests.support.parties import Case, key_holder, make_local, make_roles, make_terms, private_key, private_key_of
from tests.support.processes import wait_for
from tests.support.tasks import echo, exhaust_memory, inherited, meet

A = TypeVar("A")
B = TypeVar("B")

HOLDER = key_holder(0)
KEY = HOLDER.private_key


@pytest.fixture(scope="module")
def pool() -> Iterator[LocalPool]:
    with LocalPool.started(2) as pool:
        yield pool


def all_of(pool: LocalPool, folder: Path) -> set[int]:
    """Give each worker a task, and return who they are; the folder must be new."""
    workers = len(pool.pids)
    return set(pool.map(meet, [(folder, workers)] * workers))


def decrypted(page: bytes, key: PrivateKey = KEY) -> list[int]:
    size = key.public_key.ciphertext_bytes
    return [int(key.decrypt(from_bytes(page[i : i + size]))) for i in range(0, len(page), size)]


def ciphertexts(pages: Iterable[bytes]) -> list[bytes]:
    size = KEY.public_key.ciphertext_bytes
    return [page[i : i + size] for page in pages for i in range(0, len(page), size)]


# The pool


def test_results_come_in_order_two_tasks_a_worker_at_a_time(pool: LocalPool, tmp_path: Path) -> None:
    taken: list[int] = []

    def tasks() -> Iterator[tuple[Path, str, int]]:
        for number in range(100):
            taken.append(number)
            yield tmp_path, "", number

    results = pool.map(echo, tasks())
    assert taken == []
    for number in range(3):
        assert next(results) == number
        wait_for((tmp_path / f"ended {number + 3}").exists)  # all that was taken is done, and no more is
        assert len(taken) == 4 + number
    later = [f"ended {number + 2}" if number in {0, 3, 6} else "" for number in range(10)]
    assert list(pool.map(echo, [(tmp_path, later[number], number) for number in range(10)])) == list(range(10))
    assert list(pool.map(neg, [])) == []
    results = pool.map(echo, [(tmp_path, "closed" if number else "", number) for number in range(4)])
    next(results)
    results.close()  # type: ignore[attr-defined]  # it is a generator
    (tmp_path / "closed").touch()
    assert list(pool.map(neg, [1, 2])) == [-1, -2]


@pytest.mark.parametrize("end", ["close", "error"])
def test_an_early_end_cancels_what_was_started(end: str) -> None:
    futures: list[Future[int]] = []

    def submit(task: int) -> Future[int]:
        futures.append(Future())
        if task == 0:
            futures[0].set_result(0)
        return futures[-1]

    def result(future: Future[int]) -> int:
        if future.done():
            return future.result()
        raise KeyboardInterrupt

    results = ordered_map(submit, result, range(9), ahead=4)
    assert next(results) == 0
    if end == "close":
        results.close()  # type: ignore[attr-defined]  # it is a generator
    else:
        with pytest.raises(KeyboardInterrupt):
            next(results)
    assert len(futures) == 4 + (end == "error")
    assert all(future.cancelled() for future in futures[1:])


def test_a_worker_starts_with_nothing_of_the_party(pool: LocalPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "canary", b"state", raising=False)
    assert inherited("canary") == b"state"
    with LocalPool.started(1) as fresh:
        assert list(fresh.map(inherited, ["canary"])) == [None]
    assert list(pool.map(inherited, ["canary"])) == [None]


def test_workers_leave_an_interruption_to_the_party(pool: LocalPool, tmp_path: Path) -> None:
    before = all_of(pool, tmp_path / "before")
    assert before == set(pool.pids)
    for pid in before:
        os.kill(pid, signal.SIGINT)
    assert all_of(pool, tmp_path / "after") == before


def test_the_task_of_a_worker_that_is_killed_is_done_again_by_a_fresh_one(tmp_path: Path) -> None:
    with LocalPool.started(2) as pool:
        first = all_of(pool, tmp_path / "first")
        assert first == set(pool.pids)
        victim = pool.pids[0]

        def kill() -> None:
            wait_for((tmp_path / f"begun {victim}").exists)
            os.kill(victim, signal.SIGKILL)
            (tmp_path / "killed").touch()

        killer = threading.Thread(target=kill)
        killer.start()
        assert list(pool.map(echo, [(tmp_path, "killed", number) for number in range(3)])) == [0, 1, 2]
        killer.join()
        now = all_of(pool, tmp_path / "now")
        assert len(now) == 2
        assert len(now & first) == 1


def test_a_worker_that_is_stopped_and_not_dead_is_replaced_and_one_that_is_long_at_work_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("party.compute.pool._SILENT_LOOKS", 8)
    with LocalPool.started(2) as pool:
        all_of(pool, tmp_path / "met")
        stopped, working = pool.pids
        results = pool.map(echo, [(tmp_path, "go on", number) for number in range(2)])

        def stop() -> None:
            wait_for((tmp_path / f"begun {stopped}").exists)
            wait_for((tmp_path / f"begun {working}").exists)
            os.kill(stopped, signal.SIGSTOP)
            try:
                wait_for(lambda: gone([stopped]), seconds=30)  # all the while the other one is at its task
            finally:  # so that the test ends where nobody replaces it
                (tmp_path / "go on").touch()
                with suppress(ProcessLookupError):
                    os.kill(stopped, signal.SIGCONT)

        stopper = threading.Thread(target=stop)
        stopper.start()
        assert list(results) == [0, 1]
        stopper.join()
        assert working in pool.pids
        assert stopped not in pool.pids
        assert len(pool.pids) == 2


def test_a_wait_for_workers_ends_with_who_waits_for_us_and_leaves_the_pool_ready(
    pool: LocalPool, tmp_path: Path
) -> None:
    gone_away = threading.Event()

    def check() -> None:
        if gone_away.is_set():
            raise InputError("nobody waits any more")

    compute = Compute(partial(ParallelEncryptor, workers=pool), pool)
    results = pool.map(echo, [(tmp_path, "go on", number) for number in range(2)])
    with heeding(compute, check):
        gone_away.set()
        with pytest.raises(InputError, match="nobody waits any more"):
            next(results)
    (tmp_path / "go on").touch()
    assert list(pool.map(neg, range(4))) == [-n for n in range(4)]


def test_workers_that_were_killed_while_idle_are_replaced(pool: LocalPool, tmp_path: Path) -> None:
    all_of(pool, tmp_path / "met")
    for pid in pool.pids:
        os.kill(pid, signal.SIGKILL)
    assert list(pool.map(neg, range(8))) == [-n for n in range(8)]


def test_a_task_that_takes_two_workers_with_it_ends_the_map_and_leaves_the_pool_ready(pool: LocalPool) -> None:
    with pytest.raises(WorkerError, match=r"two worker processes.*exit code 7.*fewer workers"):
        list(pool.map(os._exit, [7]))
    assert list(pool.map(neg, range(4))) == [-n for n in range(4)]


def test_faults_of_a_task_are_said_with_their_place(pool: LocalPool) -> None:
    with pytest.raises(WorkerError, match="ran out of memory"):
        list(pool.map(exhaust_memory, [1]))
    assert list(pool.map(neg, [1])) == [-1]
    task = EncryptionTask(HOLDER, [int(KEY.public_key.n)])
    with pytest.raises(InputError, match="below the modulus") as caught:
        list(pool.map(encrypt_page, [task]))
    assert "encryption.py" in caught.value.__notes__[0]


def test_a_new_worker_is_deaf_to_interruptions_from_the_first_moment_and_the_end_does_not_wait_for_long_work(
    tmp_path: Path,
) -> None:
    with LocalPool.started(2) as pool:
        pids = pool.pids
        for pid in pids:
            os.kill(pid, signal.SIGINT)
        assert all_of(pool, tmp_path / "met") == set(pids)
        next(pool.map(echo, [(tmp_path, "never" if number else "", number) for number in range(4)]))
    assert gone(pids)
    assert [path.name for path in tmp_path.glob("ended *")] == ["ended 0"]
    with pytest.raises(RuntimeError):
        list(pool.map(neg, [1]))


def test_no_worker_outlives_a_party_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "party_script.py"
    script.write_text(
        textwrap.dedent("""
            from pathlib import Path

            from party.compute import LocalPool
            from tests.support.tasks import echo, meet

            if __name__ == "__main__":
                with LocalPool.started(3) as pool:
                    assert len(set(pool.map(meet, [(Path("met"), 3)] * 3))) == 3
                    print(*pool.pids, flush=True)
                    list(pool.map(echo, [(Path(), "never", 1), (Path(), "never", 2)]))
        """)
    )
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 3
        assert not gone(pids[:1])
        process.kill()
        process.wait()
        wait_for(lambda: gone(pids), seconds=10)


# Encryption


def test_pages_are_encrypted_in_order_and_freshly_with_tables_that_are_made_once(pool: LocalPool) -> None:
    pages = [[0, 1, number] for number in range(8)] + [[1, 1, 1]] * 4
    encrypted = list(ParallelEncryptor(HOLDER, pool).encrypt_pages(pages))
    assert [decrypted(page) for page in encrypted] == pages
    assert len(set(ciphertexts(encrypted))) == 3 * len(pages)
    _encryptor.cache_clear()
    encryptor = ParallelEncryptor(HOLDER, InlineWorkers())
    for _ in range(2):
        assert [decrypted(page) for page in encryptor.encrypt_pages([[1], [0]])] == [[1], [0]]
    assert _encryptor.cache_info().misses == 1
    other = ParallelEncryptor(key_holder(1), InlineWorkers())
    (page,) = other.encrypt_pages([[5]])
    assert decrypted(page, private_key(1)) == [5]
    assert _encryptor.cache_info().misses == 2


# What a worker is given


class Spy:
    """Keeps every task, and does it."""

    ahead = 0

    def __init__(self) -> None:
        self.seen: list[tuple[object, object]] = []

    def submit(self, function: Callable[[A], B], task: A) -> Callable[[], B]:
        return partial(next, self.map(function, [task]))

    def map(self, function: Callable[[A], B], tasks: Iterable[A]) -> Iterator[B]:
        for task in tasks:
            self.seen.append((function, task))
            yield function(task)


def spied(local: PartyInputs, coins: bytes) -> tuple[PartyInputs, Spy]:
    spy = Spy()
    records = tuple(f"canary{number}" for number in range(len(local.records)))
    local = replace(local, records=records, secrets=replace(local.secrets, coins=coins))
    return replace(local, compute=Compute(partial(ParallelEncryptor, workers=spy), spy, Places(blocks=spy))), spy


def case(**terms: object) -> Case:
    sizes = {"alice": (2, 3, 2), "bob": (2, 2)}
    codes = correlated([2, 3, 2, 2, 2, 2], 60)
    return Case(sizes, ("bob",), 2, codes, {"alice": 2, "bob": 1}, make_terms(**terms))


def forms(number: Integer) -> list[bytes]:
    """Return how a number may look within a pickle."""
    size = (number.bit_length() + 7) // 8
    value = int(number)
    return [value.to_bytes(size, "little"), value.to_bytes(size, "big"), str(value).encode(), f"{value:x}".encode()]


def holds(data: bytes, number: Integer) -> bool:
    return any(form in data for form in forms(number))


def test_who_encrypts_gets_our_own_key_and_a_page_and_nothing_else() -> None:
    this = case(counting="paillier", omega=2)
    coins = {name: secrets.token_bytes(32) for name in ("alice", "bob")}
    alice, alices = spied(make_local(this, "alice"), coins["alice"])
    bob, bobs = spied(make_local(this, "bob"), coins["bob"])
    run_pair(*make_roles(this, alice, bob))
    tasks = [(*seen, alice, bob) for seen in alices.seen] + [(*seen, bob, alice) for seen in bobs.seen]
    assert {function for function, *_ in tasks} == {encrypt_page}
    for function, task, who, other in tasks:
        data = pickle.dumps((function, task))
        assert not any(secret in data for secret in coins.values())
        theirs, own = (private_key_of(local) for local in (other, who))
        assert not any(holds(data, x) for x in (theirs.p, theirs.q))
        assert holds(data, own.p) == holds(data, own.q) == (function is encrypt_page)
        if function is encrypt_page:
            assert isinstance(task, EncryptionTask)
            assert set(vars(task)) == {"key", "messages"}
            assert task.key.__reduce__()[1] == (own.p, own.q)
            assert all(isinstance(message, int) for message in map(int, task.messages))
        assert b"canary" not in data
        assert "secret" not in repr(task)
        assert str(int(own.p)) not in repr(task)


def test_who_counts_gets_keys_and_cells_of_records_and_no_seed() -> None:
    this = case(omega=2)
    coins = {name: secrets.token_bytes(32) for name in ("alice", "bob")}
    (alice, alices), (bob, bobs) = (spied(make_local(this, name), coins[name]) for name in ("alice", "bob"))
    run_pair(*make_roles(this, alice, bob))
    given = {
        function: {name for field in fields(task) for name in _held(getattr(task, field.name))}  # type: ignore[arg-type]
        for function, task in (*alices.seen, *bobs.seen)
    }
    assert given == {
        make_corrections: {"Piece", "BothKeys", "BitsAsNumbers", "function"},
        complete_page: {"Piece", "ChosenKeys", "bytes", "function"},
    }
    for _, task in (*alices.seen, *bobs.seen):
        data = pickle.dumps(task)
        assert b"canary" not in data
        assert not any(secret in data for secret in coins.values())
        assert "secret" not in repr(task)


def _held(value: object) -> set[str]:
    if isinstance(value, list | tuple):
        return {name for each in value for name in _held(each)}
    return {type(value).__name__}


# Blocks of records


def counted(places: Places, seed: int) -> tuple[Transcript, list[SummedShares]]:
    """Choose in two vectors of more than a page, and multiply each twice, both sides there."""
    crossed, shares = Transcript(), []
    one, other = run_pair(set_up(4, Chance(seed), places), set_up(4, Chance(seed + 1), places), crossed)
    draw = np.random.default_rng(1)
    vectors, column = [draw.random(size) < 0.5 for size in (900, 2_000)], draw.random(2_000) < 0.5
    keys = run_pair(one.chooser.extend(vectors), other.sender.extend([900, 2_000]), crossed)
    widths = [12] * 43
    for _ in range(2):
        own, theirs = (SummedShares([(len(vector), widths) for vector in vectors]) for _ in range(2))
        sending = [(each, widths, bits_as_numbers([column[: len(each)]] * 43, widths)) for each in keys[1]]
        receiving = [(each, widths) for each in keys[0]]
        run_pair(
            receive_products(receiving, own, places.blocks), send_products(sending, theirs, places.blocks), crossed
        )
        shares += [own, theirs]
        for vector, a, b in zip(vectors, own.shares, theirs.shares, strict=True):
            assert {(x + y) % 4096 for x, y in zip(a, b, strict=True)} == {int((vector & column[: len(vector)]).sum())}
    return crossed, shares


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extension, "_PAGE_BYTES", 1 << 10)  # holds 128 transfers at k = 4
    monkeypatch.setattr(products, "_PAGE_BYTES", 1 << 13)
    monkeypatch.setattr(products, "_AT_ONCE", 1 << 8)


@pytest.mark.usefixtures("small_blocks")
def test_the_same_bytes_cross_and_the_same_masks_are_formed_at_any_worker(
    pool: LocalPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, shares = counted(Places(), 1)
    assert (
        min(
            sum(isinstance(page, kind) for page in (*here.sent_by_a, *here.sent_by_b))
            for kind in (ChoicePage, CorrectionPage)
        )
        > 9
    )
    for count in (2, 3):
        with Threads(count) as threads:
            blocks = threads if count == 2 else pool
            recorder = MaskRecorder(monkeypatch)
            crossed, there = counted(Places(threads, blocks), 1)
            assert (crossed.sent_by_a, crossed.sent_by_b) == (here.sent_by_a, here.sent_by_b)
            assert [each.shares for each in there] == [each.shares for each in shares]
            assert blocks is pool or recorder.times() == {(3, 1), (3, 2)}


@pytest.mark.usefixtures("small_blocks")
def test_a_page_that_fails_its_check_ends_the_session_at_any_worker() -> None:
    with Threads(2) as threads:
        one, other = run_pair(set_up(4, Chance(1)), set_up(4, Chance(2), Places(threads)))
        choices = np.ones(2_000, bool)
        pages = [effect.message for effect in one.chooser.extend([choices]) if isinstance(effect, Send)]
        matrix = bytearray(pages[1].matrix)  # type: ignore[attr-defined]
        matrix[0] ^= 1
        pages[1] = replace(pages[1], matrix=bytes(matrix))  # type: ignore[call-arg]
        assert isinstance(replay(other.sender.extend([2_000]), pages).error, DeviationError)
        assert isinstance(replay(other.sender.extend([10]), []).error, DeviationError)


def test_a_run_gives_the_same_tree_here_and_in_the_pool(pool: LocalPool) -> None:
    for terms in ({"omega": 1}, {"counting": "paillier", "omega": 2}):
        this = case(max_depth=1, **terms)
        (_, here), (_, peer) = run_pair(*make_roles(this))
        alice, bob = (
            replace(local, compute=Compute(partial(ParallelEncryptor, workers=pool), pool, Places(blocks=pool)))
            for local in (make_local(this, "alice"), make_local(this, "bob"))
        )
        (_, there), (_, far) = run_pair(*make_roles(this, alice, bob))
        assert here.tree.digest() == there.tree.digest() == peer.tree.digest() == far.tree.digest()
        assert replace(here, model=there.tree) == there


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
        "", "local", "h:8786", "tcp://h:8786", "dask://h", "dask://:1", "dask://h:0", "dask://h:65536",
        "dask://h:1/x",
    ):  # fmt: skip
        with pytest.raises(InputError, match="dask://host:8786"):
            ComputeSettings(cluster=address)
    with pytest.raises(WorkerError, match=r"distributed\.comm\.tls"):
        Cluster.joined("dask+tls://127.0.0.1:8786")
    with pytest.raises(WorkerError, match=r"dask://127\.0\.0\.1:1.*refused"):
        Cluster.joined("dask://127.0.0.1:1")
    for workers in (-1, 1025):
        with pytest.raises(InputError, match="1024"):
            ComputeSettings(workers=workers)
