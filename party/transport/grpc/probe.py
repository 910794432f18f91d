"""What two parties show each other at an address before a session, so that faults and renewed certificates are found.

By a small call a node shows a pinned caller how it sees it, whether a session runs or not: the versions of the wire and
of the program, its clock, the caller's name there, and whether it is busy.

Either side may renew its certificate. gRPC's client believes one certificate, exactly (a key that it believed could
sign others, and it shows nobody what it was shown). So where that certificate will not do, or connections fail, a look
at the port shows which one the peer shows by now; it is believed if it is a certificate of the same key for itself.
What is looked at learns nothing of us.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from ipaddress import ip_address
from typing import Final

import grpc
from cryptography import x509

from party.errors import ConfigError, IdentityError, PeerLostError
from party.keys.certificates import Clock, OnRenewed, Peer, fingerprint, utc_now
from party.keys.identity import Identity
from party.transport.grpc.status import OPTIONS, caller, refused, split_address, status_told
from party.transport.look import greeting, shown_certificate
from party.wire.codec import is_canonical
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import CotallyError, InputError, PeerError
from protocols.two_party.agreement import SPOKEN, versions_text

CLIENT_OPTIONS = (
    *OPTIONS,
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),  # retries could come by DNS
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)

_LOOK_SECONDS = 2.0


class Acquaintance:
    """Ourselves and a pinned peer, at an address."""

    def __init__(
        self, latest: Callable[[], Identity], peer: Peer, address: str, clock: Clock, renewed: OnRenewed
    ) -> None:
        self._latest, self._clock, self._renewed = latest, clock, renewed
        self.own, self.peer, self.address = latest(), peer, address
        self._host, self._port = split_address(address)

    def check(self) -> None:
        """Say locally what TLS would refuse without a reason (FAULTS cases 59 and 63)."""
        self.own.check_dates(self._clock())
        try:
            self._check_peer()
        except InputError:
            with suppress(PeerLostError):  # who is there and is no node is the first fault
                greeting(self.peer.name, self._host, self._port, _LOOK_SECONDS)
            self.refresh()
            self._check_peer()

    def _check_peer(self) -> None:
        self.peer.check_dates(self._clock())
        self.peer.check_signs_no_other()
        check_host(self.peer, self._host)

    def refresh(self) -> bool:
        """Take up what either side has renewed; return whether there is anything."""
        before = self.own, self.peer
        self.own = self._latest()
        shown = shown_certificate(self._host, self._port, _LOOK_SECONDS)
        if shown is not None and shown != self.peer.certificate:
            with suppress(IdentityError):
                peer = self.peer.renewed_as(shown)
                peer.check_dates(self._clock())
                self.peer = peer
                self._renewed(peer)
        return before != (self.own, self.peer)

    def why_silent(self) -> str:
        """Look at the port to which all calls have failed, and say what keeps us from the peer."""
        name = self.peer.name
        try:
            check_key(self.peer, greeting(name, self._host, self._port, _LOOK_SECONDS))
        except CotallyError as error:
            return str(error)
        return (
            f"{name} at {self.address} does not let us in: it must trust the key of our cert.pem, and by its clock "
            f"that certificate must be within its dates ({self.own_dates()}); `cotally doctor` says more"
        )

    def own_dates(self) -> str:
        """Say from when to when our certificate holds, and what our clock says: where clocks differ, one is wrong."""
        return self.own.dates_text(self._clock())

    def channel(self) -> grpc.Channel:
        """Return a channel to the peer."""
        credentials = grpc.ssl_channel_credentials(self.peer.pem, self.own.key_pem, self.own.pem)
        return grpc.secure_channel(
            self.address, credentials, options=CLIENT_OPTIONS, compression=grpc.Compression.NoCompression
        )


def check_key(peer: Peer, shown: x509.Certificate) -> None:
    """Refuse a certificate over another key than the peer's."""
    if (found := fingerprint(shown)) != peer.fingerprint:
        raise IdentityError(
            f"the node that answers for {peer.name} has another key than the one that we trust: its fingerprint is "
            f"{found}. If {peer.name} has made a new one, compare that by telephone, remove {peer.name}.pem from "
            "peers/ and `cotally trust` it; if not, the address leads to somebody else"
        )


def check_host(party: Peer, host: str) -> None:
    """Refuse a host that a party's certificate is not for."""
    with suppress(ValueError):
        host = str(ip_address(host.partition("%")[0]))  # a zone is this machine's name for a line, of no certificate
    if host.lower() not in {name.lower() for name in party.hosts}:
        options = " ".join(f"--host {each}" for each in (*party.hosts, host))
        raise ConfigError(
            f"the certificate of {party.name} is for {', '.join(party.hosts)}, not for {host}: write one of these in "
            f"[node] address, or run `cotally keys renew {party.name} {options}` at its side"
        )


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
    """Answers probes."""

    def __init__(self, peers: Iterable[Peer], clock: Clock, is_busy: Callable[[], bool]) -> None:
        self._names = {peer.fingerprint: peer.name for peer in peers}
        self._clock, self._is_busy = clock, is_busy

    def Probe(  # noqa: N802 - the wire's name
        self, request: wire.ProbeRequest, context: grpc.ServicerContext
    ) -> wire.ProbeReply:
        """Say how we see the caller."""
        del request
        return wire.ProbeReply(
            version=versions_text(SPOKEN),
            release=own_release(),
            clock=int(self._clock().timestamp()),
            caller=self._names[caller(context)],
            busy=self._is_busy(),
        )


def probe(identity: Identity, peer: Peer, address: str, seconds: float, clock: Clock = utc_now) -> Sight:
    """Ask a node how it sees us."""
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
                raise PeerLostError(f"{peer.name} greets us and breaks off: start its `cotally serve` again") from None
            raise refused(code, peer.name, identity.dates_text(clock())) from None
    return _sight(reply, peer.name)


def _sight(reply: wire.ProbeReply, peer: str) -> Sight:
    legal = is_canonical(reply, reply.SerializeToString()) and reply.clock <= _LAST_SECOND
    if not (legal and all(map(_RELEASE.fullmatch, (reply.version, reply.release)))):
        raise PeerError(f"{peer} sent a reply that cannot be read: both sides need the same release of cotally")
    return Sight(reply.version, reply.release, datetime.fromtimestamp(reply.clock, UTC), reply.caller, reply.busy)
