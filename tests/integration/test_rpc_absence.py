"""Peers that go, by every way out, and peers that are not there yet."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from party.errors import PeerLostError
from party.transport.channel import PagedChannel
from party.transport.grpc import client as client_module
from party.transport.pages import Reason
from protocols.messages import Verdict
from tests.support.processes import wait_for
from tests.support.rpc import Parties, session
from tests.support.timer import SkippingTimer

Start = Callable[..., "Future[object]"]
MIB = 1 << 20


# A peer that goes

PROGRAM = """
import sys, time
from pathlib import Path
from party.keys.identity import load_identity, load_peers
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from protocols.messages import Verdict
own, role, address = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
identity, peers = load_identity(own), load_peers(own)
if role == "serve":
    server = NodeServer.listen(identity, peers.values(), address)
    print(server.address, flush=True)
    channel = server.accept()
else:
    channel = connect(identity, *peers.values(), address)
    print("connected", flush=True)
channel.receive(Verdict)
"""


@contextlib.contextmanager
def process(directory: Path, role: str, address: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    command = [sys.executable, "-c", PROGRAM, str(directory), role, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield child, child.stdout.readline().strip()
        finally:
            child.kill()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_responder_misses_its_peer_when_its_patience_ends_and_not_before(
    directory: Path, parties: Parties, start: Start, timer: SkippingTimer, how: int
) -> None:
    with (
        parties.serve(patience=30, timer=timer) as server,
        process(directory / "alice", "connect", server.address) as (child, _),
    ):
        bob = server.accept(10)
        child.send_signal(how)
        heard = start(bob.receive, Verdict)
        timer.skip(20)
        timer.settle()
        assert not heard.done()
        timer.skip_until(heard.done, 0.2)  # in small steps: it is missed before its silence ends the run
        with pytest.raises(PeerLostError, match=r"^lost alice: it has not called for 30 s$"):
            heard.result()
        assert timer.skipped >= 30


def test_an_initiator_misses_a_frozen_peer_within_its_patience(directory: Path, parties: Parties) -> None:
    with process(directory / "bob", "serve", "127.0.0.1:0") as (child, address):
        alice = parties.connect(address, patience=2.0)
        child.send_signal(signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(PeerLostError, match=r"^bob at .* does not answer, for 2 s now$"):
            alice.receive(Verdict)
        assert 1.0 < time.monotonic() - started < 8.0
        alice.stop(Reason.CANCELLED)


def test_an_initiator_misses_a_killed_peer_long_before_its_patience_ends(
    directory: Path, parties: Parties, start: Start, timer: SkippingTimer
) -> None:
    with process(directory / "bob", "serve", "127.0.0.1:0") as (child, address):
        alice = parties.connect(address, patience=6000.0, timer=timer)
        child.kill()
        heard = start(alice.receive, Verdict)
        timer.skip_until(heard.done, 0.5)
        with pytest.raises(PeerLostError, match=r"^bob at .* refuses connections, for 5 s now$"):
            heard.result()
        assert 4 < timer.skipped < 6000
        alice.stop(Reason.CANCELLED)


def test_what_arrived_before_the_peer_was_lost_is_still_read(parties: Parties, timer: SkippingTimer) -> None:
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        alice.send(Verdict("last words"))
        wait_for(lambda: bob._incoming.unread)
        alice._release()
        timer.skip_until(lambda: bob._incoming.failure, 5)
        assert bob.receive(Verdict) == Verdict("last words")
        with pytest.raises(PeerLostError):
            bob.receive(Verdict)
        with pytest.raises(PeerLostError):
            bob.send(Verdict(""))


def test_a_close_that_delivered_nothing_says_so_and_one_that_delivered_all_is_content(
    parties: Parties, start: Start, timer: SkippingTimer
) -> None:
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        alice._release()
        bob.send(Verdict(""))
        closing = start(bob.close)
        timer.skip_until(closing.done, 5)
        with pytest.raises(PeerLostError):
            closing.result()
    with session(parties, patience=30, timer=timer) as (alice, bob, _):
        alice._release()
        closing = start(bob.close)
        timer.skip_until(closing.done, 5)
        closing.result()


def test_a_responder_that_was_started_again_does_not_know_the_session(directory: Path, parties: Parties) -> None:
    with process(directory / "bob", "serve", "127.0.0.1:0") as (child, address):
        alice = parties.connect(address, patience=10.0)
        child.kill()
    with parties.serve(address), pytest.raises(PeerLostError, match="does not know this session any more"):
        alice.receive(Verdict)
    alice.stop(Reason.CANCELLED)


# Before a session


def test_an_initiator_may_start_before_its_peer(
    parties: Parties, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []
    pause = client_module._Line._pause

    def noted(line: Any, attempt: int) -> bool:
        failed.append(attempt)
        return pause(line, attempt)

    monkeypatch.setattr(client_module._Line, "_pause", noted)
    with parties.serve() as server:
        address = server.address
    early = start(parties.connect, address, patience=10.0)
    wait_for(lambda: len(failed) > 3)
    with parties.serve(address) as server:
        bob = server.accept(10)
        alice = early.result(5)
        assert isinstance(alice, PagedChannel)
        alice.close()
        bob.close()


def test_an_absent_peer_is_named_with_its_address_in_one_line(parties: Parties) -> None:
    with parties.serve() as server:
        address = server.address
    started = time.monotonic()
    with pytest.raises(PeerLostError, match=f"^bob at {address} refuses connections, nobody .* 1 s") as lost:
        parties.connect(address, patience=1.0)
    assert "\n" not in str(lost.value)
    assert 0.9 < time.monotonic() - started < 8.0
