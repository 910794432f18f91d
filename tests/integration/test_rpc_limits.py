"""Calls by hand: order, repetition, malformed bodies and limits, at both ends (FAULTS cases 64 to 80)."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import grpc
import pytest

from party.errors import PeerLostError
from party.transport.channel import PagedChannel
from party.transport.grpc import server as server_module
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import LONG_POLL
from party.transport.pages import PAGE_BYTES, WINDOW, Reason
from party.wire.codec import encode
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import PeerError
from protocols.messages import Verdict
from tests.support.processes import wait_for
from tests.support.responder import BAD_PAGES
from tests.support.rpc import SESSION, WIRE_VERSION, Parties, call, opened, raw_channel, stub
from tests.support.timer import SkippingTimer

A = TypeVar("A")
Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=SESSION)
FRAME = encode(Verdict("theta"))


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait long until callers by hand, who are gone, have heard of a stop."""
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.2)


@pytest.fixture
def server(parties: Parties) -> Iterator[NodeServer]:
    with parties.serve(patience=30) as node:
        yield node


@pytest.fixture
def node(parties: Parties, server: NodeServer) -> Iterator[node_pb2_grpc.NodeStub]:
    """Call Bob's node by hand, in the session `SESSION`."""
    with stub(parties.alice, parties.pinned_bob, server.address) as calls:
        yield opened(calls)


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the calls that have reached a session of Bob's."""
    names: list[str] = []

    def noted(name: str) -> Callable[..., object]:
        method = getattr(server_module._Session, name)

        def call(*arguments: object) -> object:
            names.append(name)
            return method(*arguments)

        return call

    for name in ("push", "pull"):
        monkeypatch.setattr(server_module._Session, name, noted(name))
    return names


def push(
    node: node_pb2_grpc.NodeStub, sequence: int, body: bytes = FRAME, *, last: bool = True, end: int = 0
) -> grpc.StatusCode:
    page = wire.Page(sequence=sequence, body=body, last=last, end=end)  # type: ignore[arg-type]
    return code_of(lambda: node.Push(wire.PushRequest(session=SESSION, page=page), timeout=5))


def pull(node: node_pb2_grpc.NodeStub, sequence: int) -> wire.PullReply:
    return node.Pull(wire.PullRequest(session=SESSION, sequence=sequence), timeout=5)


def code_of(action: Callable[[], object]) -> grpc.StatusCode:
    try:
        action()
    except grpc.RpcError as error:
        return error.code()
    return Code.OK


# Order and repetition


def test_a_repeated_push_is_acknowledged_and_delivered_once(server: NodeServer, node: node_pb2_grpc.NodeStub) -> None:
    bob = server.accept(5)
    second = encode(Verdict("omega"))
    assert [push(node, 0), push(node, 0), push(node, 1, second), push(node, 1, second)] == [Code.OK] * 4
    assert push(node, 2, end=1, body=b"", last=False) is Code.OK
    assert [bob.receive(Verdict), bob.receive(Verdict)] == [Verdict("theta"), Verdict("omega")]
    with pytest.raises(PeerError, match="ended the session"):
        bob.receive(Verdict)


def test_a_push_out_of_order_or_with_another_content_is_refused(node: node_pb2_grpc.NodeStub) -> None:
    assert push(node, 1) is Code.FAILED_PRECONDITION
    assert push(node, 0) is Code.OK
    assert push(node, 2) is Code.FAILED_PRECONDITION
    assert push(node, 0, encode(Verdict("other"))) is Code.FAILED_PRECONDITION
    assert push(node, 1) is Code.OK
    assert push(node, 0) is Code.FAILED_PRECONDITION


def test_pushes_at_once_with_one_number_are_delivered_once(
    server: NodeServer, node: node_pb2_grpc.NodeStub, arrived: list[str]
) -> None:
    bob = server.accept(5)
    for sequence in range(WINDOW):
        assert push(node, sequence) is Code.OK
    with ThreadPoolExecutor(4) as pool:  # the inbox is full: all wait
        waiting = [pool.submit(push, node, WINDOW) for _ in range(4)]
        wait_for(lambda: len(arrived) == WINDOW + 4)
        assert bob.receive(Verdict) == Verdict("theta")
        assert [each.result(10) for each in waiting] == [Code.OK] * 4
    assert push(node, WINDOW + 1) is Code.RESOURCE_EXHAUSTED


@contextlib.contextmanager
def long_poll(parties: Parties, call: Callable[[node_pb2_grpc.NodeStub], A], *, pages: int = 0) -> Iterator[Future[A]]:
    """Make a call after a few pages, and let exactly as much time pass as it may wait."""
    still = SkippingTimer(stands=True)
    with (
        parties.serve(patience=30, timer=still) as server,
        stub(parties.alice, parties.pinned_bob, server.address) as calls,
        ThreadPoolExecutor(1) as pool,
    ):
        opened(calls)
        for sequence in range(pages):
            assert push(calls, sequence) is Code.OK
        waiting = pool.submit(call, calls)
        wait_for(lambda: still.waiting)
        still.skip(0.99 * LONG_POLL)
        still.settle()
        assert not waiting.done()
        still.skip(0.01 * LONG_POLL)
        yield waiting


def test_a_full_inbox_says_not_now_after_a_long_poll(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.0)
    with long_poll(parties, lambda node: push(node, WINDOW), pages=WINDOW) as code:
        assert code.result(5) is Code.RESOURCE_EXHAUSTED


def test_a_repeated_pull_gives_the_same_page(server: NodeServer, node: node_pb2_grpc.NodeStub) -> None:
    bob = server.accept(5)
    bob.send(Verdict("theta"))
    bob.send(Verdict("omega"))
    first = pull(node, 0)
    assert first.page.body == FRAME
    assert pull(node, 0) == first
    second = pull(node, 1)
    assert second == pull(node, 1) != first


def test_pulls_at_once_with_one_number_give_the_same_page(
    server: NodeServer, node: node_pb2_grpc.NodeStub, arrived: list[str]
) -> None:
    bob = server.accept(5)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(pull, node, 0) for _ in range(4)]
        wait_for(lambda: len(arrived) == 4)
        bob.send(Verdict("theta"))
        bob.send(Verdict("omega"))
        assert [each.result(10).page.body for each in waiting] == [FRAME] * 4


def test_a_pull_out_of_order_is_refused(server: NodeServer, node: node_pb2_grpc.NodeStub) -> None:
    bob = server.accept(5)
    assert code_of(lambda: pull(node, 1)) is Code.FAILED_PRECONDITION
    for _ in range(3):
        bob.send(Verdict("theta"))
    pull(node, 0)
    pull(node, 1)
    assert code_of(lambda: pull(node, 0)) is Code.FAILED_PRECONDITION
    assert code_of(lambda: pull(node, 3)) is Code.FAILED_PRECONDITION
    assert pull(node, 2).HasField("page")


def test_a_pull_without_a_page_returns_after_a_long_poll(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.0)
    with long_poll(parties, lambda node: pull(node, 0)) as reply:
        assert not reply.result(5).HasField("page")


def test_a_repeated_open_is_the_same_session_and_another_takes_its_place(
    server: NodeServer, node: node_pb2_grpc.NodeStub
) -> None:
    assert push(node, 0) is Code.OK
    assert node.Open(OPEN, timeout=5).version == WIRE_VERSION
    assert push(node, 1) is Code.OK
    bob = server.accept(5)
    assert bob.receive(Verdict) == Verdict("theta")
    with pytest.raises(PeerLostError):
        server.accept(0.1)  # the session was accepted once
    other = wire.OpenRequest(version=WIRE_VERSION, session=bytes(15) + b"1")
    assert node.Open(other, timeout=5).version == WIRE_VERSION
    assert push(node, 2) is Code.NOT_FOUND
    assert server.accept(5) is not bob


def test_signs_of_life_keep_a_session(parties: Parties, timer: SkippingTimer) -> None:
    with (
        parties.serve(patience=30, timer=timer) as server,
        stub(parties.alice, parties.pinned_bob, server.address) as calls,
    ):
        bob = server.accept(5) if opened(calls) else None
        for _ in range(10):
            timer.skip(20)
            timer.settle()
            calls.Push(wire.PushRequest(session=SESSION), timeout=5)
        assert push(calls, 0) is Code.OK
        assert bob is not None
        assert bob.receive(Verdict) == Verdict("theta")


def test_calls_of_a_lost_session_are_told_so(parties: Parties, timer: SkippingTimer) -> None:
    with (
        parties.serve(patience=30, timer=timer) as server,
        stub(parties.alice, parties.pinned_bob, server.address) as calls,
    ):
        opened(calls)
        lost = server.accept(5)
        timer.skip_until(lambda: lost._incoming.failure, 5)
        assert push(calls, 0) is Code.NOT_FOUND
        assert code_of(lambda: pull(calls, 0)) is Code.NOT_FOUND


@pytest.mark.parametrize(
    ("reason", "code"),
    [(Reason.DEVIATION, Code.ABORTED), (Reason.CANCELLED, Code.CANCELLED), (Reason.INTERNAL, Code.INTERNAL)],
)
def test_after_a_stop_every_call_learns_the_reason_and_no_check(
    server: NodeServer, node: node_pb2_grpc.NodeStub, arrived: list[str], reason: Reason, code: grpc.StatusCode
) -> None:
    bob = server.accept(5)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(code_of, lambda: pull(node, 0))
        wait_for(lambda: arrived)
        bob.stop(reason)
        assert waiting.result(5) is code
    assert push(node, 0) is code


# Malformed calls


@pytest.mark.parametrize("page", BAD_PAGES.values(), ids=list(BAD_PAGES))
def test_a_page_that_no_frame_has_is_refused(node: node_pb2_grpc.NodeStub, page: wire.Page) -> None:
    request = wire.PushRequest(session=SESSION, page=page)
    assert code_of(lambda: node.Push(request, timeout=5)) is Code.INVALID_ARGUMENT
    assert push(node, 0) is Code.OK  # and the session goes on


BODIES = {
    "random": b"\xff" * 50,
    "zeros": bytes(50),
    "truncated": OPEN.SerializeToString()[:-1],
    "trailing": OPEN.SerializeToString() + b"\x00",
    "an unknown field": OPEN.SerializeToString() + b"\x78\x01",
    "a field twice": OPEN.SerializeToString() * 2,
    "a short id": wire.OpenRequest(version=WIRE_VERSION, session=bytes(15)).SerializeToString(),
    "nested": b"\x0b" * 10_000,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_a_malformed_call_is_refused_by_a_fixed_text(parties: Parties, server: NodeServer, body: bytes) -> None:
    with raw_channel(parties.alice, parties.pinned_bob, server.address) as channel:
        with pytest.raises(grpc.RpcError) as error:
            call(channel, "Open", body)
        assert (error.value.code(), error.value.details()) == (Code.INVALID_ARGUMENT, "the request cannot be read")
        assert call(channel, "Open", OPEN.SerializeToString())


def test_an_unknown_session_or_method_is_refused(parties: Parties, server: NodeServer) -> None:
    with raw_channel(parties.alice, parties.pinned_bob, server.address) as channel:
        calls = node_pb2_grpc.NodeStub(channel)
        assert push(calls, 0) is Code.NOT_FOUND
        assert code_of(lambda: pull(calls, 0)) is Code.NOT_FOUND
        assert code_of(lambda: call(channel, "Drop", b"")) is Code.UNIMPLEMENTED


# Limits


def test_a_message_over_the_limit_is_refused_and_the_node_goes_on(parties: Parties, server: NodeServer) -> None:
    unlimited = ("grpc.max_send_message_length", -1)
    with stub(parties.alice, parties.pinned_bob, server.address, unlimited) as calls:
        opened(calls)
        for size in (PAGE_BYTES + 8192, 64 << 20):
            assert push(calls, 0, bytes(size)) is Code.RESOURCE_EXHAUSTED
        assert push(calls, 0, bytes(PAGE_BYTES)) is Code.OK


def test_a_compressed_message_is_refused(parties: Parties, server: NodeServer) -> None:
    every = ("grpc.compression_enabled_algorithms_bitset", 7)
    with raw_channel(parties.alice, parties.pinned_bob, server.address, every) as channel:
        opened(node_pb2_grpc.NodeStub(channel))
        body = wire.PushRequest(session=SESSION, page=wire.Page(body=bytes(PAGE_BYTES))).SerializeToString()
        refused = code_of(lambda: call(channel, "Push", body, compression=grpc.Compression.Gzip))
        assert refused is Code.UNIMPLEMENTED
        assert call(channel, "Push", body) == b""


@pytest.mark.parametrize("headers", [[("a", "x" * 1_000_000)], [(f"a{i}", "x") for i in range(10_000)]])
def test_metadata_over_the_limit_is_refused_and_the_node_goes_on(
    parties: Parties, server: NodeServer, headers: list[tuple[str, str]]
) -> None:
    with raw_channel(parties.alice, parties.pinned_bob, server.address) as channel:
        body = OPEN.SerializeToString()
        assert code_of(lambda: call(channel, "Open", body, metadata=headers)) is not Code.OK
    with raw_channel(parties.alice, parties.pinned_bob, server.address) as channel:
        assert call(channel, "Open", body)


def test_a_silent_connection_is_closed_and_others_are_answered_meanwhile(
    parties: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "HANDSHAKE_SECONDS", 2.0)
    with parties.serve() as server:
        host, port = server.address.split(":")
        silent = [socket.create_connection((host, int(port)), timeout=8) for _ in range(50)]
        started = time.monotonic()
        parties.connect(server.address).close()
        assert time.monotonic() - started < 2.0
        for each in silent:
            with each:
                assert not each.recv(1 << 16) or not each.recv(1 << 16)
        assert 1.0 < time.monotonic() - started < 8.0


def test_the_handshake_and_the_connections_age_are_limited() -> None:
    options = dict(server_module.server_options())
    assert options["grpc.server_handshake_timeout_ms"] == 10_000
    assert options["grpc.max_connection_age_ms"] == 600_000


def test_a_channel_of_either_end_is_a_paged_channel(parties: Parties, server: NodeServer) -> None:
    alice = parties.connect(server.address)
    assert isinstance(alice, PagedChannel)
    alice.close()
