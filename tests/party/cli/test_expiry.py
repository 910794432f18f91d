"""Certificates that expire soon are told of, from thirty days ahead, by whoever starts to use them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from party.keys.certificates import LIFETIME, WARNING_DAYS
from party.keys.identity import create_identity
from party.show.parties import expiry_lines
from tests.support.processes import Pair, cotally_here, make_pair

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
    pair.edit("bob", '# address = "bob.example.org:7071"', 'address = "127.0.0.1:9"')
    pair.edit("bob", "patience = 30", "patience = 1")
    pair.edit("alice", 'listen = "127.0.0.1:0"', 'listen = "192.0.2.1:1"')  # which is no address of this machine
    party = pair.alice if command == "serve" else pair.bob
    more = [] if command == "serve" else [pair.write_job()]
    ended = cotally_here(command, party / "party.toml", *more, "--workers", "1", "--progress", "none")
    assert ended.code in (2, 3)
    assert f"note: the certificate of {whose} expires on {made.certificate.not_valid_after_utc:%Y-%m-%d}" in ended.err
