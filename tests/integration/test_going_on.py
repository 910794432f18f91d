"""Two processes of which one is killed, cut off or out of disk: started again, they go on and end with one model."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
from itertools import product
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.models.tree_file import read_tree, tree_json
from party.records.journal import JOURNAL_FILE, RunState, recorded_runs
from party.records.ledger import LEDGER_FILE, read_ledger
from tests.support.examples import few
from tests.support.forked import COTALLY
from tests.support.kills import make_opening_round, make_round
from tests.support.processes import (
    Ended,
    Pair,
    assert_one_error,
    cotally_here,
    finish,
    serving,
    start,
    until_growing,
    wait_for,
)
from tests.support.rpc import Forwarder
from tests.support.tic_tac_toe import plain_tree

PAUSED = "is paused, and goes on when both start the same again"


@pytest.fixture
def pair(pair: Pair) -> Pair:
    for party in ("alice", "bob"):
        pair.edit(party, "patience = 30", "patience = 3")
    return pair


def job(pair: Pair) -> Path:
    return pair.write_job(omega="all")


def assert_same_model(pair: Pair) -> None:
    tree = read_tree(pair.bob / "model.json")
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert tree_json(tree) == tree_json(plain_tree(tree.schema))


def runs(folder: Path) -> list[RunState]:
    return [each.state for each in recorded_runs(folder, load_secret(folder))]


def test_who_calls_is_killed_and_goes_on_when_it_is_started_again(pair: Pair) -> None:
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        bob.kill()
        finish(bob)
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        told = finish(alice)
    (record,) = recorded_runs(pair.bob, load_secret(pair.bob))
    for side, peer in ((again, "alice"), (told, "bob")):
        said = [line for line in side.err.splitlines() if line.startswith(("Run ", "Agreed "))][-2:]
        assert said[0].startswith(
            f"Run {record.run} with {peer} goes on from where it ended early: begun {record.began}"
        )
        assert said[1].startswith(f"Agreed with {peer}: ")
    assert told.code == 0
    assert_same_model(pair)
    assert runs(pair.alice) == runs(pair.bob) == [RunState.DONE]


def test_who_listens_is_killed_and_the_caller_goes_on_by_itself_when_it_is_back(pair: Pair) -> None:
    pair.edit("bob", "patience = 3", "patience = 20")
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        alice.kill()
        alice.wait()
    pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{pair.listening}"')
    with serving(pair):
        trained = finish(bob)
        assert trained.code == 0, trained.err
    assert re.search("cotally: note: .*alice.*; calling again", trained.err)
    assert_same_model(pair)


def test_a_peer_that_does_not_come_back_leaves_a_paused_run_which_status_lists_and_both_go_on_at_another_port(
    pair: Pair,
) -> None:
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        alice.kill()
        alice.wait()
        ended = finish(bob)
    assert_one_error(ended, 4, "alice", PAUSED)
    told = cotally_here("status", pair.bob / "party.toml")
    (record,) = recorded_runs(pair.bob, load_secret(pair.bob))
    assert f"{record.run}  open  train (hybrid, omega all, class 'class') with alice" in told.out
    assert "waits for `cotally train` with the same job and data" in told.out
    told = cotally_here("status", pair.alice / "party.toml")
    assert "waits for `cotally serve`, then for bob" in told.out
    (pair.bob / JOURNAL_FILE).chmod(0o644)
    assert_one_error(cotally_here("status", pair.bob / "party.toml"), 2, JOURNAL_FILE, "chmod 600")
    (pair.bob / JOURNAL_FILE).chmod(0o600)
    before = pair.listening
    with serving(pair, "--once") as alice:
        assert pair.listening != before
        again = pair.train_here(work)
        assert again.code == 0, again.err
        assert finish(alice).code == 0
    assert_same_model(pair)


@pytest.mark.full
def test_a_cut_line_is_waited_for(pair: Pair) -> None:
    work = job(pair)
    with serving(pair) as alice:
        line = Forwarder(pair.listening)
        pair.edit("bob", pair.listening, line.address)
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        line.close()
        ended = finish(bob)
        assert_one_error(ended, 4, "alice", PAUSED)
        pair.edit("bob", line.address, pair.listening)
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        finish(alice)
    assert_same_model(pair)


def entries(folder: Path) -> int:
    with read_ledger(folder, load_secret(folder)) as ledger:
        return len(ledger)


@pytest.mark.full
def test_a_folder_put_back_from_within_the_run_is_refused_until_the_latest_is_there(pair: Pair) -> None:
    """Bob's folder is copied while his run stands still, and he is killed when he has told more."""
    work, latest, older = job(pair), pair.folder / "latest", pair.folder / "older"
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        bob.send_signal(signal.SIGSTOP)
        shutil.copytree(pair.bob, older)
        before = entries(older)
        bob.send_signal(signal.SIGCONT)
        wait_for(lambda: entries(pair.bob) >= before + 4)
        bob.kill()
        finish(bob)
        pair.bob.rename(latest)
        older.rename(pair.bob)
        assert runs(pair.bob) == runs(latest) == runs(pair.alice) == [RunState.OPEN]
        refused = pair.train_here(work)
        assert_one_error(
            refused, 5, "'memory'", "our ledger is not the one that alice was last shown", "put the latest"
        )
        assert alice.stderr is not None
        assert any("bob shows a ledger of" in line and "must be put back" in line for line in alice.stderr)
        shutil.rmtree(pair.bob)
        latest.rename(pair.bob)
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        finish(alice)
    assert_same_model(pair)


def limit(process: subprocess.Popen[str], size: int) -> None:
    """Let a process write no file larger than this, as if the disk were full."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("file", few([JOURNAL_FILE, LEDGER_FILE], 2))
def test_a_full_disk_pauses_the_run_until_there_is_room(pair: Pair, file: str) -> None:
    """What is not on the disk is not acknowledged: the other side hears of a fault, and both go on later."""
    work = job(pair)
    with serving(pair) as alice:
        assert pair.train_here(pair.write_job(omega=1)).code == 0
        sizes = [path.stat().st_size for path in (pair.alice / LEDGER_FILE, pair.alice / JOURNAL_FILE)]
        limit(alice, max(sizes) if file == JOURNAL_FILE else sizes[0])
        ended = pair.train_here(work)
        assert ended.code in (3, 4)
        assert_one_error(ended, ended.code, "alice had a fault of its own")
        limit(alice, resource.RLIM_INFINITY)
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        told = finish(alice)
    assert "cannot be written" in told.err
    assert "Traceback" not in told.err
    assert_same_model(pair)


def test_a_run_is_given_up_by_a_command_and_the_peer_hears_of_it(pair: Pair) -> None:
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        bob.send_signal(signal.SIGKILL)
        finish(bob)
        (record,) = recorded_runs(pair.bob, load_secret(pair.bob))
        other = pair.train_here(pair.write_job(omega=1))
        assert_one_error(other, 5, "'run'", f"run {record.run} with alice on other terms (omega) has not ended")
        given_up = cotally_here("cancel", pair.bob / "party.toml", record.run, "--json")
        assert given_up.code == 0
        (told,) = json.loads(given_up.out)["runs"]
        assert (told["run"], told["state"]) == (record.run, "cancelled")
        assert_one_error(cotally_here("cancel", pair.bob / "party.toml", record.run), 2, "has ended: it is cancelled")
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        finish(alice)
    assert runs(pair.alice) == runs(pair.bob) == [RunState.CANCELLED, RunState.DONE]
    assert_same_model(pair)


def cancelled(folder: Path) -> str:
    """Cancel the one run of a folder, and return what is then said of it."""
    (record,) = (each for each in recorded_runs(folder, load_secret(folder)) if each.is_open)
    assert cotally_here("cancel", folder, record.run).code == 0
    return f"run {record.run} was cancelled here"


@pytest.mark.full
def test_who_calls_and_waits_within_a_run_ends_as_soon_as_it_is_cancelled(pair: Pair) -> None:
    """Alice stands still, and Bob would wait for ten minutes."""
    pair.edit("bob", "patience = 3", "patience = 600")
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        alice.send_signal(signal.SIGSTOP)
        said = cancelled(pair.bob)
        assert_one_error(finish(bob), 2, said)
        alice.send_signal(signal.SIGCONT)
        assert alice.stderr is not None
        assert any("lost bob" in line and "is paused" in line for line in alice.stderr)
        assert runs(pair.alice) == [RunState.OPEN]  # Bob is gone, and it hears of it when both meet again
        again = pair.train_here(work)
        assert again.code == 0, again.err
        alice.terminate()
        finish(alice)
    assert runs(pair.alice) == runs(pair.bob) == [RunState.CANCELLED, RunState.DONE]


def test_who_listens_and_waits_within_a_run_ends_it_as_soon_as_it_is_cancelled_and_tells_the_peer(pair: Pair) -> None:
    """Bob stands still, and Alice would wait for ten minutes; she has ended the run before he wakes."""
    pair.edit("alice", "patience = 3", "patience = 600")
    pair.edit("bob", "patience = 3", "patience = 600")
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(job(pair)))
        until_growing(bob)
        bob.send_signal(signal.SIGSTOP)
        said = cancelled(pair.alice)
        assert alice.stderr is not None
        assert any(said in line for line in alice.stderr)
        bob.send_signal(signal.SIGCONT)
        assert_one_error(finish(bob), 3, "alice cancelled the run")
        alice.terminate()
        finish(alice)
    assert runs(pair.alice) == runs(pair.bob) == [RunState.CANCELLED]


@pytest.mark.parametrize("there", few(["nobody listens", "who listens says nothing"], 2))
def test_who_calls_for_a_run_that_is_cancelled_meanwhile_ends_at_once(pair: Pair, there: str) -> None:
    work = job(pair)
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(work))
        until_growing(bob)
        for each in (alice, bob):
            each.kill()
        finish(bob)
    pair.edit("bob", "patience = 3", "patience = 600")
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        if there == "who listens says nothing":
            pair.edit("bob", pair.listening, f"127.0.0.1:{deaf.getsockname()[1]}")
        waiting = start(*pair.train_arguments(work))
        assert waiting.stderr is not None
        assert any("waiting for alice" in line for line in waiting.stderr)
        said = cancelled(pair.bob)
        assert_one_error(finish(waiting), 2, said)


def test_who_has_slept_goes_on_by_itself_and_does_not_blame_who_was_awake(pair: Pair) -> None:
    """Bob stands still for longer than either's patience; Alice has given the session up, and says so."""
    with serving(pair) as alice:
        bob = start(*pair.train_arguments(job(pair)))
        until_growing(bob)
        bob.send_signal(signal.SIGSTOP)
        assert alice.stderr is not None
        assert any("lost bob: it has not called for 3 s" in line for line in alice.stderr)
        time.sleep(5.0)  # so long that the timer of a process knows of it
        bob.send_signal(signal.SIGCONT)
        woken = finish(bob)
        assert woken.code == 0, woken.err
        assert "as when this machine sleeps" in woken.err
        assert "lost alice" not in woken.err
        assert "does not answer" not in woken.err
        alice.terminate()
        finish(alice)
    assert_same_model(pair)


TREE = {"reveal": "tree", "max_depth": 1, "most_bits": 1000, "test": "0"}
SMC = {**TREE, "method": "smc", "theta": None, "omega": None}
OPENINGS: dict[str, dict[str, object]] = {
    "noise": {**SMC, "noise": "0.1", "impurity": "gini", "most_bits": None},
    "a tree": SMC,
    "windows": {**TREE, "omega": 2},
    "held out": {**SMC, "test": "1/5"},
    "rules": {
        **SMC, "reveal": "sets", "learner": "rules", "class": None, "max_depth": None, "most_bits": None, "seed": None,
        "min_support": "1/5", "max_len": 2, "most_sets": 100, "min_threshold": "1/2", "metric": "confidence",
        "test": None, "min_leaf": 5,
    },
}  # fmt: skip


@pytest.mark.parametrize("seed", few([3, 2], 2))
def test_parties_that_are_killed_at_any_moment_end_with_the_tree_of_plain_id3(
    trusting: Path, tmp_path: Path, seed: int
) -> None:
    made = make_round(trusting, tmp_path / "parties", seed)
    made.play()
    made.assert_right()


TURNS = {"both": (("bob", "alice"),), "one after the other": (("bob",), ("alice",))}


@pytest.mark.parametrize(("way", "turns"), few([*product(OPENINGS, TURNS)], 7))
def test_parties_killed_at_each_opening_hear_one_answer_and_end_with_one_model(
    trusting: Path, tmp_path: Path, way: str, turns: str
) -> None:
    made = make_opening_round(trusting, tmp_path / "parties", OPENINGS[way], TURNS[turns])
    made.play()
    made.assert_right()


FAILING = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
static int left = -1;
static int fails(void) {
    if (left < 0) left = atoi(getenv("FSYNCS"));
    return left == 0 || left-- == 0;
}
int fsync(int handle) { (void)handle; if (fails()) { errno = EIO; return -1; } return 0; }
int fdatasync(int handle) { return fsync(handle); }
"""
"""After this many calls, no more of them succeeds."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library that is put between a process and its disk."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no compiler of C")
    folder = tmp_path_factory.mktemp("shim")
    (folder / "failing.c").write_text(FAILING)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "failing.so", "failing.c"], cwd=folder, check=True)
    return folder / "failing.so"


def train_on(shim: Path, pair: Pair, job: Path, fsyncs: int) -> Ended:
    words = [*COTALLY, *pair.train_arguments(job, "--progress", "none")]
    there = {**os.environ, "LD_PRELOAD": str(shim), "FSYNCS": str(fsyncs)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=there)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_what_the_disk_did_not_keep_ends_the_command_and_the_run_goes_on_later(shim: Path, pair: Pair) -> None:
    job = pair.write_job(omega=1)
    with serving(pair, "--progress", "none") as alice:
        for fsyncs in few((4, 0, 11), 3):
            ended = train_on(shim, pair, job, fsyncs)
            told = [line for line in ended.err.splitlines() if line.startswith("cotally: ") and "note: " not in line]
            assert ended.code == 2, ended.err
            assert len(told) == 1
            assert any(words in told[0] for words in ("cannot be written", "cannot be used now (disk"))
            assert "Traceback" not in ended.err
            assert not (pair.bob / "model.json").exists()
        again = pair.train_here(job)
        assert again.code == 0, again.err
        alice.terminate()
        assert finish(alice).code == 0
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    for folder in (pair.alice, pair.bob):
        secret = load_secret(folder)
        assert recorded_runs(folder, secret)[-1].state is RunState.DONE
        with read_ledger(folder, secret) as ledger:
            copies = [entry.content for entry in ledger.entries() if entry.content["kind"] == "copy"]
        assert len({str(each["digest"]) for each in copies if each["way"] == "told"}) == 1
