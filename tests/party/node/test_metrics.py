"""The page of metrics by itself: a ledger that cannot be read, and a caller that says nothing."""

import re
import socket
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from urllib.request import urlopen

import pytest

from party.names import Address
from party.node import metrics
from party.node.metrics import shown_over_http
from party.records.ledger import LEDGER_FILE
from party.show.metrics import Watched
from protocols.errors import DisagreementError, NotApprovedError
from tests.support.channels import memory_channels
from tests.support.identities import create_identity

HERE = Address("127.0.0.1", 0)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    own = create_identity(tmp_path / "alice", "alice")
    return Watched(tmp_path / "alice", lambda: [own, own], lambda: None)


def test_what_cannot_be_read_is_left_out_alone(watched: Watched) -> None:
    with shown_over_http(watched.rows, HERE) as address:
        whole = urlopen(f"http://{address}/metrics", timeout=20).read().decode()
        (watched.folder / LEDGER_FILE).write_bytes(b"spoilt")
        (watched.folder / LEDGER_FILE).chmod(0o600)
        rest = urlopen(f"http://{address}/metrics", timeout=20).read().decode()
    assert "\ncotally_ledger_entries 0.0" in whole
    assert [line for line in whole.splitlines() if "ledger" not in line and "days{" not in line] == [
        line for line in rest.splitlines() if "days{" not in line
    ]


@pytest.mark.parametrize("served", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_website_whose_name_leads_to_this_machine_reads_nothing(watched: Watched, served: str) -> None:
    with shown_over_http(watched.rows, Address(served, 0)) as address:
        told = {
            host: answer_to(address.port, host)
            for host in (str(address), f"LOCALHOST:{address.port}", f"evil.example:{address.port}", "evil.example", "")
        }
    own, by_name, *others = (b"cotally_phase" in each for each in told.values())
    assert own
    assert by_name
    assert others == [served == "0.0.0.0"] * 3  # the control: shown beyond this machine, under any name
    refused = f"HTTP/1.0 421 .*Ask for this page as http://{address}/metrics\n"
    assert served == "0.0.0.0" or re.fullmatch(refused, told["evil.example"].decode(), re.DOTALL)


def answer_to(port: int, host: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 20) as caller, caller.makefile("rb") as answer:
        caller.sendall(f"GET /metrics HTTP/1.0\r\n{f'Host: {host}' if host else 'X: y'}\r\n\r\n".encode())
        return answer.read()


@pytest.mark.parametrize("trickles", [False, True])
def test_who_takes_too_long_to_ask_is_cut_off_in_silence(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], trickles: bool
) -> None:
    monkeypatch.setattr(metrics, "CALL_SECONDS", 0.2)
    with (
        shown_over_http(watched.rows, HERE) as address,
        socket.create_connection((address.host, address.port), 20) as caller,
    ):
        caller.sendall(b"GET /met")
        caller.settimeout(0.02 if trickles else 20)
        for _ in range(1000):
            try:
                assert caller.recv(1) == b""
                break
            except TimeoutError:
                caller.sendall(b"r")
            except ConnectionError:  # it sent when the other side had ended
                break
        else:
            pytest.fail("it was not cut off")
        metrics._shut(caller)
    metrics._shut(caller)  # which ended just before it was cut off
    assert capfd.readouterr().err == ""


def test_few_are_heard_at_once_and_the_page_is_there_again_when_they_are_gone(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "MOST_CALLERS", 3)
    monkeypatch.setattr(metrics, "CALL_SECONDS", 600.0)
    with shown_over_http(watched.rows, HERE) as address, ExitStack() as callers:
        where = (address.host, address.port)
        waiting = [callers.enter_context(socket.create_connection(where, 20)) for _ in range(4)]
        assert waiting[-1].recv(1) == b""
        assert all(each.daemon for each in threading.enumerate() if isinstance(each, threading.Timer))
        for each in waiting:
            each.shutdown(socket.SHUT_WR)
            each.recv(1)
        for _ in range(6):
            assert any(is_shown(address) for _ in range(1000))  # the last caller may still be going


def test_a_caller_for_whom_no_thread_is_left_keeps_no_place_and_is_named_nowhere(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    begin, left = ThreadingMixIn.process_request, iter(range(3))

    def begins(server: Any, request: Any, caller: object) -> None:
        if next(left, None) is not None:
            raise RuntimeError("can't start new thread")
        begin(server, request, caller)

    monkeypatch.setattr(metrics, "MOST_CALLERS", 1)
    monkeypatch.setattr(ThreadingMixIn, "process_request", begins)
    with shown_over_http(watched.rows, HERE) as address:
        assert [is_shown(address) for _ in range(4)] == [False, False, False, True]
    assert capfd.readouterr().err == ""


def is_shown(address: Address) -> bool:
    try:
        return bool(urlopen(f"http://{address}/metrics", timeout=20).read())
    except OSError:
        return False


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (None, "0"), (NotApprovedError("approval", "waits"), "approval"),
        (DisagreementError("theta", "differs"), "5"), (ValueError(), "1"), (SystemExit(0), None),
        (KeyboardInterrupt(), None),
    ],
)  # fmt: skip
def test_a_session_counts_by_how_it_ends_and_a_job_that_waits_for_people_as_no_failure(
    watched: Watched, end: BaseException | None, code: str | None
) -> None:
    ends = (NotApprovedError, DisagreementError, ValueError, SystemExit, KeyboardInterrupt)
    with suppress(*ends), watched.session(memory_channels()[0]):
        if end is not None:
            raise end
    (_, _, _, ended) = next(row for row in watched.rows() if row[0] == "cotally_sessions_total")
    assert {word for word, number in ended.items() if number} == ({code} if code else set())
