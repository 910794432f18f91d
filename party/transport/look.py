"""Looking at an address layer by layer: its name, its port, what greets there.

Our certificate is all that is sent. gRPC gives one answer to every fault of a connection (FAULTS C3). So these layers
are tried one by one, by plain sockets and the system's TLS, which checks nothing here: what is found is judged by who
asked.
"""

import secrets
import socket
import ssl
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from party.errors import ConfigError, PeerLostError
from party.keys.identity import Identity
from protocols.errors import CotallyError, PeerError

LOOK_SECONDS: Final = 5.0
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")


@dataclass(frozen=True)
class PortView:
    """What a port shows under TLS: its certificate, the protocol, such as `TLSv1.3`, and whether it takes ours."""

    certificate: x509.Certificate
    protocol: str
    takes_ours: bool


def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host, in the order in which they are tried."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ConfigError(
            f"the name {host} leads nowhere: compare it with the peer's, or ask the administrator of your DNS"
        ) from None
    return tuple(dict.fromkeys(str(place[4][0]) for place in found))


def reach(peer: str, host: str, port: int, seconds: float = LOOK_SECONDS) -> socket.socket:
    """Return a connection to a port."""
    address = f"{host}:{port}"
    try:
        return socket.create_connection((host, port), timeout=seconds)
    except ConnectionRefusedError:
        raise PeerLostError(
            f"{peer} at {address} refuses connections, nobody listens there: start `cotally serve` at its side, "
            "and compare [node] address with the address that it shows"
        ) from None
    except TimeoutError:
        raise PeerLostError(
            f"{peer} at {address} does not answer: a firewall or router drops what is sent, or the host is another; "
            "let the port pass on both sides"
        ) from None
    except OSError as error:
        raise PeerLostError(
            f"no way leads to {peer} at {address} ({error.strerror or 'network error'}): look at this machine's network"
        ) from None


def greet(peer: str, connection: socket.socket, host: str, own: Identity | None) -> PortView:
    """Return what a connection shows under TLS, and close it; without our identity nothing of us is shown."""
    with connection:
        try:
            with _context(own).wrap_socket(connection, server_hostname=host) as secure:
                shown = secure.getpeercert(binary_form=True) or b""
                protocol = secure.version() or "TLS"
                takes_ours = own is not None and _takes_ours(secure)
                return PortView(x509.load_der_x509_certificate(shown), protocol, takes_ours)
        except TimeoutError:
            raise PeerError(f"what listens at {host} for {peer} says nothing: {_ANOTHER}") from None
        except ssl.SSLError as error:
            if error.reason in _NO_TLS:
                raise PeerError(f"what listens at {host} for {peer} does not speak TLS: {_ANOTHER}") from None
            raise PeerError(f"what listens at {host} for {peer} breaks TLS off ({error.reason}): {_ANOTHER}") from None
        except (OSError, ValueError):
            raise PeerError(f"what listens at {host} for {peer} breaks the connection off: {_ANOTHER}") from None


_ANOTHER: Final = "another program has that port, or something between changes what is sent; compare ports"


def shown_certificate(host: str, port: int, seconds: float = LOOK_SECONDS) -> x509.Certificate | None:
    """Return the certificate with which a port greets, whose key it has; None where none can be had."""
    try:
        return greeting("", host, port, seconds)
    except CotallyError:
        return None


def greeting(peer: str, host: str, port: int, seconds: float = LOOK_SECONDS) -> x509.Certificate:
    """Return the certificate with which a port greets, whose key it has. Of us nothing is shown."""
    return greet(peer, reach(peer, host, port, seconds), host, None).certificate


def _takes_ours(secure: ssl.SSLSocket) -> bool:
    """Return whether our certificate is taken, seen after the handshake: a node speaks first, gRPC breaks off."""
    try:
        return bool(secure.recv(1))
    except TimeoutError:
        return True
    except OSError:
        return False


def _context(own: Identity | None) -> ssl.SSLContext:
    """Return TLS that believes anybody, for what it is shown is judged elsewhere, and shows our certificate, if any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3  # in which who greets signs first
    context.set_alpn_protocols(["h2"])
    if own is None:
        return context
    word = secrets.token_hex(32)  # the library reads keys from files alone: this one is sealed for the moment
    key = own.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(word.encode()))
    with tempfile.TemporaryDirectory() as folder, suppress(FileNotFoundError):
        path = Path(folder) / "own.pem"
        path.write_bytes(key + own.pem)
        context.load_cert_chain(path, password=word)
    return context
