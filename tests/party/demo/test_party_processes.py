"""The two processes of a demo: their errors and exit codes, and that neither outlives it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from party.demo.data import ALICE, BOB, deal_dataset
from party.demo.folders import write_parties
from party.demo.options import PartyFailedError
from party.demo.processes import PartyProcess, Server, free_port, train
from party.show.progress import Failure
from tests.party.demo.test_data import options


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parties with keys that the command accepts, and few records: to copy."""
    root = tmp_path_factory.mktemp("parties")
    asked = options(root, key_bits=2048, key_floor=2048)
    write_parties(root, deal_dataset("votes", 1).taken(range(30)), asked, 1)
    return root


@pytest.fixture
def folders(written: Path, tmp_path: Path) -> Path:
    """The same two parties, at a port of this test's own."""
    root, port = Path(shutil.copytree(written, tmp_path / "parties")), free_port()
    for name in (ALICE, BOB):
        text = (root / name / "party.toml").read_text()
        assert '"127.0.0.1:1"' in text
        (root / name / "party.toml").write_text(text.replace('"127.0.0.1:1"', f'"127.0.0.1:{port}"'))
    return root


def test_a_server_that_cannot_start_passes_on_its_error_and_code(tmp_path: Path) -> None:
    with (
        pytest.raises(PartyFailedError, match=r"bob: absent\.toml does not exist") as caught,
        Server.started(BOB, tmp_path, "serve", "absent.toml"),
    ):
        pytest.fail("was let in")
    assert caught.value.code == 2


def test_a_train_that_fails_passes_on_its_error_and_code(folders: Path) -> None:
    with Server.started(BOB, folders / BOB, "serve", "party.toml") as server:
        assert server.code is None
        with pytest.raises(PartyFailedError, match=r"alice: absent\.toml does not exist") as caught:
            train(folders / ALICE, ALICE, ("party.toml", "absent.toml"), server, lambda _: None)
        assert caught.value.code == 2
    assert server.code is not None


def test_an_error_ends_the_demo_with_its_code(tmp_path: Path, folders: Path) -> None:
    with PartyProcess.started(ALICE, tmp_path, "train", "absent.toml", "job.toml") as process:
        events = list(process.events())
        assert process.wait() == 2
    assert events == [Failure("absent.toml does not exist: name another file")]
    assert process.error == "absent.toml does not exist: name another file"
    assert (tmp_path / "log.txt").read_text() == "cotally: absent.toml does not exist: name another file\n"
    process.clear_error()
    assert not process.error
    assert [PartyFailedError("a", "", code).code for code in (None, -9, 0, 3)] == [1, 1, 1, 3]
    with Server.started(BOB, folders / BOB, "serve", "party.toml") as server:
        server.close()
        with pytest.raises(PartyFailedError, match="bob: ended without a word"):
            train(folders / ALICE, ALICE, ("party.toml", "absent.toml"), server, lambda _: None)


LAUNCHER = """
import sys, time
from pathlib import Path
from party.demo.processes import Server
with Server.started("bob", Path(sys.argv[1]), "serve", "party.toml") as server:
    print(server._process.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_party_does_not_outlive_the_demo(folders: Path, how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, folders / BOB], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as launcher:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        os.kill(child, 0)
        launcher.send_signal(how)
        launcher.wait(20)
    deadline = time.monotonic() + 10
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """Tell whether a process runs; one that has ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
