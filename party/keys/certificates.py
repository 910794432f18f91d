"""Certificates: one self-signed certificate of a party, as we make it, read it and judge it.

A party is known by its *key*: `fingerprint` is a digest of that, so a party with a new certificate over the same key is
the same party, and all that is on record about it stays so.
"""

import hashlib
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from party.errors import DatesError, IdentityError
from party.names import is_party_name

LIFETIME: Final = timedelta(days=730)
WARNING_DAYS: Final = 30
HEAD_START: Final = timedelta(hours=1)  # for a peer whose clock is behind
_FIRST_DAY, _LAST_DAY = datetime(1970, 1, 2, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)  # of an anchor
_HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*", re.ASCII)
_NAME_PARTS = (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
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

ODD: Final = (  # what the library raises of an odd certificate or key
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


OnRenewed = Callable[["Peer"], None]


@dataclass(frozen=True)
class Peer:
    """A party whose key is pinned, with a certificate over it; `fingerprint` is that of the key."""

    name: str
    fingerprint: str
    hosts: tuple[str, ...]
    certificate: x509.Certificate

    @property
    def pem(self) -> bytes:
        """Its certificate, as files and gRPC have it."""
        return self.certificate.public_bytes(Encoding.PEM)

    def check_dates(self, now: datetime) -> None:
        """Refuse a certificate outside its dates."""
        check_dates_of(self.certificate, f"the certificate of {self.name}", now)

    def dates_text(self, now: datetime) -> str:
        """Say from when to when the certificate holds, and what our clock says."""
        first, last = self.certificate.not_valid_before_utc, self.certificate.not_valid_after_utc
        return f"from {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}; our clock says {now:%Y-%m-%d %H:%M}, all UTC"

    def days_left(self, now: datetime) -> int | None:
        """Return in how many days the certificate expires; None where it is not soon."""
        left = (self.certificate.not_valid_after_utc - now).days
        return left if left < WARNING_DAYS else None

    def renewed_as(self, certificate: x509.Certificate) -> "Peer":
        """Return the same party with another certificate over its key."""
        what = f"the certificate that {self.name} shows"
        other = Peer(*about(certificate, what))
        if (other.name, other.fingerprint) != (self.name, self.fingerprint):
            raise IdentityError(f"{what} is over another key than the one that we trust")
        return other

    def check_signs_no_other(self) -> None:
        """Refuse a certificate that may sign others: TLS trusts those as it trusts the pinned one (FAULTS C1)."""
        _check_signs_no_other(self.certificate, f"the certificate of {self.name}")


def fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 digest of a certificate's public key (RFC 7469), in groups that people read to each other."""
    try:
        key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except ODD:
        raise IdentityError("a certificate has a key that cannot be read") from None
    digest = hashlib.sha256(key).hexdigest().upper()
    return " ".join(digest[start : start + 4] for start in range(0, len(digest), 4))


def general_name(text: str) -> x509.GeneralName:
    """Return a DNS name or an IP address as certificates have it."""
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        if not _HOST_NAME.fullmatch(text) or len(text) > 253:
            raise IdentityError(f"{text!r} is no host: name it by its DNS name or an IP address") from None
        return x509.DNSName(text)


def self_signed(
    key: ec.EllipticCurvePrivateKey, name: str, hosts: Sequence[x509.GeneralName], now: datetime
) -> x509.Certificate:
    """Make a certificate of a party of this name, for this key and these hosts."""
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


def anchor(peer: Peer) -> bytes:
    """Return, in PEM, what lets TLS accept every certificate that a peer makes over its key, renewed ones too.

    It is a root of trust of the peer's name and key, which nobody has signed: TLS asks that of no root. NB: TLS then
    takes what this key has signed for *another* key as well; who uses it has to compare the key that it was shown.
    """
    subject = peer.certificate.subject
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(peer.certificate.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FIRST_DAY)
        .not_valid_after(_LAST_DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
        .public_bytes(Encoding.PEM)
    )


def about(certificate: x509.Certificate, what: str) -> tuple[str, str, tuple[str, ...], x509.Certificate]:
    """Check that a certificate is of the kind that we make, and return the fields of a `Peer`."""
    try:
        if certificate.not_valid_before_utc < certificate.not_valid_after_utc:
            return _checked(certificate, what)
    except ODD:  # its parts are read one by one, each when it is asked for
        pass
    raise IdentityError(f"{what} is not a certificate of a party: use one made by `cotally init`")


def _checked(certificate: x509.Certificate, what: str) -> tuple[str, str, tuple[str, ...], x509.Certificate]:
    subject = list(certificate.subject)
    names = [str(each.value) for each in subject if each.oid == NameOID.COMMON_NAME]
    if len(names) != 1 or not is_party_name(names[0]):
        raise IdentityError(
            f"{what} does not name a party in 1 to 40 letters, digits, - or _: use one made by `cotally init`"
        )
    if not all(each.oid in _NAME_PARTS and each.value == names[0] for each in subject):
        raise IdentityError(f"{what} names somebody else beside {names[0]}: use one made by `cotally init`")
    try:
        certificate.verify_directly_issued_by(certificate)
    except (InvalidSignature, ValueError, TypeError):
        raise IdentityError(f"{what} is not signed by its own key: use one made by `cotally init`") from None
    try:
        usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        hosts = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        raise IdentityError(f"{what} does not say what it is for, or for which hosts") from None
    if not set(_USAGES) <= set(usage):
        raise IdentityError(
            f"{what} is not for both ends of a connection (extended key usage): use one made by `cotally init`"
        )
    _check_signs_no_other(certificate, what)
    return names[0], fingerprint(certificate), _plain_hosts(hosts, what), certificate


def _plain_hosts(names: x509.SubjectAlternativeName, what: str) -> tuple[str, ...]:
    """Return the hosts that a certificate is for, names first: TLS takes a wildcard for many, or for any."""
    hosts = (*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress)))
    with suppress(IdentityError):
        if hosts and {general_name(host) for host in hosts} == set(names):
            return hosts
    raise IdentityError(
        f"{what} must be for hosts by their DNS names, without wildcards, and IP addresses: use one made by "
        "`cotally init`"
    )


def _check_signs_no_other(certificate: x509.Certificate, what: str) -> None:
    """NB: gRPC does not ask a root of trust whether it is an authority: the key usage alone keeps it from signing."""
    try:
        usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        usage = None
    if usage is None or usage.key_cert_sign:
        raise IdentityError(f"{what} may sign others, which would pass for it: use one made by `cotally init`")


def check_dates_of(certificate: x509.Certificate, what: str, now: datetime) -> None:
    """Refuse a certificate outside its dates."""
    clock = f"UTC; this machine's clock says {now:%Y-%m-%d %H:%M}"
    if now < certificate.not_valid_before_utc:
        raise DatesError(f"{what} is not valid before {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} {clock}")
    if now > certificate.not_valid_after_utc:
        raise DatesError(f"{what} expired on {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} {clock}")


def parse_certificate(data: bytes, what: str) -> x509.Certificate:
    """Read one certificate in PEM."""
    if b"PRIVATE KEY-----" in data:
        raise IdentityError(
            f"{what} holds a private key, which only its owner may have: name cert.pem instead; if the key has left "
            "its owner's machine, make a new party there"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd one, in lines of their own on the screen
            certificates = x509.load_pem_x509_certificates(data)
    except ODD:
        raise IdentityError(f"{what} is not a certificate: name the cert.pem that the other party sent") from None
    if len(certificates) != 1:
        raise IdentityError(f"{what} must hold one certificate")
    return certificates[0]
