"""Who is let in, who is believed, and what a stranger learns (FAULTS C1 to C4, cases 57 to 64, 75)."""

import contextlib
import logging
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from party.errors import ConfigError, IdentityError, PeerLostError, PeerStoppedError, exit_code
from party.keys.certificates import LIFETIME, Clock, Peer, fingerprint, utc_now
from party.keys.identity import Identity, make_identity
from party.transport.grpc import server as server_module
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.transport.pages import Reason, Waits
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import PeerError
from protocols.messages import Verdict
from tests.support.identities import create_identity
from tests.support.responder import Responder
from tests.support.rpc import SESSION, WIRE_VERSION, Parties, call, raw_channel, stub
from tests.support.timer import SkippingTimer

Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=SESSION)
NOW = datetime.now(UTC)
BOTH = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)


@pytest.fixture(autouse=True)
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait until callers by hand, who are gone, have heard of a stop."""
    monkeypatch.setattr(server_module, "STOP_SECONDS", 0.0)


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which calls reached the handler."""
    calls: list[str] = []
    answer = NodeServer.Open

    def counted(self: NodeServer, request: wire.OpenRequest, context: grpc.ServicerContext) -> wire.OpenReply:
        calls.append("Open")
        return answer(self, request, context)

    monkeypatch.setattr(NodeServer, "Open", counted)
    return calls


@pytest.fixture
def dates_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the dates to TLS."""
    monkeypatch.setattr(Peer, "check_dates", lambda _peer, _now: None)


def identity(
    name: str,
    *,
    start: datetime = NOW - timedelta(hours=1),
    ca: bool = False,
    signs: bool | None = False,
    issuer: Identity | None = None,
    key: ec.EllipticCurvePrivateKey | None = None,
) -> Identity:
    """Make an identity that `create_identity` would not make."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    parts += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "issued")] if issuer else []  # else it looks self-signed
    subject = x509.Name(parts)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(BOTH), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    )
    if signs is not None:
        builder = builder.add_extension(_usage(signs=signs), critical=True)
    certificate = builder.sign(issuer.key if issuer else key, hashes.SHA256())
    return Identity(name, fingerprint(certificate), ("localhost",), certificate, key)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def refusal(own: Identity | None, peer: Peer, address: str) -> grpc.RpcError:
    with stub(own, peer, address) as node, pytest.raises(grpc.RpcError) as error:
        node.Open(OPEN, timeout=5)
    return error.value


# The initiator's certificate


def test_the_agreed_certificate_is_let_in(parties: Parties, handled: list[str]) -> None:
    with parties.serve() as server, stub(parties.alice, parties.pinned_bob, server.address) as node:
        assert node.Open(OPEN, timeout=5).version == WIRE_VERSION
    assert handled == ["Open"]


def test_no_certificate_is_not_let_in(parties: Parties, handled: list[str]) -> None:
    with parties.serve() as server:
        assert refusal(None, parties.pinned_bob, server.address).code() is Code.UNAVAILABLE
    assert not handled


@pytest.mark.parametrize("name", ["mallory", "alice"])
def test_another_key_is_not_let_in_even_under_the_same_name(parties: Parties, handled: list[str], name: str) -> None:
    with parties.serve() as server:
        assert refusal(identity(name), parties.pinned_bob, server.address).code() is Code.UNAVAILABLE
    assert not handled


EXPIRED, EARLY = NOW - timedelta(days=3), NOW + timedelta(days=1)


@pytest.mark.usefixtures("dates_unchecked")
@pytest.mark.parametrize("start", [EXPIRED, EARLY], ids=["expired", "early"])
def test_a_certificate_out_of_its_dates_is_not_let_in(parties: Parties, handled: list[str], start: datetime) -> None:
    alice = identity("alice", start=start)
    with NodeServer.listen(parties.bob, [alice], "127.0.0.1:0") as server:
        assert refusal(alice, parties.pinned_bob, server.address).code() is Code.UNAVAILABLE
    assert not handled


def test_a_certificate_that_tls_accepts_and_nobody_pinned_is_refused_before_its_call_is_read(
    parties: Parties, handled: list[str]
) -> None:
    alice = identity("alice", ca=True, signs=True)
    mallory = identity("mallory", issuer=alice)
    with NodeServer.listen(parties.bob, [alice], "127.0.0.1:0") as server:
        assert refusal(mallory, parties.pinned_bob, server.address).code() is Code.PERMISSION_DENIED
        with raw_channel(mallory, parties.pinned_bob, server.address) as channel, pytest.raises(grpc.RpcError) as error:
            call(channel, "Open", b"\xff" * 100)
        assert error.value.code() is Code.PERMISSION_DENIED
        with pytest.raises(IdentityError, match="bob does not accept our certificate"):
            connect(mallory, parties.pinned_bob, server.address)
    assert not handled


def test_a_certificate_that_expires_while_the_node_runs_is_refused(parties: Parties, handled: list[str]) -> None:
    now = [NOW]
    with NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0", clock=lambda: now[0]) as server:
        now[0] = NOW + 2 * LIFETIME
        assert refusal(parties.alice, parties.pinned_bob, server.address).code() is Code.UNAUTHENTICATED
    assert not handled


def test_a_clock_that_jumps_in_a_run_is_told_as_a_clock_and_not_as_our_bad_input(parties: Parties) -> None:
    now = [NOW]
    with NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0", clock=lambda: now[0]) as server:
        alice = parties.connect(server.address)
        now[0] = NOW + 2 * LIFETIME
        dates = parties.alice.dates_text(NOW).partition(";")[0]
        problem = rf"^by the clock of bob our certificate is outside its dates \({dates}; our clock says {NOW:%Y}-"
        with pytest.raises(PeerError, match=problem) as told:
            alice.receive(Verdict)
        assert exit_code(told.value) == 3
        alice.stop(Reason.CANCELLED)


def test_a_caller_whom_a_wrong_clock_of_the_listener_keeps_out_is_told_its_dates_and_its_clock(
    parties: Parties,
) -> None:
    """TLS itself refuses, without a word: the caller's clock is two days behind, so to it the listener's is ahead."""
    alice = make_identity("alice", ["localhost"], clock=lambda: NOW - LIFETIME - timedelta(days=1))
    bob = make_identity("bob", ["127.0.0.1"], clock=lambda: NOW - timedelta(days=3))
    with NodeServer.listen(bob, [alice], "127.0.0.1:0") as server:
        behind = NOW - timedelta(days=2)
        problem = (
            rf"^bob at {server.address} does not let us in: .*{re.escape(alice.dates_text(behind))}.*tried for 5 s"
        )
        with pytest.raises(PeerLostError, match=problem):
            attempt(alice, bob, server.address, clock=lambda: behind)


def test_the_session_of_one_peer_is_closed_to_another(parties: Parties) -> None:
    carol = identity("carol")
    with (
        NodeServer.listen(parties.bob, [parties.pinned_alice, carol], "127.0.0.1:0") as server,
        stub(parties.alice, parties.pinned_bob, server.address) as hers,
        stub(carol, parties.pinned_bob, server.address) as other,
    ):
        hers.Open(OPEN, timeout=5)
        hers.Pull(wire.PullRequest(session=SESSION), timeout=5)
        with pytest.raises(grpc.RpcError) as error:
            other.Pull(wire.PullRequest(session=SESSION), timeout=5)
        assert error.value.code() is Code.NOT_FOUND
        with pytest.raises(grpc.RpcError) as error:
            other.Push(wire.PushRequest(session=SESSION), timeout=5)
        assert error.value.code() is Code.NOT_FOUND
        with pytest.raises(grpc.RpcError) as error:
            other.Open(OPEN, timeout=5)
        assert error.value.code() is Code.RESOURCE_EXHAUSTED
        assert server.accept(5).peer == "alice"


# The responder's certificate


def attempt(own: Identity, peer: Peer, address: str, clock: Clock = utc_now) -> None:
    """Try to open a session until patience, of a few calls' length, ends."""
    timer = SkippingTimer()
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(connect, own, peer, address, waits=Waits(5.0, timer=timer), clock=clock)
        timer.skip_until(opening.done, 0.2)
        opening.result()


ANOTHER_KEY = (
    r"^the node that answers for bob has another key than the one that we trust: .*fingerprint is .*tried for 5 s"
)
ANOTHER_PROGRAM = r"^what listens at 127\.0\.0\.1 for bob .*: another program has that port, or .*tried for 5 s"


def no_session(parties: Parties, address: str, why: str) -> None:
    with pytest.raises(PeerLostError, match=why):
        attempt(parties.alice, parties.pinned_bob, address)


@pytest.mark.parametrize("name", ["mallory", "bob"])
def test_another_key_is_not_believed_even_under_the_same_name(
    parties: Parties, handled: list[str], tmp_path: Path, name: str
) -> None:
    mallory = create_identity(tmp_path, name)
    with NodeServer.listen(mallory, [parties.pinned_alice], "127.0.0.1:0") as server:
        no_session(parties, server.address, ANOTHER_KEY)
    assert not handled


def certified(name: str, key: ec.EllipticCurvePrivateKey, issuer: Identity) -> Identity:
    """Make an identity of this key whose certificate another identity has signed."""
    made = identity(name, issuer=issuer, key=key)
    made.certificate.verify_directly_issued_by(issuer.certificate)
    return made


AUTHORITIES = {"an authority": (True, True), "a loose one": (False, None), "none": (False, False)}
"""Of the pinned certificate: whether it calls itself an authority, and whether its usage lets it sign."""


@pytest.mark.parametrize("authority", AUTHORITIES)
@pytest.mark.parametrize("same_key", [True, False], ids=["its own key", "another key"])
def test_of_all_certificates_that_the_pinned_one_has_signed_none_is_believed(
    parties: Parties, handled: list[str], authority: str, same_key: bool
) -> None:
    """The same name, the same issuer, in date and for this host: only the certificate itself is pinned."""
    ca, signs = AUTHORITIES[authority]
    bob = identity("bob", ca=ca, signs=signs)
    other = certified("bob", bob.key if same_key else ec.generate_private_key(ec.SECP256R1()), bob)
    with (
        NodeServer.listen(other, [parties.pinned_alice], "localhost:0") as server,
        pytest.raises((IdentityError, PeerLostError)),
    ):
        attempt(parties.alice, bob, server.address)
    assert not handled


def test_what_we_make_is_believed_and_what_its_key_has_signed_is_not(parties: Parties, handled: list[str]) -> None:
    other = certified("bob", ec.generate_private_key(ec.SECP256R1()), parties.bob)
    with NodeServer.listen(other, [parties.pinned_alice], "localhost:0") as server:
        no_session(parties, server.address, ANOTHER_KEY)
    assert not handled
    with parties.serve() as server:
        parties.connect(server.address).stop(Reason.CANCELLED)
    assert handled == ["Open"]


@pytest.mark.parametrize("authority", ["an authority", "a loose one"])
def test_only_a_certificate_that_can_sign_no_other_is_called(
    parties: Parties, handled: list[str], authority: str
) -> None:
    """TLS takes what the pinned certificate has signed for as good as itself: it must have no power to sign."""
    ca, signs = AUTHORITIES[authority]
    bob = identity("bob", ca=ca, signs=signs)
    other = certified("bob", ec.generate_private_key(ec.SECP256R1()), bob)
    with NodeServer.listen(other, [parties.pinned_alice], "localhost:0") as server:
        with stub(parties.alice, bob, server.address) as node:
            assert node.Open(OPEN, timeout=5).version == WIRE_VERSION  # so TLS alone would
        assert handled.pop() == "Open"
        with pytest.raises(IdentityError, match=r"^the certificate of bob may sign others"):
            connect(parties.alice, bob, server.address)
    assert not handled


@pytest.mark.usefixtures("dates_unchecked")
@pytest.mark.parametrize("start", [EXPIRED, EARLY], ids=["expired", "early"])
def test_a_certificate_out_of_its_dates_is_not_believed(parties: Parties, start: datetime) -> None:
    bob = identity("bob", start=start)
    with NodeServer.listen(bob, [parties.pinned_alice], "localhost:0") as server, pytest.raises(PeerLostError):
        attempt(parties.alice, bob, server.address)


def test_a_certificate_for_another_host_is_not_believed_and_the_reason_is_told(
    parties: Parties, handled: list[str]
) -> None:
    bob = identity("bob")  # for localhost
    with NodeServer.listen(bob, [parties.pinned_alice], "127.0.0.1:0") as server:
        with pytest.raises(ConfigError, match=r"^the certificate of bob is for localhost, not for 127\.0\.0\.1: "):
            connect(parties.alice, bob, server.address)
        assert refusal(parties.alice, bob, server.address).code() is Code.UNAVAILABLE
    assert not handled


def test_a_host_is_known_in_any_spelling(parties: Parties, tmp_path: Path) -> None:
    bob = create_identity(tmp_path, "bob", ["LocalHost", "::1"])
    for host in ("localhost", "LOCALHOST", "[0:0:0:0:0:0:0:1]", "[::1%lo]"):
        with pytest.raises(PeerLostError):  # and no ConfigError
            attempt(parties.alice, bob, f"{host}:1")


# No TLS


def test_a_client_without_tls_is_not_answered(parties: Parties, handled: list[str]) -> None:
    with parties.serve() as server, grpc.insecure_channel(server.address) as channel:
        with pytest.raises(grpc.RpcError) as error:
            call(channel, "Open", OPEN.SerializeToString())
        assert error.value.code() is Code.UNAVAILABLE
    assert not handled


def test_a_server_without_tls_is_told_nothing(parties: Parties) -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as connection:
                        heard.append(connection.recv(1 << 16))

        threading.Thread(target=listen, daemon=True).start()
        no_session(parties, f"127.0.0.1:{listener.getsockname()[1]}", ANOTHER_PROGRAM)
        listener.shutdown(socket.SHUT_RDWR)
    assert heard
    assert not any(b"cotally" in data for data in heard)


def test_a_plain_grpc_server_is_refused(parties: Parties) -> None:
    server, node = grpc.server(ThreadPoolExecutor(1)), Responder()
    node_pb2_grpc.add_NodeServicer_to_server(node, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    with grpc.insecure_channel(address) as channel:
        node_pb2_grpc.NodeStub(channel).Open(wire.OpenRequest(version=WIRE_VERSION, session=SESSION), timeout=10)
    assert len(node.opens) == 1  # it does hear who speaks in the clear
    no_session(parties, address, ANOTHER_PROGRAM)
    server.stop(None)
    assert len(node.opens) == 1


# Checks at the start


def test_identities_out_of_their_dates_are_refused_at_the_start_by_name(parties: Parties) -> None:
    """But a node that listens waits for whatever certificate its peer has by then."""
    old_alice, old_bob = identity("alice", start=EXPIRED), identity("bob", start=EXPIRED)
    with pytest.raises(IdentityError, match="the certificate of bob expired"):
        NodeServer.listen(old_bob, [parties.pinned_alice], "127.0.0.1:0")
    for own, peer, name in ((old_bob, parties.pinned_alice, "bob"), (parties.bob, old_alice, "alice")):
        with pytest.raises(IdentityError, match=f"the certificate of {name} expired"):
            connect(own, peer, "localhost:1")


# What crosses when we fail


def test_a_handlers_exception_crosses_as_an_incident_number(
    parties: Parties, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("canary 4711")

    monkeypatch.setattr(NodeServer, "_start", broken)
    with parties.serve() as server, caplog.at_level(logging.ERROR):
        error = refusal(parties.alice, parties.pinned_bob, server.address)
        assert error.code() is Code.INTERNAL
        match = re.fullmatch(r"internal error, incident ([0-9a-f]{8})", error.details() or "")
        assert match
        assert match[1] in caplog.text
        assert "canary 4711" in caplog.text
        assert "canary" not in repr(error)
        with pytest.raises(PeerStoppedError, match=r"^bob had a fault of its own") as stopped:
            parties.connect(server.address)
        assert "canary" not in str(stopped.value)
