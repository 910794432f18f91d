"""Signatures by the keys of certificates: what a party has said, it cannot deny."""

from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from party.keys.certificates import Peer
from party.keys.identity import Identity

_ALGORITHM = ec.ECDSA(hashes.SHA256())


@dataclass(frozen=True, repr=False)
class Signatures:
    """Signs for us, and checks what a peer has signed."""

    sign: Callable[[bytes], bytes]
    is_good: Callable[[bytes, bytes], bool]


def signatures(identity: Identity, peer: Peer) -> Signatures:
    """Return signatures by our key, and checks by the pinned certificate of a peer."""

    def is_good(statement: bytes, signature: bytes) -> bool:
        key = peer.certificate.public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey):
            return False
        try:
            key.verify(signature, statement, _ALGORITHM)
        except InvalidSignature:
            return False
        return True

    return Signatures(lambda statement: identity.key.sign(statement, _ALGORITHM), is_good)
