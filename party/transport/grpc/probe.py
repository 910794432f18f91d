"""A small call that finds faults: a node tells a pinned caller how it sees it, whether a session runs or not.

What it tells: the versions of the wire and of the program, its clock, the caller's name there, and whether it is busy.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

import grpc

from party.errors import PeerLostError
from party.keys.certificates import Clock, Peer, utc_now
from party.keys.identity import Identity
from party.transport.grpc.acquaintance import CLIENT_OPTIONS
from party.transport.grpc.common import WIRE_VERSION
from party.transport.grpc.status import caller, refused, status_told
from party.wire.codec import is_canonical
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import PeerError

_RELEASE: Final = re.compile(r"[0-9A-Za-z.+-]{1,40}", re.ASCII)
_LAST_SECOND: Final = int(datetime(9999, 1, 1, tzinfo=UTC).timestamp())


@dataclass(frozen=True)
class Sight:
    """How a node sees its caller: `busy` is whether a session runs there, `caller` whom it takes it for."""

    version: str
    release: str
    clock: datetime
    caller: str
    busy: bool


def own_release() -> str:
    """Return the release of this program."""
    return version("cotally")


class Doctor(node_pb2_grpc.DoctorServicer):
    """Answers probes.

    Args:
        peers: Who may call.
        clock: Tells the time of day.
        is_busy: Tells whether a session runs.
    """

    def __init__(self, peers: Iterable[Peer], clock: Clock, is_busy: Callable[[], bool]) -> None:
        self._names = {peer.fingerprint: peer.name for peer in peers}
        self._clock, self._is_busy = clock, is_busy

    def Probe(  # noqa: N802 - the wire's name
        self, request: wire.ProbeRequest, context: grpc.ServicerContext
    ) -> wire.ProbeReply:
        """Tell how we see the caller."""
        del request
        return wire.ProbeReply(
            version=WIRE_VERSION,
            release=own_release(),
            clock=int(self._clock().timestamp()),
            caller=self._names[caller(context)],
            busy=self._is_busy(),
        )


def probe(identity: Identity, peer: Peer, address: str, seconds: float, clock: Clock = utc_now) -> Sight:
    """Ask a node how it sees us.

    Raises:
        CotallyError: It does not answer, refuses us, or cannot be asked.
    """
    credentials = grpc.ssl_channel_credentials(peer.pem, identity.key_pem, identity.pem)
    with grpc.secure_channel(
        address, credentials, options=CLIENT_OPTIONS, compression=grpc.Compression.NoCompression
    ) as channel:
        try:
            reply = node_pb2_grpc.DoctorStub(channel).Probe(wire.ProbeRequest(), timeout=seconds)
        except grpc.RpcError as error:
            code = status_told(error)
            if code is grpc.StatusCode.UNIMPLEMENTED:
                raise PeerError(
                    f"{peer.name} runs a release that cannot be asked (ours: {own_release()}): both sides need the same"
                ) from None
            if code is grpc.StatusCode.UNAVAILABLE:
                raise PeerLostError(f"{peer.name} greets us and breaks off: start its `cotally serve` anew") from None
            raise refused(code, peer.name, identity.dates_text(clock())) from None
    return _sight(reply, peer.name)


def _sight(reply: wire.ProbeReply, peer: str) -> Sight:
    legal = is_canonical(reply, reply.ByteSize()) and reply.clock <= _LAST_SECOND
    if not (legal and all(map(_RELEASE.fullmatch, (reply.version, reply.release)))):
        raise PeerError(f"{peer} sent a reply that cannot be read: both sides need the same release of cotally")
    return Sight(reply.version, reply.release, datetime.fromtimestamp(reply.clock, UTC), reply.caller, reply.busy)
