"""Two real parties with worker processes: the same model, and no worker that outlives its party."""

import contextlib
import os
import re
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from party.keys.keystore import load_secret
from party.records.journal import recorded_runs
from tests.support.cases import correlated
from tests.support.children import gone, workers_of
from tests.support.examples import few
from tests.support.processes import Pair, cotally_here, finish, make_pair, serving, start, until_growing, wait_for

RECORDS = 160
ALICE, BOB = ["a0", "a1", "a2"], ["b0", "b1", "b2", "class"]


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    codes = correlated([2, 3, 2, 2, 2, 3, 2], RECORDS)
    alice, bob = (np.char.add("v", part.astype(str)).tolist() for part in (codes[:, :3], codes[:, 3:]))
    return make_pair(trusting, tmp_path / "parties", (ALICE, alice), (BOB, bob))


def models(pair: Pair) -> tuple[bytes, bytes]:
    return (pair.alice / "model.json").read_bytes(), (pair.bob / "model.json").read_bytes()


def trained(pair: Pair, *workers: str, **terms: object) -> tuple[bytes, bytes]:
    quiet = ("--progress", "none")
    with serving(pair, "--once", *workers, *quiet) as alice:
        ended = pair.train(pair.write_job(**terms), *workers, *quiet)
        assert ended.code == 0, ended.err
        listened = finish(alice)
        assert listened.code == 0, listened.err
    return models(pair)


@pytest.mark.full
@pytest.mark.parametrize("terms", [{"omega": 2, "counting": "paillier"}, {"omega": 2}])
def test_the_model_is_the_same_with_any_number_of_workers(pair: Pair, terms: dict[str, object]) -> None:
    assert trained(pair, "--workers", "1", **terms) == trained(pair, "--workers", "3", **terms)


def test_a_node_keeps_its_workers_from_run_to_run_and_ends_them_when_it_is_stopped(pair: Pair) -> None:
    with serving(pair, "--workers", "2", "--progress", "none") as alice:
        kept = []
        for omega in (1, 2):
            ended = pair.train(pair.write_job(omega=omega, counting="paillier"), "--progress", "none")
            assert ended.code == 0, ended.err
            assert models(pair)[0] == models(pair)[1]
            kept.append(workers_of(alice.pid))
        before = kept[0]
        assert len(before) == 2
        assert kept[1] == before
        alice.terminate()
        assert finish(alice).code == 0
    wait_for(lambda: gone(before), seconds=10)


def kill_workers(pid: int) -> None:
    for worker in workers_of(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


def test_the_run_goes_on_when_workers_are_killed_and_has_the_model_of_one_worker(pair: Pair) -> None:
    with serving(pair, "--once", "--workers", "2") as alice:
        bob = start(*pair.train_arguments(pair.write_job(omega=2, counting="paillier"), "--workers", "2"))
        until_growing(bob)
        kill_workers(alice.pid)
        kill_workers(bob.pid)
        for ended in (finish(bob), finish(alice)):
            assert ended.code == 0, ended.err
    after = models(pair)
    assert after == trained(pair, "--workers", "1", omega=2)  # by transfers, which end sooner: no model depends on it


def stop_workers(pid: int) -> None:
    for worker in workers_of(pid):
        os.kill(worker, signal.SIGSTOP)


@pytest.mark.parametrize("how", few(["the peer is gone", "the run is cancelled"], 2))
def test_a_party_whose_workers_are_stopped_and_not_dead_ends_with_its_session(pair: Pair, how: str) -> None:
    pair.edit("bob", "patience = 30", "patience = 3")
    with serving(pair, "--once", "--workers", "2", "--progress", "none") as alice:
        job = pair.write_job(method="smc", counting="paillier")
        bob = start(*pair.train_arguments(job, "--workers", "2"))
        until_growing(bob)
        workers = workers_of(bob.pid)
        stop_workers(bob.pid)
        if how == "the peer is gone":
            alice.kill()
            code = 4
        else:
            (run,) = recorded_runs(pair.bob, load_secret(pair.bob))
            assert cotally_here("cancel", pair.bob / "party.toml", run.run).code == 0
            code = 2
        ended = finish(bob)
        assert ended.code == code, ended.err
        assert "Traceback" not in ended.err
        alice.kill()
        finish(alice)
    wait_for(lambda: gone(workers), seconds=10)


def test_workers_that_die_again_and_again_end_the_run_with_2_in_one_line_and_the_node_serves_on(pair: Pair) -> None:
    with serving(pair, "--workers", "2", "--progress", "none") as alice:
        bob = start(
            *pair.train_arguments(
                pair.write_job(method="smc", counting="paillier"), "--workers", "2", "--progress", "none"
            )
        )
        while bob.poll() is None:
            kill_workers(bob.pid)
            kill_workers(alice.pid)
        ended = finish(bob)
        told = [line for line in ended.err.splitlines() if re.match("cotally: (?!note: )", line)]
        assert ended.code in (2, 4), ended.err  # no matter who holds the key: a peer's fault pauses the run
        assert len(told) == 1
        assert "Traceback" not in ended.err
        if ended.code == 2:
            assert "two worker processes in a row ended" in told[0]
            assert "use fewer workers" in told[0]
        assert alice.poll() is None
        again = pair.train(pair.write_job(omega=1), "--fresh", "--progress", "none")
        assert again.code == 0, again.err
        assert models(pair)[0] == models(pair)[1]


def starve_workers(pid: int) -> None:
    """Let no worker of a party have more memory than it has."""
    for worker in workers_of(pid):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(worker, resource.RLIMIT_AS, (1 << 20, 1 << 20))


@pytest.mark.full
def test_workers_without_memory_cost_the_run_at_most_a_pause_and_the_model_is_the_same(pair: Pair) -> None:
    """FAULTS case 99: by the limit of the system, from when the workers encrypt."""
    job = pair.write_job(omega=2, counting="paillier")
    with serving(pair, "--workers", "2", "--progress", "none") as alice:
        bob = start(*pair.train_arguments(job, "--workers", "2"))
        until_growing(bob)
        starve_workers(bob.pid)
        starve_workers(alice.pid)
        ended = finish(bob)
        assert ended.code in (0, 2, 4), ended.err  # 0 where they died of it, and others took their place
        assert "Traceback" not in ended.err
        assert ended.code == 0 or re.search("memory|is paused", ended.err)
        again = pair.train(job, "--workers", "2", "--progress", "none")
        assert again.code == 0, again.err
        alice.terminate()
        assert finish(alice).code == 0
    after = models(pair)
    assert after == trained(pair, "--workers", "1", omega=2)  # by transfers, which end sooner: no model depends on it


@pytest.mark.parametrize("number", few([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], 3))
def test_no_worker_outlives_a_party_whatever_ends_it(pair: Pair, number: signal.Signals) -> None:
    with serving(pair, "--once", "--workers", "2", "--progress", "none") as alice:
        bob = start(*pair.train_arguments(pair.write_job(method="smc", counting="paillier"), "--workers", "2"))
        until_growing(bob)
        workers = workers_of(bob.pid) + workers_of(alice.pid)
        assert len(workers) == 4  # of the side that encrypts, and of the one that has measured
        if number == signal.SIGINT:  # as from a keyboard: to the workers too
            for pid in workers:
                os.kill(pid, number)
        bob.send_signal(number)
        ended = finish(bob)
        assert ended.code == {signal.SIGINT: 130, signal.SIGTERM: 143}.get(number, -number)
        assert "Traceback" not in ended.err
        if number == signal.SIGKILL:
            alice.kill()
        finish(alice)
    wait_for(lambda: gone(workers), seconds=10)


@pytest.mark.parametrize("workers", ["-1", "1025", "two"])
def test_a_number_of_workers_that_cannot_be_ends_with_2(pair: Pair, workers: str) -> None:
    ended = pair.train(pair.write_job(), "--workers", workers)
    assert ended.code == 2
    assert "workers" in ended.err
