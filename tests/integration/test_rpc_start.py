"""What keeps a node or a call from starting, and what its environment cannot change."""

import re

import grpc
import pytest

from party.errors import ConfigError, DatesError, PeerLostError
from party.keys.certificates import LIFETIME, utc_now
from party.keys.identity import make_identity
from party.transport.grpc import server as server_module
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.transport.pages import Reason, Waits
from party.wire.v1 import node_pb2 as wire
from protocols.errors import InputError, PeerError
from protocols.two_party.agreement import Versions, versions_text
from tests.support.rpc import SESSION, WIRE_VERSION, Parties, opened, stub
from tests.support.timer import SkippingTimer


def test_a_node_without_a_peer_is_refused(parties: Parties) -> None:
    with pytest.raises(ConfigError, match="no peer is trusted"):
        NodeServer.listen(parties.bob, [], "127.0.0.1:0")


def test_a_node_whose_own_certificate_has_expired_is_refused(parties: Parties) -> None:
    old = make_identity("bob", ["localhost"], clock=lambda: utc_now() - 2 * LIFETIME)
    with pytest.raises(DatesError, match="the certificate of bob expired"):
        NodeServer.listen(old, [parties.pinned_alice], "127.0.0.1:0")


def test_a_peer_that_is_not_to_be_called_is_refused_before_a_call(parties: Parties) -> None:
    bob = make_identity("bob", ["bob.example.org"])
    with pytest.raises(ConfigError, match=r"^the certificate of bob is for bob\.example\.org, not for 127\.0\.0\.1: "):
        connect(parties.alice, bob, "127.0.0.1:1", waits=Waits(1.0))


def test_a_node_that_was_closed_accepts_no_session(parties: Parties) -> None:
    server = parties.serve()
    server.close()
    with pytest.raises(InputError, match="the node has been closed"):
        server.accept(0.1)


def test_a_session_that_died_before_it_was_accepted_is_not_accepted(parties: Parties) -> None:
    with parties.serve() as server:
        parties.connect(server.address).stop(Reason.CANCELLED)
        with pytest.raises(PeerLostError, match=r"no peer opened a session within 0\.1 s"):
            server.accept(0.1)


def test_pure_python_protobuf_is_refused_at_both_ends(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("google.protobuf.internal.api_implementation.Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        parties.serve()
    with pytest.raises(ConfigError, match="pure-Python"):
        parties.connect("127.0.0.1:1")


def test_an_address_that_is_none_and_a_port_in_use_are_refused_before_anything_is_opened(parties: Parties) -> None:
    with pytest.raises(ConfigError, match="is not an address"):
        parties.connect("bob")
    with pytest.raises(ConfigError, match="is not an address"):
        parties.serve("bob")
    with parties.serve() as server:
        at = re.escape(server.address)
        with pytest.raises(ConfigError, match=rf"^cannot listen on {at}: .* in use: choose another in \[node\] listen"):
            parties.serve(server.address)


def test_a_host_that_is_not_ours_cannot_be_listened_on(parties: Parties) -> None:
    with pytest.raises(ConfigError, match="not this machine's"):
        parties.serve("192.0.2.1:50051")
    with pytest.raises(ConfigError, match="host is not known"):
        parties.serve("no-such-host.invalid:50051")


def test_the_environments_proxy_is_not_used(parties: Parties, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with parties.serve() as server:
        channel = parties.connect(server.address, patience=2.0)
        assert server.accept(5).peer != channel.peer
        channel.close()


@pytest.mark.parametrize(("ours", "theirs"), [((5, 4), (3,)), ((3,), (5, 4)), ((3,), (2,))])
def test_a_peer_of_no_common_version_is_told_ours_and_starts_no_session(
    parties: Parties, ours: Versions, theirs: Versions
) -> None:
    told, known = (versions_text(spoken).replace(" ", " or ") for spoken in (ours, theirs))
    with parties.serve(spoken=theirs) as server:
        with pytest.raises(
            PeerError, match=f"^we speak version {told} of the wire, bob speaks {known}: install the same release on b"
        ):
            parties.connect(server.address, spoken=ours)
        with pytest.raises(PeerError, match=f"^we speak version {known} of the wire, alice speaks {told}: install"):
            server.accept(5)
        with pytest.raises(PeerLostError):
            server.accept(0.1)


@pytest.mark.parametrize(
    ("ours", "theirs", "spoken"), [((3,), (3,), 3), ((4, 3), (3,), 3), ((3,), (4, 3), 3), ((4, 3), (5, 4), 4)]
)
def test_the_lower_of_two_neighbouring_versions_is_spoken(
    parties: Parties, ours: Versions, theirs: Versions, spoken: int
) -> None:
    with parties.serve(spoken=theirs) as server:
        channel = parties.connect(server.address, spoken=ours)
        assert (channel.version, server.accept(5).version) == (spoken, spoken)
        channel.close()


@pytest.mark.parametrize("version", ["", "x" * 5000, "1\nOK", "\u0661"])
def test_a_version_that_is_none_is_not_repeated(parties: Parties, version: str) -> None:
    with parties.serve() as server:
        with stub(parties.alice, parties.pinned_bob, server.address) as calls:
            assert calls.Open(wire.OpenRequest(version=version, session=SESSION), timeout=5).version == WIRE_VERSION
        with pytest.raises(PeerError, match="alice speaks another one: install"):
            server.accept(5)


def test_a_peer_that_asks_again_and_again_in_another_version_is_told_of_once_a_minute(parties: Parties) -> None:
    timer = SkippingTimer()
    with parties.serve(timer=timer) as server, stub(parties.alice, parties.pinned_bob, server.address) as calls:
        for _ in range(2):
            for version in range(900, 950):
                calls.Open(wire.OpenRequest(version=str(version), session=SESSION), timeout=5)
            with pytest.raises(PeerError, match="alice speaks 900: install"):
                server.accept(5)
            timer.skip(59.0)
            calls.Open(wire.OpenRequest(version="950", session=SESSION), timeout=5)
            with pytest.raises(PeerLostError):
                server.accept(0.0)
            timer.skip(1.0)


def test_a_session_keeps_another_peer_out_until_it_has_ended_in_order(
    parties: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_LEAVE_SECONDS", 0.0)
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.0)
    carol = make_identity("carol", ["localhost"])
    with (
        NodeServer.listen(parties.bob, [parties.pinned_alice, carol], "127.0.0.1:0") as server,
        stub(parties.alice, parties.pinned_bob, server.address) as first,
        stub(carol, parties.pinned_bob, server.address) as second,
    ):
        opened(first)
        with pytest.raises(grpc.RpcError) as refused:
            opened(second)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        server.accept(5).close()
        opened(second)
        assert server.accept(5).peer == "carol"
