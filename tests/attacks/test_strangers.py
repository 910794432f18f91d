"""What somebody learns whom a party has not pinned: at the port of a node, and at the address that `doctor` calls."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from party.keys.identity import Identity, create_identity, load_identity, load_peers
from party.transport.grpc.probe import own_release, probe
from party.transport.grpc.server import NodeServer
from tests.support.processes import Pair, cotally_here, make_pair

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    rows = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(40)]
    return make_pair(trusting, tmp_path / "parties", (["a", "class"], rows), (["c"], [[row[0]] for row in rows]))


def presenting(who: Identity | None, folder: Path) -> ssl.SSLContext:
    """Return what speaks TLS to anybody, with this certificate or none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if who is not None:
        context.load_cert_chain(*written(who, folder))
    return context


def written(who: Identity, folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "stranger.pem", folder / "stranger.key"
    certificate.write_bytes(who.pem)
    key.write_bytes(who.key_pem)
    return certificate, key


def heard(address: str, context: ssl.SSLContext) -> tuple[bytes | None, bytes]:
    """Call a node as gRPC does; return the certificate and all bytes that it lets be read."""
    host, port = address.rsplit(":", 1)
    read, shown = b"", None
    with (
        contextlib.suppress(ssl.SSLError, ConnectionError, TimeoutError),
        socket.create_connection((host, int(port)), 5) as raw,
        context.wrap_socket(raw) as line,
    ):
        shown = line.getpeercert(binary_form=True)
        line.sendall(PREFACE)
        while more := line.recv(1 << 12):
            read += more
    return shown, read


@pytest.mark.parametrize("stranger", ["with a certificate of its own", "with none"])
def test_a_stranger_at_the_port_sees_the_certificate_and_reads_nothing(
    pair: Pair, tmp_path: Path, stranger: str
) -> None:
    """The control is the pinned peer: it is told release, clock and its name, and reads what the server begins with."""
    alice, bob = load_identity(pair.alice), load_identity(pair.bob)
    carol = create_identity(tmp_path / "carol", "carol") if "own" in stranger else None
    with NodeServer.listen(alice, load_peers(pair.alice).values(), "127.0.0.1:0") as server:
        sight = probe(bob, load_peers(pair.bob)["alice"], server.address, 5)
        assert (sight.release, sight.caller) == (own_release(), "bob")
        assert heard(server.address, presenting(bob, tmp_path))[1]
        shown, read = heard(server.address, presenting(carol, tmp_path))
    assert shown in (None, alice.certificate.public_bytes(Encoding.DER))
    assert read == b""


@contextlib.contextmanager
def impostor(who: Identity, folder: Path, callers: Path) -> Iterator[tuple[str, list[bytes | None], list[bytes]]]:
    """Listen where the peer should, and keep the certificates and the bytes that come."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*written(who, folder))
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(callers)
    context.set_alpn_protocols(["h2"])
    shown: list[bytes | None] = []
    read: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as port:

        def listen() -> None:
            while True:
                try:
                    raw, _ = port.accept()
                except OSError:
                    return
                raw.settimeout(5)
                with raw, contextlib.suppress(OSError), context.wrap_socket(raw, server_side=True) as line:
                    shown.append(line.getpeercert(binary_form=True))
                    read.append(line.recv(1 << 12))

        threading.Thread(target=listen, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}", shown, read
        port.shutdown(socket.SHUT_RDWR)


def test_who_answers_in_the_peers_place_is_told_nothing_by_doctor_but_at_most_our_certificate(
    pair: Pair, tmp_path: Path
) -> None:
    carol = create_identity(tmp_path / "carol", "carol")
    bob = load_identity(pair.bob)
    ours = bob.certificate.public_bytes(Encoding.DER)
    with impostor(carol, tmp_path, pair.bob / "cert.pem") as (address, shown, read):
        (tmp_path / "control").mkdir()
        heard(address, presenting(bob, tmp_path / "control"))
        assert shown == [ours]  # the control: who speaks to it without looking is read
        assert read == [PREFACE]
        pair.edit("bob", '# address = "alice.example.org:7071"', f'address = "{address}"')
        ended = cotally_here("doctor", str(pair.bob / "party.toml"))
    assert ended.code != 0
    assert set(shown[1:]) <= {None, ours}
    assert b"".join(read[1:]) == b""
