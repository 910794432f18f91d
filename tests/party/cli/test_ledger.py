"""`cotally ledger`: an auditor reads what was told, finds what was altered, and takes it all away as JSON."""

import io
import json
import logging
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from party.cli import serve
from party.cli.main import main
from party.cli.serve import DAY_SECONDS, repeated_daily
from party.files import locked_folder
from party.keys.certificates import LIFETIME, WARNING_DAYS
from party.keys.identity import renew, trust
from party.keys.keystore import SECRET_FILE, load_secret
from party.keys.passphrase import write_secret
from party.records.ledger import LEDGER_FILE, open_ledger
from party.show.ledger import NOTHING_YET
from party.show.log import node_log, start_log, stop_log
from party.show.parties import expiry_lines
from protocols.errors import InputError
from protocols.terms import ALL, KEY_FLOOR, Counting
from tests.support.identities import create_identity
from tests.support.processes import Pair, cotally_here, finish, make_pair, run_here, serving, wait_for
from tests.support.sessions import ANY_ODDS, CASE, Sessions
from tests.support.timer import SkippingTimer


def settled(sessions: Sessions) -> Path:
    """Let the command read what Bob has kept of sessions with small keys; return his settings."""
    path = sessions.folder / "bob" / "party.toml"
    write_secret(path.with_name(SECRET_FILE), sessions.local("bob").secrets.coins)
    path.write_text(path.read_text().replace(f"smallest_key_bits = {CASE.terms.key_bits}", ""))
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bob's folder after a run: to copy."""
    sessions = Sessions(tmp_path_factory.mktemp("played"), CASE, ANY_ODDS)
    sessions.run()
    return settled(sessions).parent


@pytest.fixture
def config(played: Path, tmp_path: Path) -> Path:
    """Return Bob's settings after a run."""
    return Path(shutil.copytree(played, tmp_path / "bob")) / "party.toml"


def run(config: Path, *words: str) -> int:
    return main(["ledger", words[0], str(config), *words[1:]])


def test_what_is_not_said_is_to_show_and_the_folder_will_do(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(config, "show") == 0
    shown = capsys.readouterr().out
    assert shown
    for named in (config, config.parent):
        assert main(["ledger", str(named)]) == 0
        assert capsys.readouterr().out == shown


def test_a_ledger_by_which_nothing_was_revealed_says_so(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new").mkdir(mode=0o700)
    for part in config.parent.glob(f"{LEDGER_FILE}*"):
        part.unlink()
    with locked_folder(tmp_path / "new") as held, open_ledger(held, load_secret(config.parent)):
        shutil.copy(tmp_path / "new" / LEDGER_FILE, config.parent)
    assert run(config, "show") == 0
    assert capsys.readouterr().out == f"{NOTHING_YET}\n"


def test_counts_with_noise_are_told_apart_from_exact_ones_with_their_epsilon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = Sessions(tmp_path, CASE, ANY_ODDS)
    sessions.run()
    noisy = replace(CASE.terms, omega=ALL, max_depth=1, noise=Fraction(50))
    sessions.run(noisy)
    sessions.run(replace(noisy, counting=Counting.PAILLIER))  # tells the same numbers again
    assert run(settled(sessions), "show", "--full") == 0
    out = capsys.readouterr().out
    _, *parts = out.split("with noise, epsilon 50 against each side:")
    assert [" counts in " in part.splitlines()[1] for part in parts] == [False, True]
    for part in parts:
        assert "exact counts" not in part.partition("What we")[0].partition("Every table")[0]
    exact, noisy_tables = out.split("Every table of counts with noise that we know")
    assert "Every table of exact counts that we know" in exact
    assert "all training records: " in noisy_tables


def test_show_says_in_words_or_in_full_what_each_side_has_learned(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "show") == 0
    out = capsys.readouterr().out
    us, rest = out.split("What we learned from alice:")
    them, both = rest.split("What both learned:")
    assert "Data set 'case' with alice: 1 run" in us
    assert "a disguised copy of 3 columns, theta 7/10: " in us
    assert "strongest odds of a value: 7/3 to 1" in us
    assert "for certain, of 'b" in us
    assert "how many training records each of 2 classes has" in us
    assert "the names of 2 columns (a0, a1) and of their 5 values, as the whole file has them; 80 of its" in them
    assert "a disguised copy of 2 columns, theta 7/10: a0, a1" in them
    for line in (
        "which columns rank highest at ",
        "exact counts in ",
        "held-out records the model gets right",
        "the fin",
    ):
        assert [part.count(line) for part in (us, them, both)] == [0, 0, 1]
    assert "all training records:" not in out
    assert run(config, "show", "--full") == 0
    out = capsys.readouterr().out
    assert run(config, "export") == 0
    exported = json.loads(capsys.readouterr().out)
    nodes = [
        node
        for entry in exported["entries"]
        if entry["kind"] == "counts" and entry["way"] != "told"
        for node in entry["nodes"]
    ]
    ((column, rows),) = nodes[0]["counts"].items()
    assert f"all training records: {column}: {'; '.join(', '.join(map(str, row)) for row in rows)}" in out
    (name, value) = nodes[1]["path"][0]
    assert f"{name} = {value}" in out


def test_export_holds_every_entry_in_order_and_writes_what_it_prints(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "export") == 0
    exported = json.loads(capsys.readouterr().out)
    assert exported["format"] == "cotally-ledger/3"
    assert [entry["number"] for entry in exported["entries"]] == list(range(1, len(exported["entries"]) + 1))
    kinds = [entry["kind"] for entry in exported["entries"] if entry["kind"] != "comparison"]
    assert kinds[:2] == ["columns", "run"]
    assert {entry["peer"] for entry in exported["entries"]} == {"alice"}
    assert run(config, "export") == 0
    printed = capsys.readouterr().out
    output = config.parent / "ledger.json"
    output.write_text("earlier")
    assert run(config, "export", "-o", str(output)) == 2
    assert output.read_text() == "earlier"
    assert run(config, "export", "-o", str(output), "--overwrite") == 0
    assert output.read_text() == printed
    assert run(config, "verify", "-o", str(output), "--overwrite") == 2
    assert "--output is for export" in capsys.readouterr().err


def test_verify_says_that_all_is_whole_or_names_the_altered_entry(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(config, "verify") == 0
    out = capsys.readouterr().out
    assert "not one altered, dropped or moved" in out
    assert "alice last showed us" in out
    with sqlite3.connect(config.parent / LEDGER_FILE) as connection:
        connection.execute("UPDATE entries SET content = content || ' ' WHERE number = 3")
    connection.close()
    for action in ("show", "verify", "export"):
        assert run(config, action) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert "entry 3 was altered" in captured.err


def test_a_ledger_is_found_only_beside_legal_settings(config: Path) -> None:
    config.write_text(config.read_text() + f"\nsmallest_key_bits = {KEY_FLOOR - 1}\n")
    assert run(config, "show") == 2


ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "scripts" / "deploy"
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
SECRET = "canary value"


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    rows = [[SECRET if i % 3 else "x", "yn"[i % 2]] for i in range(150)]
    other = [["pq"[i // 2 % 2]] for i in range(150)]
    return make_pair(trusting, tmp_path / "parties", (["a", "class"], rows), (["c"], other))


def test_a_log_shows_each_session_and_fault_with_its_time_and_nothing_of_the_data(pair: Pair) -> None:
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
    pair.edit("alice", 'omega = "all"', "omega = 1")
    with serving(pair, "--log", "json", "--progress", "none") as node:
        assert pair.train_here(pair.write_job(omega=2)).code == 5
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
    assert "a thread of the session failed: internal error: ValueError in test_ledger.py" in line
    assert SECRET not in line


def test_a_log_that_is_moved_away_is_begun_again_and_a_full_disk_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    handler = start_log(str(log))
    node_log.info("one")
    log.rename(tmp_path / "log.1")
    node_log.info("two")
    assert log.read_text().endswith("info two\n")

    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    assert isinstance(handler, logging.StreamHandler)
    monkeypatch.setattr(handler.stream, "write", full, raising=False)
    node_log.info("three")
    monkeypatch.undo()
    stop_log(handler)


def test_a_log_whose_folder_goes_loses_events_and_nothing_else_and_is_its_owners_alone(tmp_path: Path) -> None:
    """FAULTS case 100."""
    log = tmp_path / "logs" / "log"
    log.parent.mkdir()
    handler = start_log(str(log))
    shutil.rmtree(log.parent)
    node_log.info("two")
    assert not log.parent.exists()
    log.parent.mkdir()
    node_log.info("three")
    stop_log(handler)
    assert log.read_text().endswith("info three\n")
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_on_a_full_disk_costs_a_run_nothing_and_goes_nowhere_else(pair: Pair) -> None:
    """FAULTS case 100: by the device that is always full."""
    with serving(pair, "--once", "--log", "/dev/full", "--progress", "none") as alice:
        assert pair.train_here(pair.write_job(method="randomized"), "--progress", "none").code == 0
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
    ended = cotally_here(*words)
    assert ended.code == 2
    assert "party.toml" in ended.err
    assert "--help" not in ended.err


def test_the_unit_of_systemd_and_the_container_start_what_there_is(tmp_path: Path) -> None:
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
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", "").splitlines()
    steps = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    started = {name: json.loads(rest) for name, rest in steps if name in ("ENTRYPOINT", "CMD")}
    assert started["ENTRYPOINT"] == ["cotally"]
    arguments_work(started["CMD"])


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]


@pytest.mark.parametrize(("days", "told"), [(WARNING_DAYS, False), (WARNING_DAYS - 1, True), (0, True)])
def test_who_has_less_than_thirty_days_sees_the_date(tmp_path: Path, days: int, told: bool) -> None:
    made = create_identity(tmp_path, "bob", clock=lambda: NOW)
    lines = expiry_lines([made], NOW + LIFETIME - timedelta(days=days))
    assert bool(lines) is told
    if told:
        assert "the certificate of bob expires on 2028-04-30" in lines[0]


@pytest.mark.parametrize("command", ["serve", "train"])
@pytest.mark.parametrize("whose", ["alice", "bob"])
def test_both_commands_name_either_certificate_before_anybody_is_met(
    trusting: Path, tmp_path: Path, command: str, whose: str
) -> None:
    pair: Pair = make_pair(trusting, tmp_path / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))
    folder, other = pair.folder / whose, pair.folder / ("bob" if whose == "alice" else "alice")
    for name in ("key.pem", "cert.pem"):
        (folder / name).unlink()
    made = create_identity(folder, whose, clock=lambda: datetime.now(UTC) - LIFETIME + timedelta(days=9))
    (other / "peers" / f"{whose}.pem").write_bytes(made.pem)
    pair.edit("bob", '# address = "alice.example.org:7071"', 'address = "127.0.0.1:9"')
    pair.edit("bob", "patience = 30", "patience = 1")
    pair.edit("alice", 'listen = "127.0.0.1:0"', 'listen = "192.0.2.1:1"')  # which is no address of this machine
    party = pair.alice if command == "serve" else pair.bob
    more = [] if command == "serve" else [pair.write_job()]
    ended = cotally_here(command, party / "party.toml", *more, "--workers", "1", "--progress", "none")
    assert ended.code in (2, 3)
    assert f"note: the certificate of {whose} expires on {made.certificate.not_valid_after_utc:%Y-%m-%d}" in ended.err


def test_a_task_is_repeated_once_a_day_and_not_before_a_day_is_over() -> None:
    timer, days = SkippingTimer(stands=True), list[float]()
    with repeated_daily(lambda: days.append(timer.now()), timer):
        timer.skip(DAY_SECONDS - 1)
        timer.settle()
        assert not days
        for day in (1, 2, 3):
            timer.skip(DAY_SECONDS)
            wait_for(lambda day=day: len(days) == day)
    timer.skip(DAY_SECONDS)
    timer.settle()
    assert len(days) == 3


def test_who_serves_repeats_it_until_both_certificates_are_renewed(
    trusting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day is a fifth of a second; Alice renews hers, and Bob's is trusted again, while she serves."""
    monkeypatch.setattr(serve, "DAY_SECONDS", 0.2)
    pair: Pair = make_pair(trusting, tmp_path / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))
    soon = datetime.now(UTC) - LIFETIME + timedelta(days=9)
    for name in ("alice", "bob"):
        renew(pair.folder / name, clock=lambda: soon)
    trust(pair.alice, pair.bob / "cert.pem")
    told = io.StringIO()
    main_thread, problems = threading.get_ident(), list[BaseException]()

    def said(name: str) -> int:
        return told.getvalue().count(f"the certificate of {name} expires on")

    def live() -> None:
        try:
            wait_for(lambda: said("alice") > 2 and said("bob") > 2)
            renew(pair.alice)
            renew(pair.bob)
            trust(pair.alice, pair.bob / "cert.pem")
            before = said("alice"), said("bob")
            time.sleep(1.0)  # five days
            assert said("alice") <= before[0] + 1  # one that had been read before
            assert said("bob") <= before[1] + 1
        except BaseException as error:  # noqa: BLE001  # for the test to look at
            problems.append(error)
        signal.pthread_kill(main_thread, signal.SIGTERM)

    thread = threading.Thread(target=live)
    thread.start()
    assert run_here(["serve", pair.alice, "--workers", "1", "--progress", "none"], io.StringIO(), told) == 0
    thread.join()
    assert not problems
