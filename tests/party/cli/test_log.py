"""`cotally serve --log`, and the files by which a node is kept running: times, levels, and no data."""

import json
import logging
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from party.cli.main import main
from party.show.log import log_event, start_log, stop_log
from protocols.errors import InputError
from tests.support.processes import Pair, finish, make_pair, serving

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "scripts" / "deploy"
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
SECRET = "canary value"


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    rows = [[SECRET if i % 3 else "x", "yn"[i % 2]] for i in range(150)]
    other = [["pq"[i // 2 % 2]] for i in range(150)]
    return make_pair(trusting, tmp_path / "parties", (["a", "class"], rows), (["c"], other))


def test_a_log_tells_of_each_session_and_fault_with_its_time_and_nothing_of_the_data(pair: Pair) -> None:
    log = pair.folder / "node.log"
    pair.edit("alice", 'omega = "all"', "omega = 1")
    with serving(pair, "--log", str(log)) as node:
        assert pair.train_here(pair.write_job(omega=2)).code == 5
        assert pair.train_here(pair.write_job(omega=1)).code == 0
        node.terminate()
        assert finish(node).code == 0
    lines = log.read_text().splitlines()
    assert all(re.fullmatch(rf"{STAMP} (info|warning|error) \S.*", line) for line in lines)
    events = [line.split(" ", 1)[1] for line in lines]
    assert re.fullmatch(r"info alice listens on \S+ for bob", events[0])
    assert events.count("info a session with bob begins") == 2
    assert any(event.startswith("error the parties differ on 'omega'") for event in events), events
    assert any(event.startswith("info the run with bob has ended: ") for event in events)
    assert SECRET not in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_log_as_json_goes_to_the_standard_error(pair: Pair) -> None:
    with serving(pair, "--log", "json", "--progress", "none") as node:
        assert pair.train_here(pair.write_job()).code == 0
        node.terminate()
        told = finish(node).err
    found = [json.loads(line) for line in told.splitlines() if line.startswith('{"time"')]
    assert {each["event"] for each in found} >= {"a session with bob begins"}
    assert all(set(each) == {"time", "level", "event"} for each in found)


def test_an_error_that_nobody_foresaw_is_logged_without_its_text(tmp_path: Path) -> None:
    handler = start_log(str(tmp_path / "log"))
    try:
        int(SECRET)
    except ValueError:
        logging.getLogger("party.transport").exception("a thread of the session failed")
    finally:
        stop_log(handler)
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert "a thread of the session failed: internal error: ValueError in test_log.py" in line
    assert SECRET not in line


def test_a_log_that_is_moved_away_is_begun_again_and_a_full_disk_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    handler = start_log(str(log))
    log_event("one")
    log.rename(tmp_path / "log.1")
    log_event("two")
    assert log.read_text().endswith("info two\n")

    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    assert isinstance(handler, logging.StreamHandler)
    monkeypatch.setattr(handler.stream, "write", full, raising=False)
    log_event("three")
    monkeypatch.undo()
    stop_log(handler)


def test_a_log_whose_folder_goes_loses_events_and_nothing_else_and_is_its_owners_alone(tmp_path: Path) -> None:
    """FAULTS case 100."""
    log = tmp_path / "logs" / "log"
    log.parent.mkdir()
    handler = start_log(str(log))
    shutil.rmtree(log.parent)
    log_event("two")
    assert not log.parent.exists()
    log.parent.mkdir()
    log_event("three")
    stop_log(handler)
    assert log.read_text().endswith("info three\n")
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_on_a_full_disk_costs_a_run_nothing_and_goes_nowhere_else(pair: Pair) -> None:
    """FAULTS case 100: by the device that is always full."""
    with serving(pair, "--once", "--log", "/dev/full", "--progress", "none") as alice:
        assert pair.train(pair.write_job(method="randomized"), "--progress", "none").code == 0
        ended = finish(alice)
    assert ended.code == 0
    assert "a session with" not in ended.err + ended.out
    assert "No space" not in ended.err + ended.out


def test_a_log_that_cannot_be_written_is_refused_at_the_start(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "nowhere" / "log"
    with pytest.raises(InputError, match="cannot be written"):
        start_log(str(target))
    assert main(["serve", str(pair.alice / "party.toml"), "--log", str(target)]) == 2
    assert "cannot be written: No such file or directory" in capsys.readouterr().err


# The files by which it is kept running


def arguments_work(words: list[str]) -> None:
    """Let the command line read these arguments: settings that are not there are the first thing that it misses."""
    done = subprocess.run(
        [sys.executable, "-m", "party.cli.main", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "party.toml" in done.stderr
    assert "--help" not in done.stderr


def test_the_unit_of_systemd_is_sound_and_starts_what_there_is(tmp_path: Path) -> None:
    text = (DEPLOY / "cotally.service").read_text()
    (command,) = re.findall(r"^ExecStart=/opt/cotally/bin/cotally (.*)$", text, re.MULTILINE)
    arguments_work(shlex.split(command))
    assert re.search(r"^RestartPreventExitStatus=2 3$", text, re.MULTILINE)
    if shutil.which("systemd-analyze") is None:
        return
    unit = tmp_path / "cotally.service"
    unit.write_text(text.replace("/opt/cotally/bin/cotally", sys.executable).replace("User=cotally\n", ""))
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert not [line for line in done.stderr.splitlines() if "cotally.service" in line], done.stderr


def test_the_container_copies_what_there_is_and_starts_it() -> None:
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", "").splitlines()
    steps = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    assert {name for name, _ in steps} == {"FROM", "COPY", "RUN", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
    for name, rest in steps:
        if name == "COPY":
            assert all((ROOT / source).exists() for source in rest.split()[:-1])
    started = {name: json.loads(rest) for name, rest in steps if name in ("ENTRYPOINT", "CMD")}
    assert started["ENTRYPOINT"] == ["cotally"]
    arguments_work(started["CMD"])
