"""The page of metrics by itself: a ledger that cannot be read, and a caller that says nothing."""

import socket
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from party.names import Address
from party.records.ledger import LEDGER_FILE
from party.show import metrics
from party.show.metrics import Watched, shown_over_http
from protocols.errors import DisagreementError, NotApprovedError
from tests.support.channels import memory_channels
from tests.support.identities import create_identity

HERE = Address("127.0.0.1", 0)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    own = create_identity(tmp_path / "alice", "alice")
    return Watched(tmp_path / "alice", lambda: [own, own], lambda: None)


def test_what_cannot_be_read_is_left_out_alone(watched: Watched) -> None:
    with shown_over_http(watched, HERE) as address:
        whole = urlopen(f"http://{address}/metrics", timeout=20).read().decode()
        (watched.folder / LEDGER_FILE).write_bytes(b"spoilt")
        (watched.folder / LEDGER_FILE).chmod(0o600)
        rest = urlopen(f"http://{address}/metrics", timeout=20).read().decode()
    assert "\ncotally_ledger_entries 0.0" in whole
    assert [line for line in whole.splitlines() if "ledger" not in line and "days{" not in line] == [
        line for line in rest.splitlines() if "days{" not in line
    ]


def test_who_asks_for_nothing_is_cut_off(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "SILENT_SECONDS", 0.05)
    with (
        shown_over_http(watched, HERE) as address,
        socket.create_connection((address.host, address.port), 20) as caller,
    ):
        caller.sendall(b"GET /met")
        assert caller.recv(1) == b""


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (None, "0"),
        (NotApprovedError("approval", "waits"), "approval"),
        (DisagreementError("theta", "differs"), "5"),
        (ValueError(), "1"),
        (SystemExit(0), None),
        (KeyboardInterrupt(), None),
    ],
)
def test_a_session_counts_by_how_it_ends_and_a_job_that_waits_for_people_as_no_failure(
    watched: Watched, end: BaseException | None, code: str | None
) -> None:
    ends = (NotApprovedError, DisagreementError, ValueError, SystemExit, KeyboardInterrupt)
    with suppress(*ends), watched.session(memory_channels()[0]):
        if end is not None:
            raise end
    (_, _, _, ended) = next(row for row in watched.rows() if row[0] == "cotally_sessions_total")
    assert {word for word, number in ended.items() if number} == ({code} if code else set())
