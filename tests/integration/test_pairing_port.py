"""A port that waits for a code, and those who sit between, guess, or send strange bytes (DESIGN 14, SECURITY)."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from party.errors import ConfigError, PeerLostError
from party.keys.identity import Identity
from party.keys.pairing import Pairing, new_code, read_spoken_code
from party.transport.grpc.pairing import PairingServer, pair
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import PeerError
from tests.support.identities import create_identity
from tests.support.timer import SkippingTimer

CODE = read_spoken_code(new_code(lambda _: 4_711_000))
OTHER = read_spoken_code(new_code(lambda _: 4_711_001))


@pytest.fixture
def people(tmp_path: Path) -> tuple[Identity, Identity, Identity]:
    alice, bob, mallory = (create_identity(tmp_path / name, name) for name in ("alice", "bob", "mallory"))
    return alice, bob, mallory


@contextlib.contextmanager
def waiting(own: Identity, code: str = CODE, **more: Any) -> Iterator[tuple[PairingServer, list[x509.Certificate]]]:
    accepted: list[x509.Certificate] = []
    with PairingServer.listen(code, own.certificate, accepted.append, "127.0.0.1:0", **more) as server:
        yield server, accepted


class Between(node_pb2_grpc.PairingServicer):
    """Passes calls on, and puts another certificate in the place of each."""

    def __init__(self, address: str, own: Identity, *, changes: bool) -> None:
        self._stub = node_pb2_grpc.PairingStub(grpc.insecure_channel(address))
        self._own, self._changes = own.certificate.public_bytes(Encoding.DER), changes

    def Offer(self, request: wire.PairingOffer, context: grpc.ServicerContext) -> wire.PairingOffer:  # noqa: N802
        if self._changes:
            request.certificate = self._own
        reply = self._stub.Offer(request)
        if self._changes:
            reply.certificate = self._own
        return reply

    def Prove(self, request: wire.PairingProof, context: grpc.ServicerContext) -> wire.PairingProof:  # noqa: N802
        return self._stub.Prove(request)


@contextlib.contextmanager
def standing(servicer: node_pb2_grpc.PairingServicer) -> Iterator[str]:
    """Let something else than our listener answer at an address."""
    server = grpc.server(ThreadPoolExecutor(2))
    node_pb2_grpc.add_PairingServicer_to_server(servicer, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield address
    finally:
        server.stop(None)


@pytest.mark.parametrize("changes", [True, False])
def test_who_passes_all_on_and_changes_the_certificates_is_found_by_both(
    people: tuple[Identity, Identity, Identity], changes: bool
) -> None:
    alice, bob, mallory = people
    with waiting(alice) as (server, accepted), standing(Between(server.address, mallory, changes=changes)) as address:
        if changes:
            with pytest.raises(PeerError):
                pair(CODE, bob.certificate, address)
            with pytest.raises(PeerError, match="somebody changes what is sent"):
                server.wait(5)
            assert accepted == []
        else:  # and who changes nothing may carry what crosses
            assert pair(CODE, bob.certificate, address) == alice.certificate
            assert accepted == [bob.certificate]


class Unknown(node_pb2_grpc.PairingServicer):
    """Replies with a field that nobody knows."""

    def Offer(self, request: wire.PairingOffer, context: grpc.ServicerContext) -> wire.PairingOffer:  # noqa: N802
        return wire.PairingOffer.FromString(request.SerializeToString() + b"\x78\x01")

    def Prove(self, request: wire.PairingProof, context: grpc.ServicerContext) -> wire.PairingProof:  # noqa: N802
        return request


def test_a_reply_that_holds_more_than_it_needs_is_refused(people: tuple[Identity, Identity, Identity]) -> None:
    with standing(Unknown()) as address, pytest.raises(PeerError, match="sent a reply with unknown fields"):
        pair(CODE, people[0].certificate, address)


def test_where_nobody_waits_for_a_code_that_is_told(people: tuple[Identity, Identity, Identity]) -> None:
    with waiting(people[0]) as (server, _):
        address = server.address
    with pytest.raises(PeerLostError, match=f"nobody waits for a code at {address}"):
        pair(CODE, people[1].certificate, address)


def test_a_port_that_cannot_be_had_is_refused_in_words(people: tuple[Identity, Identity, Identity]) -> None:
    with (
        waiting(people[0]) as (server, _),
        pytest.raises(ConfigError, match=r": the port is in use: choose another in \[node\] listen"),
    ):
        PairingServer.listen(CODE, people[0].certificate, lambda _: None, server.address)
    with pytest.raises(ConfigError, match=r"^cannot listen on .*: it is not this machine's"):
        PairingServer.listen(CODE, people[0].certificate, lambda _: None, "192.0.2.1:50051")


def test_pure_python_protobuf_is_refused(
    people: tuple[Identity, Identity, Identity], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("google.protobuf.internal.api_implementation.Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        PairingServer.listen(CODE, people[0].certificate, lambda _: None, "127.0.0.1:0")


def test_of_two_guesses_at_a_code_the_second_is_refused_even_if_it_is_right(
    people: tuple[Identity, Identity, Identity],
) -> None:
    alice, bob, mallory = people
    with waiting(alice) as (server, accepted):
        with pytest.raises(PeerError, match="void now"):
            pair(OTHER, mallory.certificate, server.address)
        with pytest.raises(PeerError, match="void now"):
            pair(CODE, bob.certificate, server.address)
        with pytest.raises(PeerError, match="another code"):
            server.wait(5)
    assert accepted == []


def offered(stub: node_pb2_grpc.PairingStub, code: str, own: Identity) -> wire.PairingProof:
    """Begin by hand; return the proof that would end it."""
    side = Pairing(code, own.certificate, calls=True)
    reply = stub.Offer(wire.PairingOffer(version="1", point=side.point, certificate=side.certificate), timeout=5)
    return wire.PairingProof(point=side.point, proof=side.meet(reply.point, reply.certificate).proof)


def refused(call: Callable[..., object], request: object) -> bool:
    with pytest.raises(grpc.RpcError) as told:
        call(request, timeout=5)
    return told.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_after_the_code_is_used_no_other_proof_is_answered_be_it_right(
    people: tuple[Identity, Identity, Identity],
) -> None:
    alice, bob, mallory = people
    with waiting(alice) as (server, accepted), grpc.insecure_channel(server.address) as channel:
        stub = node_pb2_grpc.PairingStub(channel)
        right, wrong, another = offered(stub, CODE, bob), offered(stub, OTHER, mallory), offered(stub, CODE, mallory)
        assert stub.Prove(right, timeout=5).point == right.point
        for proof in (wrong, another, wire.PairingProof(point=right.point, proof=bytes(32))):
            assert refused(stub.Prove, proof)
    assert accepted == [bob.certificate]


def test_another_version_of_pairing_is_refused_and_costs_no_guess(people: tuple[Identity, Identity, Identity]) -> None:
    alice, bob, _ = people
    with waiting(alice) as (server, accepted), grpc.insecure_channel(server.address) as channel:
        stub, side = node_pb2_grpc.PairingStub(channel), Pairing(CODE, bob.certificate, calls=True)
        for version in ("2", ""):
            offer = wire.PairingOffer(version=version, point=side.point, certificate=side.certificate)
            assert refused(stub.Offer, offer)
        assert pair(CODE, bob.certificate, server.address) == alice.certificate
    assert accepted == [bob.certificate]


def test_two_guesses_that_begin_together_are_one_guess(people: tuple[Identity, Identity, Identity]) -> None:
    alice, bob, mallory = people
    with waiting(alice) as (server, accepted), grpc.insecure_channel(server.address) as channel:
        stub = node_pb2_grpc.PairingStub(channel)
        proofs = [offered(stub, code, who) for code, who in ((OTHER, mallory), (CODE, bob))]
        assert all(refused(stub.Prove, proof) for proof in (*proofs, proofs[1]))
    assert accepted == []


def test_what_crossed_before_is_of_no_use_with_the_next_code_even_if_it_is_the_same(
    people: tuple[Identity, Identity, Identity],
) -> None:
    alice, bob, _ = people
    recorded: list[Any] = []
    with waiting(alice) as (server, _), grpc.insecure_channel(server.address) as channel:
        stub = node_pb2_grpc.PairingStub(channel)
        side = Pairing(CODE, bob.certificate, calls=True)
        offer = wire.PairingOffer(version="1", point=side.point, certificate=side.certificate)
        reply = stub.Offer(offer, timeout=5)
        proof = wire.PairingProof(point=side.point, proof=side.meet(reply.point, reply.certificate).proof)
        assert stub.Prove(proof, timeout=5) == stub.Prove(proof, timeout=5)  # its reply may have been lost
        recorded += [offer, proof]
    with waiting(alice) as (server, accepted), grpc.insecure_channel(server.address) as channel:
        stub = node_pb2_grpc.PairingStub(channel)
        stub.Offer(recorded[0], timeout=5)
        with pytest.raises(grpc.RpcError):
            stub.Prove(recorded[1], timeout=5)
        assert accepted == []


def test_who_pretends_to_listen_learns_no_more_than_whether_one_guess_is_right(
    people: tuple[Identity, Identity, Identity],
) -> None:
    _, bob, mallory = people
    with waiting(mallory, OTHER) as (server, accepted):
        with pytest.raises(PeerError):
            pair(CODE, bob.certificate, server.address)
        assert accepted == []


def test_a_code_that_nobody_uses_expires(people: tuple[Identity, Identity, Identity], timer: SkippingTimer) -> None:
    with waiting(people[0], timer=timer) as (server, accepted), ThreadPoolExecutor(1) as pool:
        ended = pool.submit(server.wait)
        timer.skip_until(ended.done, 200)
        with pytest.raises(PeerLostError, match="nobody has used the code within 600 s"):
            ended.result()
    assert accepted == []


@pytest.mark.parametrize(
    "body", [b"", b"\xff" * 40, b"\x0a\x01\x31\x12\x21" + bytes(33)], ids=["none", "noise", "zero"]
)
def test_strange_bytes_cost_no_guess(people: tuple[Identity, Identity, Identity], body: bytes) -> None:
    alice, bob, _ = people
    with waiting(alice) as (server, accepted):
        with grpc.insecure_channel(server.address) as channel:
            for name in ("Offer", "Prove"):
                method: Any = channel.unary_unary(f"/cotally.wire.v1.Pairing/{name}", None, None)
                with pytest.raises(grpc.RpcError) as told:
                    method(body, timeout=5)
                assert told.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert pair(CODE, bob.certificate, server.address) == alice.certificate
        server.wait(5)
        assert accepted == [bob.certificate]


def test_a_port_that_pairs_serves_nothing_else(people: tuple[Identity, Identity, Identity]) -> None:
    with waiting(people[0]) as (server, _), grpc.insecure_channel(server.address) as channel:
        for service, name in (("Node", "Open"), ("Doctor", "Probe")):
            method: Any = channel.unary_unary(f"/cotally.wire.v1.{service}/{name}", None, None)
            with pytest.raises(grpc.RpcError) as told:
                method(b"", timeout=5)
            assert told.value.code() is grpc.StatusCode.UNIMPLEMENTED
