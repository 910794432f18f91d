"""A disk that says that it has written and then that it has not (FAULTS case 91): what was not safe was not told."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from party.keys.keystore import load_secret
from party.records.journal import RunState, recorded_runs
from party.records.ledger import read_ledger
from tests.support.examples import few
from tests.support.forked import COTALLY
from tests.support.processes import Ended, Pair, finish, make_pair, serving
from tests.support.tic_tac_toe import ALICE, BOB, table

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


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    made = make_pair(trusting, tmp_path / "parties", table(ALICE), table(BOB))
    for party in ("alice", "bob"):
        made.edit(party, "patience = 30", "patience = 5")
    return made


def train_on(shim: Path, pair: Pair, job: Path, fsyncs: int) -> Ended:
    words = [*COTALLY, *pair.train_arguments(job, "--progress", "none")]
    there = {**os.environ, "LD_PRELOAD": str(shim), "FSYNCS": str(fsyncs)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=there)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_what_the_disk_did_not_keep_ends_the_command_and_the_run_goes_on_later(shim: Path, pair: Pair) -> None:
    job = pair.write_job(omega=1)
    with serving(pair, "--progress", "none") as alice:
        for fsyncs in few((0, 11, 4), 2):
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
