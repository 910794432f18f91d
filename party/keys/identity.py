"""Who we are and whom we trust: a key, a certificate of our own making, and the peers' certificates, *pinned*.

There is no authority. Each party makes one self-signed certificate and hands it to the other over a channel that both
trust; the operators compare fingerprints. What gRPC then accepts as a peer is exactly that certificate, and a name in
it is never enough (FAULTS C1): it is the only root of trust, and may itself sign no other. Everything lies in one
directory::

    key.pem  cert.pem  peers/<name>.pem
"""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from party.errors import DatesError, IdentityError
from party.files import check_own_folder, write_new
from party.names import check_party_name, is_party_name

LIFETIME: Final = timedelta(days=730)
HEAD_START: Final = timedelta(hours=1)  # for a peer whose clock is behind
DEFAULT_HOSTS: Final = ("localhost", "127.0.0.1")
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*", re.ASCII)
_USAGES = (ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH)
_KEY_USAGE = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)

_ODD = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time of day."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Peer:
    """A party whose certificate is pinned."""

    name: str
    fingerprint: str
    hosts: tuple[str, ...]
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        """Its certificate, as files and gRPC have it."""
        return self.certificate.public_bytes(Encoding.PEM)

    def check_dates(self, now: datetime) -> None:
        """Refuse a certificate outside its dates.

        Raises:
            IdentityError: It is expired or not yet valid.
        """
        _check_dates(self.certificate, f"the certificate of {self.name}", now)

    def check_signs_no_other(self) -> None:
        """Refuse a certificate that may sign others: TLS trusts those as it trusts the pinned one.

        Without that power, what TLS accepts under it is this very certificate, on every connection (FAULTS C1).

        Raises:
            IdentityError: It may.
        """
        _check_signs_no_other(self.certificate, f"the certificate of {self.name}")


@dataclass(frozen=True)
class Identity(Peer):
    """Our own certificate, with its key."""

    key: ec.EllipticCurvePrivateKey

    def __repr__(self) -> str:
        return f"<Identity {self.name}>"

    @property
    def key_pem(self) -> bytes:
        """The private key, as gRPC wants it."""
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 digest of a certificate, in groups that two people can read to each other."""
    digest = certificate.fingerprint(hashes.SHA256()).hex().upper()
    return " ".join(digest[start : start + 4] for start in range(0, len(digest), 4))


def create_identity(
    directory: Path, party_name: str, hosts: Sequence[str] = DEFAULT_HOSTS, *, clock: Clock = utc_now
) -> Identity:
    """Make a key and a certificate for a party that is reached under these DNS names and IP addresses.

    Raises:
        IdentityError: The name or a host is not legal, or an identity already exists.
    """
    check_party_name(party_name)
    names = [_host(host) for host in hosts]
    if not names:
        raise IdentityError("an identity needs at least one DNS name or IP address")
    for path in (directory / "key.pem", directory / "cert.pem"):
        if path.exists():
            raise IdentityError(f"{path} already exists; an identity is never replaced")
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _self_signed(key, party_name, names, clock())
    identity = Identity(*_about(certificate, "the new certificate"), key=key)
    _write_new(directory / "key.pem", identity.key_pem, 0o600)
    _write_new(directory / "cert.pem", identity.pem, 0o644)
    return identity


def load_identity(directory: Path, *, clock: Clock = utc_now) -> Identity:
    """Read our identity and check it, since over the network all of its faults would look the same (FAULTS C3).

    Raises:
        IdentityError: A file is missing or unreadable, the key can be read by others or does not fit the
            certificate, the certificate is outside its dates or not for this use.
        InputError: Others can write to the folder.
    """
    check_own_folder(directory)
    key = _load_key(directory / "key.pem")
    path = directory / "cert.pem"
    certificate = _load_certificate(path)
    if certificate.public_key() != key.public_key():
        raise IdentityError(f"{directory / 'key.pem'} is not the key of {path}")
    identity = Identity(*_about(certificate, str(path)), key=key)
    _check_dates(certificate, str(path), clock())
    return identity


def trust(directory: Path, certificate_path: Path, *, clock: Clock = utc_now) -> Peer:
    """Pin the certificate of a peer; the operators have compared fingerprints.

    Raises:
        IdentityError: The certificate is our own, of our own name, faulty, or another one of this name is pinned.
    """
    own = load_identity(directory, clock=clock)
    peer = Peer(*_about(_load_certificate(certificate_path), str(certificate_path)))
    if peer.certificate.public_key() == own.certificate.public_key():
        raise IdentityError(f"{certificate_path} is our own certificate; name the peer's")
    if peer.name == own.name:
        raise IdentityError(f"both parties are called {own.name}: one must take another name")
    _check_dates(peer.certificate, str(certificate_path), clock())
    path = directory / "peers" / f"{peer.name}.pem"
    if path.exists():
        if _load_certificate(path) != peer.certificate:
            raise IdentityError(f"another certificate of {peer.name} is pinned; to replace it, remove {path}")
        return peer
    _write_new(path, peer.pem, 0o644)
    return peer


def load_peers(directory: Path) -> dict[str, Peer]:
    """Read the pinned certificates, by the names of the parties.

    Raises:
        IdentityError: A certificate is faulty or lies under another name than its own.
    """
    peers: dict[str, Peer] = {}
    if not (directory / "peers").is_dir():
        return peers
    check_own_folder(directory / "peers")
    for path in sorted((directory / "peers").glob("*.pem")):
        peer = Peer(*_about(_load_certificate(path), str(path)))
        if peer.name != path.stem:
            raise IdentityError(f"{path} is the certificate of {peer.name}")
        peers[peer.name] = peer
    return peers


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        if not _HOST_NAME.fullmatch(text) or len(text) > 253:
            raise IdentityError(f"{text!r} is not a DNS name or an IP address") from None
        return x509.DNSName(text)


def _self_signed(
    key: ec.EllipticCurvePrivateKey, name: str, hosts: Sequence[x509.GeneralName], now: datetime
) -> x509.Certificate:
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - HEAD_START)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_KEY_USAGE, critical=True)
        .add_extension(x509.ExtendedKeyUsage(_USAGES), critical=False)
        .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        .sign(key, hashes.SHA256())
    )


def _about(certificate: x509.Certificate, what: str) -> tuple[str, str, tuple[str, ...], x509.Certificate]:
    """Check that a certificate is of the kind that we make, and return the fields of a `Peer`."""
    try:
        if certificate.not_valid_before_utc < certificate.not_valid_after_utc:
            return _checked(certificate, what)
    except _ODD:  # its parts are read one by one, each when it is asked for
        pass
    raise IdentityError(f"{what} is not a certificate of a party: use one made by `cotally init`")


def _checked(certificate: x509.Certificate, what: str) -> tuple[str, str, tuple[str, ...], x509.Certificate]:
    names = [str(each.value) for each in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    if len(names) != 1 or not is_party_name(names[0]):
        raise IdentityError(f"{what} does not name a party in 1 to 40 letters, digits, - or _")
    try:
        certificate.verify_directly_issued_by(certificate)
    except (InvalidSignature, ValueError, TypeError):
        raise IdentityError(f"{what} is not signed by its own key") from None
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        hosts = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        raise IdentityError(f"{what} does not say what it is for, or for which hosts") from None
    if not set(_USAGES) <= set(usage):
        raise IdentityError(f"{what} is not for both ends of a connection (extended key usage)")
    _check_signs_no_other(certificate, what)
    texts = (*hosts.get_values_for_type(x509.DNSName), *map(str, hosts.get_values_for_type(x509.IPAddress)))
    return names[0], fingerprint(certificate), texts, certificate


def _check_signs_no_other(certificate: x509.Certificate, what: str) -> None:
    """NB: gRPC does not ask a root of trust whether it is an authority: the key usage alone keeps it from signing."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        usage = None
    if usage is None or usage.key_cert_sign:
        raise IdentityError(f"{what} may sign others, which would pass for it: use one made by `cotally init`")


def _check_dates(certificate: x509.Certificate, what: str, now: datetime) -> None:
    clock = f"UTC; this machine's clock says {now:%Y-%m-%d %H:%M}"
    if now < certificate.not_valid_before_utc:
        raise DatesError(f"{what} is not valid before {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} {clock}")
    if now > certificate.not_valid_after_utc:
        raise DatesError(f"{what} expired on {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} {clock}")


def _load_key(path: Path) -> ec.EllipticCurvePrivateKey:
    data = _read(path)
    if path.stat().st_mode & 0o077:
        raise IdentityError(f"{path} can be read by others: its mode must be 0600")
    try:
        key = load_pem_private_key(data, password=None)
    except _ODD:
        raise IdentityError(f"{path} is not a private key") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise IdentityError(f"{path} is not an elliptic-curve key")
    return key


def _load_certificate(path: Path) -> x509.Certificate:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd one, in lines of their own on the screen
            certificates = x509.load_pem_x509_certificates(_read(path))
    except _ODD:
        raise IdentityError(f"{path} is not a certificate") from None
    if len(certificates) != 1:
        raise IdentityError(f"{path} must hold one certificate")
    return certificates[0]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise IdentityError(f"{path} is missing") from None
    except OSError as error:
        raise IdentityError(f"{path} cannot be read: {error.strerror}") from None


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_new(path, data, mode)
    except OSError as error:
        raise IdentityError(f"{path} cannot be written: {error.strerror}") from None
