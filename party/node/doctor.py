"""What keeps two parties from meeting: each layer between them is tried in turn, and the first that fails is named.

The peer's own view comes by a small call over the pinned connection, so that both directions are seen from one side.
"""

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Final

from cryptography import x509

from party.errors import ConfigError, DatesError, IdentityError
from party.keys.certificates import Clock, Peer, fingerprint, utc_now
from party.keys.identity import Identity, load_identity
from party.keys.keystore import load_key, load_secret
from party.node.inputs import pinned_peer
from party.settings.party import PartyConfig, read_party_config
from party.transport.grpc.probe import Sight, check_host, check_key, own_release, probe
from party.transport.grpc.status import check_free
from party.transport.look import LOOK_SECONDS, PortView, greet, reach, resolve
from protocols.errors import CotallyError, PeerError
from protocols.terms import KEY_FLOOR
from protocols.two_party.agreement import SPOKEN, common_version, versions_text

MOST_SKEW: Final = timedelta(minutes=5)
ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # what is listened on, not where


class Layer(Enum):
    """What two parties need, from the inside out."""

    SETTINGS = "settings"
    KEYS = "keys"
    TRUST = "trust"
    LISTENING = "listening"
    NAME = "name"
    PORT = "port"
    TLS = "TLS"
    PIN = "pin"
    WELCOME = "welcome"
    VERSION = "version"
    CLOCK = "clock"


@dataclass(frozen=True)
class Diagnosis:
    """What came of one layer: what was seen, or the error, or nothing where an earlier layer fails."""

    layer: Layer
    seen: tuple[str, ...] = ()
    error: CotallyError | None = None


Check = Callable[[], tuple[str, ...]]


class Examination:
    """One look at everything; each check keeps what the next ones need. A layer may keep us waiting `seconds`."""

    def __init__(self, path: Path, seconds: float = LOOK_SECONDS, clock: Clock = utc_now) -> None:
        self._path, self._seconds, self._clock = path, seconds, clock
        self._config: PartyConfig
        self._own: Identity
        self._peer: Peer
        self._view: PortView
        self._sight: Sight
        self._connection: socket.socket
        self._asked: datetime

    def diagnoses(self) -> Iterator[Diagnosis]:
        """Try all layers; of those that need an earlier one that fails, nothing is seen."""
        sound = True
        for each in _tried({Layer.SETTINGS: self._settings, Layer.KEYS: self._keys, Layer.TRUST: self._trust}):
            sound = sound and each.error is None
            yield each
        if sound and self._config.node.address is None:  # who has an address calls, and need not listen
            yield from _tried({Layer.LISTENING: self._listening})
        if sound and self._config.node.address is not None:
            yield from _tried(
                {
                    Layer.NAME: self._name,
                    Layer.PORT: self._port,
                    Layer.TLS: self._tls,
                    Layer.PIN: self._pin,
                    Layer.WELCOME: self._welcome,
                    Layer.VERSION: self._version,
                    Layer.CLOCK: self._clocks,
                }
            )

    def _settings(self) -> tuple[str, ...]:
        self._config = read_party_config(self._path)
        self._config.need_peer()
        if self._config.node.listen is None and self._config.node.address is None:
            raise ConfigError(f"{self._path}: [node] has neither listen nor address: set one of them")
        return str(self._path), self._config.name

    def _keys(self) -> tuple[str, ...]:
        self._own = load_identity(self._config.folder, clock=self._clock)
        load_secret(self._config.folder)
        load_key(self._config.folder, KEY_FLOOR)
        return _until(self._own.certificate), ", ".join(self._own.hosts)

    def _trust(self) -> tuple[str, ...]:
        self._peer = pinned_peer(self._config)
        return self._peer.name, self._peer.fingerprint

    def _listening(self) -> tuple[str, ...]:
        """See whether our own node listens, and nobody else in its place."""
        address = self._config.need_listen()
        try:
            check_free(address.host, address.port)
        except ConfigError:
            host = ANY_ADDRESS.get(address.host, address.host)
            view = greet(self._own.name, reach(self._own.name, host, address.port, self._seconds), host, self._own)
            if fingerprint(view.certificate) != self._own.fingerprint:
                raise ConfigError(
                    f"another program, or another party's node, listens on {address}: end it, or choose another port "
                    "in [node] listen and give it to the other party"
                ) from None
            return str(address), self._peer.name
        return (str(address),)

    def _name(self) -> tuple[str, ...]:
        address = self._config.need_address()
        found = resolve(address.host, address.port)
        return address.host, ", ".join(found)

    def _port(self) -> tuple[str, ...]:
        address = self._config.need_address()
        self._connection = reach(self._peer.name, address.host, address.port, self._seconds)
        return (str(address),)

    def _tls(self) -> tuple[str, ...]:
        host = self._config.need_address().host
        self._view = greet(self._peer.name, self._connection, host, self._own)
        return (self._view.protocol,)

    def _pin(self) -> tuple[str, ...]:
        check_key(self._peer, self._view.certificate)
        self._peer = self._peer.renewed_as(self._view.certificate)
        self._peer.check_dates(self._clock())
        check_host(self._peer, self._config.need_address().host)
        return self._peer.name, _until(self._peer.certificate), ", ".join(self._peer.hosts)

    def _welcome(self) -> tuple[str, ...]:
        name = self._peer.name
        if not self._view.takes_ours:
            raise IdentityError(
                f"{name} does not accept our certificate: send it our cert.pem; its operator removes ours from peers/ "
                "and runs `cotally trust` with the new one. If it has this one, it is outside its dates by the clock "
                f"of {name} ({self._own.dates_text(self._clock())}): set the clock that is wrong"
            )
        self._sight = probe(self._own, self._peer, str(self._config.need_address()), self._seconds, self._clock)
        self._asked = self._clock()
        if self._sight.caller != self._own.name:
            raise PeerError(f"{name} knows our key under another name: ask its operator to check its folder peers/")
        return (name, self._own.name, *(["busy"] if self._sight.busy else []))

    def _version(self) -> tuple[str, ...]:
        theirs = self._sight
        if common_version(theirs.version) is None:
            raise PeerError(
                f"we speak version {versions_text(SPOKEN)} of the wire (cotally {own_release()}), {self._peer.name} "
                f"speaks {theirs.version} (cotally {theirs.release}): install the same release on both sides"
            )
        return own_release(), theirs.release

    def _clocks(self) -> tuple[str, ...]:
        ours, theirs = self._asked, self._sight.clock
        if abs(ours - theirs) > MOST_SKEW:
            raise DatesError(
                f"the clocks differ: ours says {ours:%Y-%m-%d %H:%M:%S}, that of {self._peer.name} "
                f"{theirs:%Y-%m-%d %H:%M:%S} (both UTC): set the one that is wrong, for certificates have dates"
            )
        return (str(round(abs(ours - theirs).total_seconds())),)


def _tried(checks: dict[Layer, Check]) -> Iterator[Diagnosis]:
    """Make one check after the other until one fails."""
    fails = False
    for layer, check in checks.items():
        if fails:
            yield Diagnosis(layer)
            continue
        try:
            yield Diagnosis(layer, check())
        except CotallyError as error:
            fails = True
            yield Diagnosis(layer, error=error)


def _until(certificate: x509.Certificate) -> str:
    return f"{certificate.not_valid_after_utc:%Y-%m-%d}"
