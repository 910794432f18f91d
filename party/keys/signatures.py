"""Signatures by the keys of certificates: what a party has said, it cannot deny."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from party.keys.certificates import Peer
from party.keys.identity import Identity

_ALGORITHM = ec.ECDSA(hashes.SHA256())


@dataclass(frozen=True, repr=False)
class Signatures:
    """Signs for us, and checks what we and a peer have signed: a statement, and its signature."""

    sign: Callable[[bytes], bytes]
    is_ours: Callable[[bytes, bytes], bool]
    is_theirs: Callable[[bytes, bytes], bool]


def signatures(identity: Identity, peer: Peer) -> Signatures:
    """Return signatures by our key, and checks by our certificate and the pinned one of a peer."""
    return Signatures(
        lambda statement: identity.key.sign(statement, _ALGORITHM),
        partial(_is_good, identity.certificate),
        partial(_is_good, peer.certificate),
    )


def _is_good(certificate: x509.Certificate, statement: bytes, signature: bytes) -> bool:
    key = certificate.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey):
        return False
    try:
        key.verify(signature, statement, _ALGORITHM)
    except InvalidSignature:
        return False
    return True
