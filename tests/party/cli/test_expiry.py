"""Certificates that expire soon are reported from thirty days ahead, at each start that uses them."""

import io
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from party.cli import serve
from party.cli.serve import DAY_SECONDS, repeated_daily
from party.keys.certificates import LIFETIME, WARNING_DAYS
from party.keys.identity import renew, trust
from party.show.parties import expiry_lines
from tests.support.identities import create_identity
from tests.support.processes import Pair, cotally_here, make_pair, run_here, wait_for
from tests.support.timer import SkippingTimer

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]


@pytest.mark.parametrize(("days", "told"), [(WARNING_DAYS, False), (WARNING_DAYS - 1, True), (0, True)])
def test_who_has_less_than_thirty_days_is_told_the_date(tmp_path: Path, days: int, told: bool) -> None:
    made = create_identity(tmp_path, "bob", clock=lambda: NOW)
    lines = expiry_lines([made], NOW + LIFETIME - timedelta(days=days))
    assert bool(lines) is told
    if told:
        assert "the certificate of bob expires on 2028-04-30" in lines[0]


@pytest.mark.parametrize("command", ["serve", "train"])
@pytest.mark.parametrize("whose", ["alice", "bob"])
def test_both_commands_tell_of_either_certificate_before_anybody_is_met(
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
