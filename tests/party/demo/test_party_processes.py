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
from party.demo.processes import PartyProcess, free_port, run_together
from tests.party.demo.test_data import options
from tests.support.examples import few


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


def test_what_a_party_fails_on_is_passed_on_with_its_code(folders: Path) -> None:
    with (
        PartyProcess(folders / BOB) as bob,
        PartyProcess(folders / ALICE) as alice,
        pytest.raises(PartyFailedError) as caught,
    ):
        run_together(bob, alice, "absent.toml", "model.json", lambda _: None)
    assert str(caught.value) == f"alice: {folders / ALICE / 'absent.toml'} does not exist: name another file"
    assert caught.value.code == 2


def test_a_party_that_dies_ends_the_run_at_once(folders: Path) -> None:
    with PartyProcess(folders / BOB) as bob, PartyProcess(folders / ALICE) as alice:
        os.kill(bob.pid, signal.SIGKILL)
        with pytest.raises(PartyFailedError, match=r"\bbob: ended without a word$"):
            run_together(bob, alice, "job.toml", "model.json", lambda _: None)


LAUNCHER = """
import sys, time
from pathlib import Path
from party.demo.processes import PartyProcess
if __name__ == "__main__":
    with PartyProcess(Path(sys.argv[1])) as bob:
        bob.begin("model.json")
        print(bob.pid, flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("how", few([signal.SIGKILL, signal.SIGINT], 2))
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
