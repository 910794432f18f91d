"""What a port shows to who looks at it, and what a node tells a pinned caller: the layers under `cotally doctor`."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest

from party.errors import PeerLostError
from party.keys.identity import Identity, make_identity
from party.transport.grpc.probe import Sight, _sight, own_release, probe
from party.transport.grpc.status import WIRE_VERSION, split_address
from party.transport.look import PortView, greet, reach
from party.wire.v1 import node_pb2 as wire
from protocols.errors import PeerError
from tests.integration.test_doctor import listener
from tests.support.rpc import Parties

HANDSHAKE_FAILURE = b"\x15\x03\x03\x00\x02\x02\x28"  # an alert of TLS (RFC 8446, section 6)
REPLY = wire.ProbeReply(version="2", release="1.0.0rc1+x", clock=60, caller="alice", busy=True)


def look(own: Identity, address: str) -> PortView:
    host, port = split_address(address)
    return greet("bob", reach("bob", host, port), host, own)


def test_a_node_shows_its_certificate_and_whether_it_takes_ours(parties: Parties) -> None:
    with parties.serve() as server:
        taken, refused = look(parties.alice, server.address), look(make_identity("carol", ["::1"]), server.address)
    assert taken == PortView(parties.bob.certificate, "TLSv1.3", takes_ours=True)
    assert refused == PortView(parties.bob.certificate, "TLSv1.3", takes_ours=False)


@pytest.mark.parametrize(
    ("answer", "text"),
    [(b"SSH-2.0-x\r\n", "does not speak TLS"), (HANDSHAKE_FAILURE, r"breaks TLS off \(.*HANDSHAKE_FAILURE\)")],
)
def test_who_speaks_no_tls_is_told_apart_from_who_breaks_it_off(parties: Parties, answer: bytes, text: str) -> None:
    with listener(answer) as address, pytest.raises(PeerError, match=text):
        look(parties.alice, address)


def test_a_node_tells_a_pinned_caller_how_it_sees_it(parties: Parties) -> None:
    with parties.serve() as server:
        seen = probe(parties.alice, parties.pinned_bob, server.address, 5)
    assert (seen.version, seen.release, seen.caller, seen.busy) == (WIRE_VERSION, own_release(), "alice", False)


def test_a_node_that_has_no_such_call_is_an_older_release(parties: Parties) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    own = [(parties.bob.key_pem, parties.bob.pem)]
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(own, parties.alice.pem, True))
    server.start()
    with pytest.raises(PeerError, match="bob runs a release that cannot be asked"):
        probe(parties.alice, parties.pinned_bob, f"127.0.0.1:{port}", 5)
    server.stop(None).wait()


@contextlib.contextmanager
def breaking_off(folder: Path) -> Iterator[str]:
    """Shake hands as this party, and say nothing more."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0)) as port:

        def listen() -> None:
            with contextlib.suppress(OSError):
                while True:
                    context.wrap_socket(port.accept()[0], server_side=True).close()

        threading.Thread(target=listen, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}"
        port.shutdown(socket.SHUT_RDWR)


def test_a_node_that_greets_and_breaks_off_is_told_to_be_started_again(parties: Parties, directory: Path) -> None:
    with breaking_off(directory / "bob") as address, pytest.raises(PeerLostError, match="bob greets us and breaks off"):
        probe(parties.alice, parties.pinned_bob, address, 5)


def changed(**fields: object) -> wire.ProbeReply:
    made = wire.ProbeReply.FromString(REPLY.SerializeToString())
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_reply_is_read() -> None:
    assert _sight(REPLY, "bob") == Sight("2", "1.0.0rc1+x", datetime(1970, 1, 1, 0, 1, tzinfo=UTC), "alice", busy=True)


@pytest.mark.parametrize(
    "reply",
    [
        wire.ProbeReply.FromString(REPLY.SerializeToString() + b"\x78\x01"),
        changed(clock=1 << 40),
        changed(version=""),
        changed(release="\x1b[2J"),
        changed(release="1" * 41),
    ],
    ids=["an unknown field", "a year that no clock has", "no version", "no release", "a long release"],
)
def test_a_reply_that_no_release_gives_is_refused_and_not_shown(reply: wire.ProbeReply) -> None:
    with pytest.raises(PeerError, match=r"^bob sent a reply that cannot be read: both sides need the same release"):
        _sight(reply, "bob")
