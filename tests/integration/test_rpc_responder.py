"""A hostile or faulty responder: what its replies may be, and what becomes of them."""

import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from party.errors import PeerLostError
from party.transport.channel import drive
from party.transport.grpc import client as client_module
from party.transport.grpc import probe, status
from party.transport.grpc.probe import CLIENT_OPTIONS
from party.transport.grpc.status import refused
from party.wire.codec import encode
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import CotallyError, PeerError
from protocols.messages import Verdict
from protocols.role import receive
from tests.support.processes import wait_for
from tests.support.responder import BAD_PAGES, Responder
from tests.support.rpc import KEPT_FRAMES, SESSION, WIRE_VERSION, Parties, stub
from tests.support.timer import SkippingTimer

Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=SESSION)
FRAME = encode(Verdict("theta"))


@pytest.fixture
def responder(parties: Parties) -> Iterator[tuple[Responder, str]]:
    servicer = Responder()
    listening = grpc.server(ThreadPoolExecutor(4))
    node_pb2_grpc.add_NodeServicer_to_server(servicer, listening)
    credentials = grpc.ssl_server_credentials(
        [(parties.bob.key_pem, parties.bob.pem)], parties.alice.pem, require_client_auth=True
    )
    port = listening.add_secure_port("127.0.0.1:0", credentials)
    listening.start()
    yield servicer, f"127.0.0.1:{port}"
    listening.stop(None).wait()


def test_a_call_that_failed_on_the_way_is_repeated_with_the_same_bytes(
    parties: Parties, responder: tuple[Responder, str]
) -> None:
    servicer, address = responder
    servicer.open_codes = iter([Code.UNAVAILABLE, Code.UNAVAILABLE])
    servicer.push_codes = iter([Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.UNAVAILABLE])
    alice = parties.connect(address, patience=5.0)
    alice.send(Verdict("theta"))
    alice.close()
    assert len(servicer.opens) == 3
    assert len({request.SerializeToString() for request in servicer.opens}) == 1
    assert [request.page.sequence for request in servicer.pushes] == [0, 0, 0, 0, 1]
    assert len({request.SerializeToString() for request in servicer.pushes[:4]}) == 1


@pytest.mark.parametrize("code", [Code.UNKNOWN, Code.INTERNAL, Code.CANCELLED, Code.DATA_LOSS])
def test_what_no_node_said_broke_on_the_way_and_is_repeated(
    parties: Parties, responder: tuple[Responder, str], code: grpc.StatusCode
) -> None:
    servicer, address = responder
    servicer.intends = False
    servicer.open_codes, servicer.push_codes = iter([code]), iter([code, code])
    alice = parties.connect(address, patience=5.0)
    alice.send(Verdict("theta"))
    alice.close()
    assert len(servicer.opens) == 2
    assert [request.page.sequence for request in servicer.pushes] == [0, 0, 0, 1]


def test_two_sessions_have_two_ids(parties: Parties, responder: tuple[Responder, str]) -> None:
    servicer, address = responder
    for _ in range(2):
        parties.connect(address).close()
    assert servicer.opens[0].session != servicer.opens[1].session


def test_grpc_repeats_no_call_of_its_own_accord(
    parties: Parties, responder: tuple[Responder, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    servicer, address = responder
    policy = {
        "maxAttempts": 5,
        "initialBackoff": "0.01s",
        "maxBackoff": "0.01s",
        "backoffMultiplier": 1,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    config = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": policy}]})
    monkeypatch.setattr(probe, "CLIENT_OPTIONS", (*CLIENT_OPTIONS, ("grpc.service_config", config)))
    servicer.open_codes = itertools.repeat(Code.UNAVAILABLE)
    attempts: list[int] = []
    pause = client_module._Line._pause

    def counted(self: Any, attempt: int) -> bool:
        assert attempt < 9, "patience has ended long since"
        attempts.append(attempt)
        return pause(self, attempt)

    monkeypatch.setattr(client_module._Line, "_pause", counted)
    with pytest.raises(PeerLostError):
        parties.connect(address, patience=1.0)
    assert len(servicer.opens) == len(attempts) + 1


def test_on_a_line_that_is_closed_no_call_is_repeated(parties: Parties, responder: tuple[Responder, str]) -> None:
    servicer, address = responder
    servicer.push_codes = itertools.repeat(Code.UNAVAILABLE)
    line: Any = parties.connect(address, patience=1.0)._line  # type: ignore[attr-defined]
    line._gone.set()
    with pytest.raises(PeerLostError):
        line.call("Push", wire.PushRequest(session=line.session))
    assert len(servicer.pushes) == 1
    line.close()


@pytest.mark.parametrize(
    "reply",
    [
        wire.PullReply(page=wire.Page(sequence=1, body=FRAME, last=True)),
        *(wire.PullReply(page=page) for name, page in BAD_PAGES.items() if name != "too long"),
        wire.PullReply(page=wire.Page(body=b"\xff", last=True)),
    ],
)
def test_a_malformed_reply_is_a_deviation_and_the_peer_is_told(
    parties: Parties, responder: tuple[Responder, str], reply: wire.PullReply
) -> None:
    servicer, address = responder
    servicer.pages = iter([reply])
    alice = parties.connect(address)
    with pytest.raises(PeerError) as error:
        drive(receive(Verdict), alice)
    assert type(error.value) is PeerError
    assert [request.page.end for request in servicer.pushes] == [wire.END_DEVIATION]


def test_the_end_of_the_peers_stream_is_acknowledged_and_nothing_more_is_asked(
    parties: Parties, responder: tuple[Responder, str]
) -> None:
    servicer, address = responder
    servicer.pages = iter([wire.PullReply(page=wire.Page(end=wire.END_FINISHED))])
    alice = parties.connect(address)
    alice._threads[1].join(10)  # type: ignore[attr-defined]
    assert not alice._threads[1].is_alive()  # type: ignore[attr-defined]
    assert servicer.pulls == [0, 1]
    alice.close()


def test_a_reply_with_unknown_fields_is_refused(parties: Parties, responder: tuple[Responder, str]) -> None:
    servicer, address = responder
    servicer.pages = iter([wire.PullReply.FromString(b"\x78\x01"), Code.ABORTED])
    alice = parties.connect(address)
    with pytest.raises(PeerError, match="unknown fields"):
        drive(receive(Verdict), alice)


@pytest.mark.parametrize("code", [code for code in Code if code is not Code.OK])
def test_each_status_of_the_peer_becomes_an_error_without_its_text(
    parties: Parties,
    responder: tuple[Responder, str],
    start: Callable[..., "Future[object]"],
    timer: SkippingTimer,
    code: grpc.StatusCode,
) -> None:
    servicer, address = responder
    servicer.pages = itertools.repeat(code)
    alice = parties.connect(address, patience=60.0, timer=timer)
    played = start(drive, receive(Verdict), alice)
    wait_for(lambda: played.done() or len(servicer.pulls) > 1)  # a call that is repeated ends with patience
    timer.skip_until(played.done, 5.0)
    with pytest.raises(CotallyError) as error:
        played.result()
    assert "canary" not in str(error.value)
    assert type(error.value) is type(refused(code, "bob", ""))
    may_pass = code in {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.RESOURCE_EXHAUSTED}
    assert (len(servicer.pulls) > 1) == may_pass


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
def test_what_a_released_version_opens_with_is_refused_in_one_line_on_both_sides(
    parties: Parties, responder: tuple[Responder, str], release: str
) -> None:
    frames = KEPT_FRAMES[release]
    request = wire.OpenRequest.FromString(frames["OpenRequest"])
    theirs = request.version
    with parties.serve() as server, stub(parties.alice, parties.pinned_bob, server.address) as calls:
        assert calls.Open(request, timeout=5).version == WIRE_VERSION
        with pytest.raises(PeerError, match=f"^we speak version {WIRE_VERSION} .*alice speaks {theirs}: install"):
            server.accept(5)
    servicer, address = responder
    servicer.version = wire.OpenReply.FromString(frames["OpenReply"]).version
    with pytest.raises(PeerError, match=f"^we speak version {WIRE_VERSION} of the wire, bob speaks {theirs}: install"):
        parties.connect(address)


def test_a_version_that_is_no_number_is_not_shown(parties: Parties, responder: tuple[Responder, str]) -> None:
    servicer, address = responder
    for servicer.version in ("canary", "9" * 50):
        with pytest.raises(
            PeerError, match=f"^we speak version {WIRE_VERSION} of the wire, bob speaks another one: install the same "
        ):
            parties.connect(address)


def test_a_fault_in_a_thread_reaches_the_role(
    parties: Parties, responder: tuple[Responder, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    _, address = responder
    monkeypatch.setattr(client_module, "status", SimpleNamespace(**vars(status) | {"page_from_wire": broken}))
    responder[0].pages = iter([wire.PullReply(page=wire.Page(body=FRAME, last=True))])
    alice = parties.connect(address)
    with pytest.raises(ZeroDivisionError):
        drive(receive(Verdict), alice)
