"""Who we are and whom we trust: a key, a certificate of our own making over it, and the peers' keys, *pinned*.

There is no authority. Each party makes a self-signed certificate and hands it to the other over a channel that both
trust; the operators compare fingerprints, which are of the key. What is then accepted as a peer is a certificate that
this very key has signed for itself: the one that was handed over, or one renewed since. A name in it is never enough
(FAULTS C1), and what the key has signed for another key is nobody's. All lies in one directory::

    key.pem  cert.pem  peers/<name>.pem

A certificate is renewed over the same key: who has a new one stays the same party, for itself and for its peers.

The key is the party's for its life. One that must change, because somebody else may have it, is no renewal: who has it
could sign any statement that it gives way to another, so none is believed. Such a party is made and trusted again.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from party.errors import IdentityError
from party.files import check_own_folder, write_atomically, write_new
from party.keys.certificates import (
    ODD,
    Clock,
    Peer,
    about,
    check_dates_of,
    fingerprint,
    general_name,
    parse_certificate,
    self_signed,
    utc_now,
)
from party.keys.sealing import read_party_secret
from party.names import check_party_name

KEY_FILE: Final = "key.pem"
CERTIFICATE_FILE: Final = "cert.pem"
_ALGORITHM: Final = ec.ECDSA(hashes.SHA256())


@dataclass(frozen=True)
class Identity(Peer):
    """Our own certificate, with its key."""

    key: ec.EllipticCurvePrivateKey

    def __repr__(self) -> str:
        return f"<Identity {self.name}>"

    def with_certificate(self, certificate: x509.Certificate) -> "Identity":
        """Return the same identity with another certificate over its key."""
        other = self.renewed_as(certificate)
        return Identity(other.name, other.fingerprint, other.hosts, other.certificate, self.key)

    def sign(self, statement: bytes) -> bytes:
        """Return our signature of a statement."""
        return self.key.sign(statement, _ALGORITHM)

    @property
    def key_pem(self) -> bytes:
        """The private key, as gRPC wants it."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def make_identity(party_name: str, hosts: Sequence[str], *, clock: Clock = utc_now) -> Identity:
    """Draw a key, and make a certificate over it."""
    check_party_name(party_name)
    names = [general_name(host) for host in hosts]
    if not names:
        raise IdentityError("an identity needs at least one DNS name or IP address")
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = self_signed(key, party_name, names, clock())
    return Identity(*about(certificate, "the new certificate"), key=key)


def load_identity(directory: Path, *, clock: Clock = utc_now) -> Identity:
    """Read our identity and check it, since over the network all of its faults would look the same (FAULTS C3)."""
    identity = read_identity(directory)
    check_dates_of(identity.certificate, str(directory / CERTIFICATE_FILE), clock())
    return identity


def read_identity(directory: Path) -> Identity:
    """Read our identity, whatever the dates of its certificate."""
    check_own_folder(directory)
    path = directory / KEY_FILE
    try:
        key = load_pem_private_key(read_party_secret(directory, KEY_FILE), password=None)
    except ODD:
        raise IdentityError(f"{path} is not a private key: restore it from a backup") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise IdentityError(f"{path} is not an elliptic-curve key: restore it from a backup")
    path = directory / CERTIFICATE_FILE
    own = about(load_certificate(path), str(path))  # of which the key can be read
    identity = Identity(*own, key=key)
    if identity.certificate.public_key() != key.public_key():
        raise IdentityError(f"{directory / 'key.pem'} is not the key of {path}: restore both from one backup")
    return identity


def trust(directory: Path, certificate_path: Path, *, clock: Clock = utc_now) -> Peer:
    """Pin the key of a peer by its certificate; the operators have compared fingerprints."""
    return pin(directory, load_certificate(certificate_path), str(certificate_path), clock=clock)


def pin(directory: Path, certificate: x509.Certificate, what: str, *, clock: Clock = utc_now) -> Peer:
    """Pin a certificate that is known to be the peer's."""
    own = load_identity(directory, clock=clock)
    peer = Peer(*about(certificate, what))
    if peer.certificate.public_key() == own.certificate.public_key():
        raise IdentityError(f"{what} is our own certificate; name the peer's")
    if peer.name.lower() == own.name.lower():
        raise IdentityError(f"both parties are called {own.name}: one must take another name")
    check_dates_of(peer.certificate, what, clock())
    path = peer_file(directory, peer.name)
    if not path.exists():
        _write_new(path, peer.pem, 0o644)
    elif fingerprint(load_certificate(path)) != peer.fingerprint:
        raise IdentityError(f"another key of {peer.name} is pinned; to replace it, remove {path}")
    else:
        write_atomically(path, peer.pem)
    return peer


def load_peers(directory: Path) -> dict[str, Peer]:
    """Read the pinned certificates, by the names of the parties."""
    peers: dict[str, Peer] = {}
    if not (directory / "peers").is_dir():
        return peers
    check_own_folder(directory / "peers")
    for path in sorted((directory / "peers").glob("*.pem")):
        peers[path.stem] = load_peer(directory, path.stem)
    return peers


def load_peer(directory: Path, name: str) -> Peer:
    """Read the pinned certificate of a party."""
    path = peer_file(directory, name)
    peer = Peer(*about(load_certificate(path), str(path)))
    if peer.name != name:
        raise IdentityError(
            f"{path} is the certificate of {peer.name}: remove it, and trust the cert.pem that {name} sends"
        )
    return peer


def peer_file(directory: Path, name: str) -> Path:
    """Return where the certificate of a peer lies."""
    return directory / "peers" / f"{name}.pem"


def load_certificate(path: Path) -> x509.Certificate:
    """Read a certificate."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise IdentityError(
            f"{path} is missing: name the cert.pem that the other party sent, or restore your own from a backup"
        ) from None
    except OSError as error:
        raise IdentityError(f"{path} cannot be read: {error.strerror}") from None
    return parse_certificate(data, str(path))


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_new(path, data, mode)
    except OSError as error:
        raise IdentityError(f"{path} cannot be written: {error.strerror}") from None


def signed_here(directory: Path) -> Callable[[bytes, bytes], bool]:
    """Return a check of what our own key has signed, by our certificate alone."""
    return partial(is_signed_by, load_certificate(directory / CERTIFICATE_FILE))


@lru_cache(4096)  # a signature is checked once, so that who asks again and again times none
def is_signed_by(certificate: x509.Certificate, statement: bytes, signature: bytes) -> bool:
    """Return whether the key of a certificate has signed a statement."""
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False
    try:
        key.verify(signature, statement, _ALGORITHM)
    except InvalidSignature:
        return False
    return True


def renew(folder: Path, hosts: Sequence[str] | None = None, *, clock: Clock = utc_now) -> Identity:
    """Make a new certificate over a party's key, in the place of the one that it has; the hosts stay unless given."""
    before = read_identity(folder)
    names = [general_name(host) for host in hosts or before.hosts]
    after = before.with_certificate(self_signed(before.key, before.name, names, clock()))
    write_atomically(folder / CERTIFICATE_FILE, after.pem)
    return after


class Latest:
    """A party's identity with the certificate that its folder holds now: `renew` may run beside a node that serves."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        self._path, self._identity = folder / CERTIFICATE_FILE, identity

    def __call__(self) -> Identity:
        """Return it; the one before where the file cannot be used, which a command reports as it starts."""
        with suppress(IdentityError):
            self._identity = self._identity.with_certificate(load_certificate(self._path))
        return self._identity


def keep_renewed(folder: Path, peer: Peer) -> None:
    """Keep the certificate that a peer has renewed; one that shows an older one within its dates changes nothing."""
    known = load_peer(folder, peer.name)
    after = known.renewed_as(peer.certificate).certificate
    if after != known.certificate and after.not_valid_after_utc >= known.certificate.not_valid_after_utc:
        write_atomically(peer_file(folder, peer.name), peer.pem)
