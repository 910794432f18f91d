"""Certificates renewed over the same key: who has a new one is let in, believed, and the same party (FAULTS C1, C2)."""

import socket
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from party.errors import ConfigError, DatesError, PeerLostError
from party.keys.certificates import LIFETIME, general_name, self_signed
from party.keys.identity import Identity, Latest, keep_renewed, load_peer, read_identity, renew, trust
from party.keys.keystore import load_secret
from party.records.ledger import read_ledger
from party.records.tally import dealings
from party.transport.channel import drive
from party.transport.grpc.client import connect
from party.transport.grpc.server import NodeServer
from party.transport.look import shown_certificate
from party.transport.pages import Reason, Waits
from tests.integration.test_rpc_identity import OPEN, certified, refusal
from tests.support.identities import create_identity
from tests.support.processes import Pair, cotally, finish, make_pair, serving
from tests.support.rpc import WIRE_VERSION, Forwarder, Parties, make_parties, receive_bulk, send_bulk, stub

LATER = timedelta(days=1)
LONG_AGO = datetime.now(UTC) - LIFETIME - LATER


@pytest.fixture
def parties(tmp_path: Path) -> Parties:
    """Alice and Bob, whose folders no other test renews."""
    return make_parties(tmp_path)


def renewed(folder: Path, *hosts: str) -> Identity:
    return renew(folder, hosts or None, clock=lambda: datetime.now(UTC) + timedelta(minutes=1))


def other_certificate(own: Identity, *hosts: str) -> Identity:
    certificate = self_signed(own.key, own.name, [general_name(host) for host in hosts], datetime.now(UTC))
    return own.with_certificate(certificate)


def test_a_renewed_certificate_is_let_in_where_only_the_first_is_known_and_is_kept(
    parties: Parties, tmp_path: Path
) -> None:
    alice, keep = renewed(tmp_path / "alice"), partial(keep_renewed, tmp_path / "bob")
    assert alice.certificate != parties.pinned_alice.certificate
    with (
        NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0", renewed=keep) as server,
        stub(alice, parties.pinned_bob, server.address) as node,
    ):
        assert node.Open(OPEN, timeout=5).version == WIRE_VERSION
        assert server.accept(5).fingerprint == parties.pinned_alice.fingerprint
    assert load_peer(tmp_path / "bob", "alice").certificate == alice.certificate


def test_an_older_certificate_within_its_dates_is_let_in_and_does_not_take_the_place_of_a_newer_one(
    parties: Parties, tmp_path: Path
) -> None:
    keep_renewed(tmp_path / "bob", renewed(tmp_path / "alice"))
    newer, keep = load_peer(tmp_path / "bob", "alice"), partial(keep_renewed, tmp_path / "bob")
    with (
        NodeServer.listen(parties.bob, [newer], "127.0.0.1:0", renewed=keep) as server,
        stub(parties.alice, parties.pinned_bob, server.address) as node,
    ):
        assert node.Open(OPEN, timeout=5).version == WIRE_VERSION
    assert load_peer(tmp_path / "bob", "alice") == newer


def test_of_what_a_pinned_key_has_signed_for_another_key_nothing_is_let_in(parties: Parties) -> None:
    """TLS takes it: the guard stands behind."""
    stolen = certified("alice", ec.generate_private_key(ec.SECP256R1()), parties.alice)
    with NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0") as server:
        assert refusal(stolen, parties.pinned_bob, server.address).code() is grpc.StatusCode.PERMISSION_DENIED


def test_a_node_shows_its_renewed_certificate_without_being_stopped_and_is_believed(
    parties: Parties, tmp_path: Path
) -> None:
    latest, keep = Latest(tmp_path / "bob", parties.bob), partial(keep_renewed, tmp_path / "alice")
    with NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0", latest=latest) as server:
        parties.connect(server.address).stop(Reason.CANCELLED)
        bob = renewed(tmp_path / "bob")
        channel = connect(parties.alice, parties.pinned_bob, server.address, renewed=keep, waits=Waits(10.0))
        assert channel.fingerprint == parties.pinned_bob.fingerprint
        channel.stop(Reason.CANCELLED)
    assert load_peer(tmp_path / "alice", "bob").certificate == bob.certificate


def test_a_session_goes_on_over_new_connections_while_both_sides_renew(
    parties: Parties, tmp_path: Path, start: Callable[..., "Future[object]"]
) -> None:
    latest, waits = Latest(tmp_path / "bob", parties.bob), Waits(20.0)
    with NodeServer.listen(parties.bob, [parties.pinned_alice], "127.0.0.1:0", latest=latest, waits=waits) as server:
        line = Forwarder(server.address)
        own = Latest(tmp_path / "alice", parties.alice)
        channel = connect(parties.alice, parties.pinned_bob, line.address, latest=own, waits=waits)
        session = server.accept(5)
        counted = start(drive, receive_bulk(4), session)
        drive(send_bulk(2, 1000), channel)
        for name in ("alice", "bob"):
            renewed(tmp_path / name)
        line.cut()
        drive(send_bulk(2, 1000), channel)
        channel.close()
        assert counted.result(30) == 4000
        session.close()
        line.close()
    assert own().certificate == read_identity(tmp_path / "alice").certificate != parties.alice.certificate


def test_an_expired_certificate_on_file_is_replaced_by_what_the_peer_shows_or_named(
    tmp_path: Path, parties: Parties
) -> None:
    old = create_identity(tmp_path / "old", "bob", clock=lambda: LONG_AGO)
    with pytest.raises(DatesError, match="the certificate of bob expired"):
        connect(parties.alice, old, "localhost:1")
    fresh = renew(tmp_path / "old")
    with NodeServer.listen(fresh, [parties.pinned_alice], "127.0.0.1:0") as server:
        connect(parties.alice, old, server.address).stop(Reason.CANCELLED)


def test_a_certificate_renewed_for_another_host_is_believed_there(parties: Parties) -> None:
    bob = other_certificate(parties.bob, "127.0.0.2")
    with pytest.raises(ConfigError, match=r"for localhost, 127\.0\.0\.1, not for 127\.0\.0\.2"):
        connect(parties.alice, parties.pinned_bob, "127.0.0.2:1")
    with NodeServer.listen(bob, [parties.pinned_alice], "127.0.0.2:0") as server:
        connect(parties.alice, parties.pinned_bob, server.address).stop(Reason.CANCELLED)


def test_a_stranger_that_is_looked_at_is_not_believed_and_learns_nothing_of_us(
    parties: Parties, tmp_path: Path
) -> None:
    """It has the name and a certificate like the peer's; it is offered a handshake and shown no certificate."""
    impostor = create_identity(tmp_path / "impostor", "bob")
    shown: list[object] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "impostor" / "cert.pem", tmp_path / "impostor" / "key.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(tmp_path / "alice" / "cert.pem")
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                try:
                    with context.wrap_socket(listener.accept()[0], server_side=True) as secure:
                        shown.append(secure.getpeercert())
                except ssl.SSLError:
                    continue  # a caller of gRPC breaks off
                except OSError:
                    return

        threading.Thread(target=listen, daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        assert shown_certificate("127.0.0.1", listener.getsockname()[1]) == impostor.certificate
        with pytest.raises(PeerLostError):
            connect(parties.alice, parties.pinned_bob, address, waits=Waits(3.0))
        listener.shutdown(socket.SHUT_RDWR)
    assert shown
    assert not any(shown)


def test_a_renewed_certificate_may_be_trusted_by_hand_too(parties: Parties, tmp_path: Path) -> None:
    bob = renewed(tmp_path / "bob")
    trust(tmp_path / "alice", tmp_path / "bob" / "cert.pem")
    assert load_peer(tmp_path / "alice", "bob").certificate == bob.certificate
    assert load_peer(tmp_path / "alice", "bob").fingerprint == parties.pinned_bob.fingerprint


def test_both_renew_while_one_serves_and_the_other_trains_before_and_after(trusting: Path, tmp_path: Path) -> None:
    rows = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(200)]
    pair: Pair = make_pair(trusting, tmp_path / "parties", (["a", "class"], rows), (["c"], [[row[0]] for row in rows]))
    with serving(pair) as alice:
        job, before = pair.write_job(omega=1), {}
        for renewal in (False, True):
            for name in ("alice", "bob") if renewal else ():
                before[name] = read_identity(pair.folder / name)
                told = cotally("keys", "renew", str(pair.folder / name))
                assert told.code == 0, told.err
                assert f"Renewed: the certificate of {name}" in told.out
            trained = pair.train(job)
            assert trained.code == 0, trained.err
        assert alice.poll() is None
        alice.terminate()
        assert finish(alice).code == 0
    for name, other in (("alice", "bob"), ("bob", "alice")):
        now = read_identity(pair.folder / name)
        assert now.certificate != before[name].certificate
        assert now.fingerprint == before[name].fingerprint
        assert load_peer(pair.folder / other, name).certificate == now.certificate
        with read_ledger(pair.folder / name, load_secret(pair.folder / name)) as ledger:
            assert [each.peer.fingerprint for each in dealings(ledger.entries())] == [before[other].fingerprint]


@pytest.mark.parametrize("at_fault", ["name", "key", "other file"])
def test_a_certificate_that_does_not_fit_leaves_a_node_with_the_one_before(
    parties: Parties, tmp_path: Path, at_fault: str
) -> None:
    latest = Latest(tmp_path / "bob", parties.bob)
    key = parties.bob.key if at_fault == "name" else ec.generate_private_key(ec.SECP256R1())
    name = "carol" if at_fault == "name" else "bob"
    made = self_signed(key, name, [general_name("localhost")], datetime.now(UTC))
    text = b"no certificate" if at_fault == "other file" else made.public_bytes(Encoding.PEM)
    (tmp_path / "bob" / "cert.pem").write_bytes(text)
    assert latest() == parties.bob
