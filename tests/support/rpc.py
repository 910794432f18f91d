"""Two parties with identities that trust each other, and roles that move bulk, for tests over real sockets."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from party.keys.certificates import Peer
from party.keys.identity import Identity, trust
from party.transport.channel import PagedChannel
from party.transport.clocks import REAL_TIME, Timer
from party.transport.grpc.client import connect
from party.transport.grpc.probe import CLIENT_OPTIONS
from party.transport.grpc.server import NodeServer
from party.transport.pages import Waits
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.messages import DisguisedPage
from protocols.role import Role, Send, receive
from protocols.two_party.agreement import SPOKEN, Versions, versions_text
from tests.support.identities import create_identity
from tests.support.processes import wait_for
from tests.support.timer import SkippingTimer

SESSION, WIRE_VERSION = bytes(16), versions_text(SPOKEN)
_FRAMES = json.loads((Path(__file__).parents[1] / "vectors" / "frames.json").read_text("utf-8"))
KEPT_FRAMES = {
    release: {name: bytes.fromhex(content) for name, content in kinds.items()} for release, kinds in _FRAMES.items()
}
"""What releases have sent, by the name of the message."""


@dataclass(frozen=True)
class Parties:
    """Alice, who opens sessions, and Bob, who answers; each has pinned the other."""

    alice: Identity
    bob: Identity
    pinned_alice: Peer
    pinned_bob: Peer

    def serve(
        self,
        address: str = "127.0.0.1:0",
        *,
        patience: float = 2.0,
        timer: Timer = REAL_TIME,
        spoken: Versions = SPOKEN,
    ) -> NodeServer:
        """Let Bob listen."""
        return NodeServer.listen(self.bob, [self.pinned_alice], address, waits=_waits(patience, timer, spoken))

    def connect(
        self, address: str, *, patience: float = 2.0, timer: Timer = REAL_TIME, spoken: Versions = SPOKEN
    ) -> PagedChannel:
        """Let Alice open a session."""
        return connect(self.alice, self.pinned_bob, address, waits=_waits(patience, timer, spoken))


def _waits(patience: float, timer: Timer, spoken: Versions) -> Waits:
    """Return how long a party waits: of real time a minute at most."""
    return Waits(patience, max(60.0, 2 * patience), timer, spoken=spoken)


def make_parties(directory: Path) -> Parties:
    """Make both identities in a directory."""
    alice = create_identity(directory / "alice", "alice")
    bob = create_identity(directory / "bob", "bob")
    pinned_alice = trust(directory / "bob", directory / "alice" / "cert.pem")
    pinned_bob = trust(directory / "alice", directory / "bob" / "cert.pem")
    return Parties(alice, bob, pinned_alice, pinned_bob)


@contextlib.contextmanager
def session(
    parties: Parties, *, patience: float = 2.0, timer: Timer = REAL_TIME
) -> Iterator[tuple[PagedChannel, PagedChannel, NodeServer]]:
    """Open a session; whatever is still open at the end is cancelled."""
    with parties.serve(patience=patience, timer=timer) as server:
        alice = parties.connect(server.address, patience=patience, timer=timer)
        try:
            yield alice, server.accept(5), server
        finally:
            alice._release()


def live_on(responder: PagedChannel, timer: SkippingTimer, steps: int, seconds: float) -> None:
    """Let time pass in steps, each no longer than the responder's patience, while its peer goes on calling."""
    for _ in range(steps):
        timer.skip(seconds)
        wait_for(lambda: responder.last_call >= timer.now() - seconds)  # type: ignore[attr-defined]


@contextlib.contextmanager
def stub(own: Identity | None, peer: Peer, address: str, *options: tuple[str, int]) -> Iterator[node_pb2_grpc.NodeStub]:
    """Call a node by hand, with or without a certificate of our own."""
    with raw_channel(own, peer, address, *options) as channel:
        yield node_pb2_grpc.NodeStub(channel)


def raw_channel(own: Identity | None, peer: Peer, address: str, *options: tuple[str, int]) -> grpc.Channel:
    """Connect by hand."""
    key, chain = (own.key_pem, own.pem) if own else (None, None)
    credentials = grpc.ssl_channel_credentials(peer.pem, key, chain)
    return grpc.secure_channel(address, credentials, options=(*CLIENT_OPTIONS, *options))


def call(channel: grpc.Channel, name: str, body: bytes, **options: Any) -> bytes:
    """Call a method of the node with any bytes."""
    method: Any = channel.unary_unary(f"/cotally.wire.v1.Node/{name}", None, None)
    reply: bytes = method(body, timeout=5, **options)
    return reply


def opened(node: node_pb2_grpc.NodeStub) -> node_pb2_grpc.NodeStub:
    """Open the session whose id is `SESSION`."""
    node.Open(wire.OpenRequest(version=WIRE_VERSION, session=SESSION), timeout=5)
    return node


def send_bulk(frames: int, size: int) -> Role[int]:
    """Send frames of one size."""
    for _ in range(frames):
        yield Send(DisguisedPage(bytes(size)))
    return frames


def receive_bulk(frames: int) -> Role[int]:
    """Receive frames and return their bytes."""
    total = 0
    for _ in range(frames):
        total += len((yield from receive(DisguisedPage)).codes)
    return total


def both_ways(frames: int, size: int) -> Role[int]:
    """Send all, then receive as many."""
    yield from send_bulk(frames, size)
    return (yield from receive_bulk(frames))


class Forwarder:
    """A TCP hop between the parties: it carries this many bytes per second each way, if told, and can be cut."""

    def __init__(self, target: str, rate: float | None = None) -> None:
        self._rate = rate
        host, port = target.rsplit(":", 1)
        self._target = host, int(port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._open: list[socket.socket] = []
        self.accepted = 0
        self.flips = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.accepted += 1
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for source, sink, replies in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._copy, args=(source, sink, replies), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, replies: bool) -> None:
        with contextlib.suppress(OSError):
            while data := bytearray(source.recv(1 << 16 if self._rate is None else 1 << 12)):
                if self._rate is not None:
                    time.sleep(len(data) / self._rate)
                if replies and self.flips:
                    self.flips -= 1
                    data[-1] ^= 1
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)

    def flip(self) -> None:
        """Flip a bit of the next piece that the node replies."""
        self.flips += 1

    def cut(self) -> None:
        """Break every connection; new ones are accepted."""
        for each in self._open:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()

    def close(self) -> None:
        """Break everything and refuse new connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
