"""What a port shows to who looks at it, to a pinned caller and to one that nobody trusts, before a session begins."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address
from pathlib import Path

import grpc
import pytest

from party.errors import ConfigError, DatesError, IdentityError, PeerLostError
from party.keys.certificates import LIFETIME, Peer, general_name, self_signed, utc_now
from party.keys.identity import Identity, make_identity
from party.transport.grpc.client import connect
from party.transport.grpc.probe import Acquaintance, Sight, _sight, own_release, probe
from party.transport.grpc.server import NodeServer
from party.transport.grpc.status import split_address
from party.transport.look import PortView, greet, reach
from party.wire.v1 import node_pb2 as wire
from protocols.errors import PeerError
from tests.integration.test_doctor import listener
from tests.integration.test_rpc_identity import identity
from tests.support import processes
from tests.support.identities import create_identity
from tests.support.processes import finish, make_pair, serving
from tests.support.rpc import WIRE_VERSION, Parties

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


NOW = datetime.now(UTC)
LONG_AGO = NOW - LIFETIME - timedelta(days=1)
NOWHERE = "127.0.0.1:1"


def known(
    parties: Parties,
    address: str = NOWHERE,
    peer: Peer | None = None,
    *,
    latest: Callable[[], Identity] | None = None,
    renewed: Callable[[Peer], None] = lambda _: None,
) -> Acquaintance:
    """Let Alice know Bob at an address."""
    own = latest or (lambda: parties.alice)
    return Acquaintance(own, peer or parties.pinned_bob, address, utc_now, renewed)


def bob_with(parties: Parties, *hosts: str, made: datetime = NOW) -> Identity:
    """Return Bob with another certificate over his key."""
    names = [general_name(host) for host in hosts or parties.bob.hosts]
    return parties.bob.with_certificate(self_signed(parties.bob.key, "bob", names, made))


def listening(parties: Parties, own: Identity, made: datetime = NOW) -> NodeServer:
    return NodeServer.listen(own, [parties.pinned_alice], "127.0.0.1:0", clock=lambda: made)


def test_who_is_as_on_file_is_not_looked_at(parties: Parties) -> None:
    known(parties).check()


def link_local() -> str | None:
    """Return an IPv6 address of this machine with its zone, such as fe80::1%eth0, if there is one."""
    places = Path("/proc/net/if_inet6")
    lines = [line.split() for line in places.read_text().splitlines()] if places.exists() else []
    return next((f"{IPv6Address(int(line[0], 16))}%{line[5]}" for line in lines if line[3] == "20"), None)


@pytest.mark.skipif(link_local() is None, reason="no IPv6 address with a zone here")
def test_a_host_that_is_reached_by_its_zone_is_the_one_of_its_certificate(parties: Parties, tmp_path: Path) -> None:
    host = str(link_local())
    bob = create_identity(tmp_path, "bob", [host])
    assert bob.hosts == (host.partition("%")[0],)
    with NodeServer.listen(bob, [parties.pinned_alice], f"[{host}]:0") as server:
        connect(parties.alice, bob, server.address).close()


def test_our_own_certificate_must_be_within_its_dates(parties: Parties) -> None:
    old = make_identity("alice", ["localhost"], clock=lambda: LONG_AGO)
    with pytest.raises(DatesError, match="the certificate of alice expired"):
        known(parties, latest=lambda: old).check()


FAULTY: dict[str, tuple[Peer, type[Exception], str]] = {
    "expired": (make_identity("bob", ["127.0.0.1"], clock=lambda: LONG_AGO), DatesError, "of bob expired"),
    "signs others": (identity("bob", signs=True), IdentityError, "of bob may sign others"),
    "another host": (make_identity("bob", ["b.org", "::1"]), ConfigError, r"is for b\.org, ::1, not for 127\.0\.0\.1"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_peer_that_is_not_to_be_called_is_named_with_the_reason(parties: Parties, fault: str) -> None:
    peer, error, text = FAULTY[fault]
    with pytest.raises(error, match=text):
        known(parties, peer=peer).check()


def test_who_speaks_no_tls_is_the_first_fault_though_the_certificate_on_file_is_for_another_host(
    parties: Parties,
) -> None:
    peer, _, text = FAULTY["another host"]
    with listener(b"SSH-2.0-x\r\n") as address, pytest.raises(PeerError, match="does not speak TLS: another program"):
        known(parties, address, peer).check()
    with parties.serve() as server, pytest.raises(ConfigError, match=text):  # the control: a node is there
        known(parties, server.address, peer).check()


def test_what_the_peer_has_renewed_since_is_taken_up_and_told(parties: Parties) -> None:
    told: list[Peer] = []
    old, now = bob_with(parties, made=LONG_AGO), bob_with(parties)
    with listening(parties, now) as server:
        met = known(parties, server.address, old, renewed=told.append)
        met.check()
        assert [met.peer.certificate] == [peer.certificate for peer in told] == [now.certificate]
        assert not met.refresh()


def test_what_the_peer_has_renewed_is_judged_as_what_was_on_file(parties: Parties) -> None:
    old, elsewhere = bob_with(parties, made=LONG_AGO), bob_with(parties, "b.org")
    with listening(parties, elsewhere) as server, pytest.raises(ConfigError, match=r"is for b\.org, not for 127"):
        known(parties, server.address, old).check()


def test_what_is_out_of_its_dates_or_of_another_key_is_not_taken_up(parties: Parties) -> None:
    told: list[Peer] = []
    for shown, made in ((bob_with(parties, made=LONG_AGO), LONG_AGO), (make_identity("bob", ["127.0.0.1"]), NOW)):
        with listening(parties, shown, made) as server:
            met = known(parties, server.address, renewed=told.append)
            assert not met.refresh()
        assert met.peer == parties.pinned_bob
    assert told == []


def test_our_own_renewed_certificate_is_taken_up_even_where_nobody_answers(parties: Parties) -> None:
    again = parties.alice.with_certificate(
        self_signed(parties.alice.key, "alice", [general_name("localhost")], utc_now())
    )
    ours = iter([parties.alice, again, again])
    met = known(parties, latest=lambda: next(ours))
    assert met.refresh()
    assert met.own == again
    assert not met.refresh()


ROWS = [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(100)]
GARBAGE = (b"\0" * 64, b"GET / HTTP/1.1\r\n\r\n", os.urandom(2000), b"\x16\x03\x01\x02\x00\x01", b"")


def knock(address: str) -> None:
    """Send what is no TLS, then begin TLS without a certificate."""
    host, port = address.rsplit(":", 1)
    for data in GARBAGE:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 5) as line:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            line.recv(100)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    with (
        contextlib.suppress(OSError),
        socket.create_connection((host, int(port)), 5) as line,
        context.wrap_socket(line) as secure,
    ):
        secure.recv(100)


@pytest.mark.parametrize("verbosity", ["", "INFO"])
def test_handshakes_of_strangers_print_nothing_of_grpcs(
    trusting: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verbosity: str
) -> None:
    """Anybody who asks for gRPC's own lines by its variable has them: they are there to be kept back.

    The variable is read when gRPC is loaded, so this process is one of its own.
    """

    def started(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "party.cli.main", *arguments]
        return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    monkeypatch.setattr(processes, "start", started)
    if verbosity:
        monkeypatch.setenv("GRPC_VERBOSITY", verbosity)
    else:
        monkeypatch.delenv("GRPC_VERBOSITY", raising=False)
    pair = make_pair(trusting, tmp_path / "parties", (["a", "class"], ROWS), (["c"], [[row[0]] for row in ROWS]))
    with serving(pair, "--progress", "none") as alice:
        knock(pair.listening)
        assert alice.poll() is None
        alice.terminate()
        told = finish(alice)
    assert told.code == 0
    assert bool(re.search(r"handshak|SSL|\.cc:\d+", told.err, re.IGNORECASE)) is bool(verbosity), told.err
