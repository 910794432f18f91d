"""`cotally doctor` against real ports, processes and faults: the layer that fails is named, with the next step."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest

from party.demo.processes import free_port
from party.keys.certificates import LIFETIME
from party.keys.identity import load_identity, load_peers
from party.transport.grpc.server import NodeServer
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from tests.support.identities import create_identity
from tests.support.processes import Ended, Pair, cotally, cotally_here, make_pair, serving

CALLING = ["settings", "keys", "trust", "name", "port", "TLS", "pin", "welcome", "version", "clock"]
COLUMNS = (["a", "class"], [["xy"[i % 2], "yn"[i // 2 % 2]] for i in range(40)])


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    """Bob keeps the listen key that `init` wrote, and calls: nothing is said of listening."""
    return make_pair(trusting, tmp_path / "parties", COLUMNS, (["c"], [["pq"[i % 2]] for i in range(40)]))


UNREAD = "The table was not read: `cotally check "


def examine(pair: Pair, address: str = "", party: str = "bob", run: Callable[..., Ended] = cotally_here) -> Ended:
    if address:
        pair.edit("bob", '# address = "alice.example.org:7071"', f'address = "{address}"')
    return run("doctor", str(pair.folder / party / "party.toml"))


def layers(ended: Ended) -> list[str]:
    return [line.split()[0] for line in ended.out.splitlines() if not line.startswith(UNREAD)]


def failing(ended: Ended) -> tuple[str, str]:
    """Return the only layer that fails and the line of the error; what needs it was not tried."""
    assert "Traceback" not in ended.err
    (line,) = [line for line in ended.out.splitlines() if " FAILS: " in line]
    (error,) = ended.err.splitlines()
    assert error.removeprefix("cotally: ") == line.split(" FAILS: ")[1]
    after = ended.out.split(line)[1]
    assert len(re.findall("not tried", after)) == len(after.strip().splitlines())
    return line.split()[0], error


def assert_fails(ended: Ended, layer: str, *words: str, code: int | None = None) -> None:
    found, error = failing(ended)
    assert (found, ended.code) == (layer, code or ended.code), error
    assert all(each in error for each in words), error


@contextlib.contextmanager
def listener(answer: bytes) -> Iterator[str]:
    """Listen, and answer everybody so, in the clear."""
    with socket.create_server(("127.0.0.1", 0)) as port:

        def listen() -> None:
            with contextlib.suppress(OSError):
                while True:
                    with port.accept()[0] as connection:
                        connection.recv(1 << 12)
                        connection.sendall(answer)

        threading.Thread(target=listen, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}"
        port.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def node(pair: Pair, clock: Callable[[], datetime] = now, host: str = "127.0.0.1") -> Iterator[NodeServer]:
    """Let Alice listen in this process, by a clock of her own."""
    own, peers = load_identity(pair.alice, clock=clock), load_peers(pair.alice).values()
    with NodeServer.listen(own, peers, f"{host}:0", clock=clock) as server:
        yield server


def test_where_all_is_well_each_layer_says_so_from_both_sides(pair: Pair) -> None:
    with serving(pair):
        ended = examine(pair, run=cotally)
    assert (ended.code, ended.err) == (0, "")
    assert layers(ended) == CALLING
    assert "FAILS" not in ended.out
    assert "alice lets us in, as bob" in ended.out
    assert ended.out.splitlines()[-1].startswith(UNREAD)


def test_a_node_in_a_session_answers_too(pair: Pair) -> None:
    with node(pair) as server:
        with server._changed:
            server._start(next(iter(server._peers.values())), bytes(16), 3)
        ended = examine(pair, server.address)
        assert ended.code == 0, ended.out
        assert "a session runs there at present" in ended.out


def test_a_port_that_nobody_listens_on_is_told(pair: Pair) -> None:
    assert_fails(
        examine(pair, f"127.0.0.1:{free_port()}", run=cotally),
        "port",
        "nobody listens there: start `cotally serve`",
        code=3,
    )


def test_a_port_that_never_answers_is_told(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def dropped(*_: object, **__: object) -> socket.socket:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", dropped)
    assert_fails(examine(pair, "127.0.0.1:9"), "port", "a firewall or router drops what is sent")


def test_a_name_that_leads_nowhere_is_told(pair: Pair) -> None:
    assert_fails(examine(pair, "nobody.invalid:7071"), "name", "the name nobody.invalid leads nowhere", code=2)


def test_a_name_that_the_certificate_is_not_for_is_told(pair: Pair) -> None:
    with node(pair, host="127.0.0.2") as server:
        assert_fails(
            examine(pair, server.address),
            "pin",
            "the certificate of alice is for localhost, 127.0.0.1, not for 127.0.0.2: write one of these in "
            "[node] address, or run `cotally keys renew alice --host localhost --host 127.0.0.1 --host 127.0.0.2` at",
        )


@pytest.mark.parametrize("answer", [b"HTTP/1.0 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n", b""])
def test_another_program_on_the_port_is_told(pair: Pair, answer: bytes) -> None:
    with listener(answer) as address:
        assert_fails(examine(pair, address), "TLS", "another program has that port", code=3)


def test_a_node_in_plain_text_is_told(pair: Pair) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    assert_fails(examine(pair, address), "TLS", "does not speak TLS")
    server.stop(None)


def test_a_silent_port_is_told(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("party.node.doctor.Examination.__init__.__defaults__", (0.1, now))
    with socket.create_server(("127.0.0.1", 0)) as port:
        assert_fails(examine(pair, f"127.0.0.1:{port.getsockname()[1]}"), "TLS", "says nothing")


def test_another_certificate_than_the_pinned_one_is_told_with_its_fingerprint(pair: Pair, tmp_path: Path) -> None:
    other = create_identity(tmp_path / "other", "alice")
    with NodeServer.listen(other, load_peers(pair.alice).values(), "127.0.0.1:0") as server:
        assert_fails(examine(pair, server.address), "pin", other.fingerprint, "compare that by telephone", code=2)


def test_a_peer_that_pins_another_certificate_of_ours_is_told(pair: Pair, tmp_path: Path) -> None:
    other = create_identity(tmp_path / "other", "bob")
    (pair.alice / "peers" / "bob.pem").write_bytes(other.pem)
    with serving(pair):
        assert_fails(
            examine(pair, run=cotally), "welcome", "alice does not accept our certificate: send it our cert.pem", code=2
        )


@pytest.mark.parametrize("party", ["alice", "bob"])
def test_an_expired_certificate_is_told_whoever_has_it(pair: Pair, party: str) -> None:
    folder = pair.folder / party
    other = pair.alice if party == "bob" else pair.bob
    for name in ("key.pem", "cert.pem"):
        (folder / name).unlink()
    long_ago = now() - LIFETIME - timedelta(days=1)
    old = create_identity(folder, party, clock=lambda: long_ago)
    (other / "peers" / f"{party}.pem").write_bytes(old.pem)
    with node(pair, lambda: long_ago if party == "alice" else now()) as server:
        assert_fails(examine(pair, server.address), ("keys" if party == "bob" else "pin"), "expired on")


def test_a_certificate_that_only_the_peer_takes_for_expired_is_told_with_the_clocks(pair: Pair) -> None:
    later = [now()]
    with node(pair, lambda: later[0]) as server:
        later[0] += 2 * LIFETIME
        assert_fails(
            examine(pair, server.address),
            "welcome",
            "by the clock of alice our certificate is outside its dates",
            code=3,
        )


@pytest.mark.parametrize("hours", [-0.5, 3])
def test_clocks_that_differ_are_told(pair: Pair, hours: float) -> None:
    with node(pair, lambda: datetime.now(UTC) + timedelta(hours=hours)) as server:
        assert_fails(examine(pair, server.address), "clock", "the clocks differ: ours says", code=2)


@pytest.mark.parametrize(
    ("version", "release", "layer", "text"),
    [
        ("99", "9.0.0", "version", "alice speaks 99 (cotally 9.0.0): install the same release"),
        ("1", "\x1b[2J", "welcome", "alice sent a reply that cannot be read"),
    ],
)
def test_another_version_is_told(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, version: str, release: str, layer: str, text: str
) -> None:
    reply = wire.ProbeReply(version=version, release=release, clock=int(now().timestamp()), caller="bob")
    monkeypatch.setattr("party.transport.grpc.probe.Doctor.Probe", lambda *_: reply)
    with node(pair) as server:
        assert_fails(examine(pair, server.address), layer, text, code=3)


def test_a_release_without_the_call_is_told(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_pb2_grpc, "add_DoctorServicer_to_server", lambda *_: None)
    with node(pair) as server:
        assert_fails(examine(pair, server.address), "welcome", "runs a release that cannot be asked")


# The side that listens


def test_the_side_that_listens_is_told_whether_it_does(pair: Pair) -> None:
    ended = examine(pair, party="alice")
    assert ended.code == 0
    assert layers(ended) == ["settings", "keys", "trust", "listening"]
    assert "start `cotally serve`" in ended.out
    with node(pair) as server:
        pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{server.address}"')
        assert f"our node listens on {server.address} for bob" in examine(pair, party="alice").out


def test_a_port_that_another_program_has_is_told(pair: Pair, tmp_path: Path) -> None:
    other = create_identity(tmp_path / "other", "carol")
    with NodeServer.listen(other, load_peers(pair.alice).values(), "127.0.0.1:0") as server:
        pair.edit("alice", 'listen = "127.0.0.1:0"', f'listen = "{server.address}"')
        assert_fails(examine(pair, party="alice"), "listening", "another program, or another party's node, listens on")


def test_missing_settings_are_told_first(pair: Pair) -> None:
    pair.edit("bob", 'listen = "0.0.0.0:7071"', "")
    assert_fails(examine(pair), "settings", "[node] has neither listen nor address")


def test_a_stranger_may_not_ask(pair: Pair, tmp_path: Path) -> None:
    stranger = create_identity(tmp_path / "other", "carol")
    with node(pair) as server:
        own = load_peers(pair.bob)["alice"]
        credentials = grpc.ssl_channel_credentials(own.pem, stranger.key_pem, stranger.pem)
        with grpc.secure_channel(server.address, credentials) as channel, pytest.raises(grpc.RpcError) as told:
            node_pb2_grpc.DoctorStub(channel).Probe(wire.ProbeRequest(), timeout=5)
        assert told.value.code() is grpc.StatusCode.UNAVAILABLE
