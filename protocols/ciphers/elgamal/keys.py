"""Keys of ElGamal on the curve: a secret number `x`, and the point `X = xG`.

Any point but the one at infinity is a sound public key, so there is nothing to prove about it (FAULTS A3 and A4 have no
counterpart here): the group has prime order, and a reply sealed under any such point hides what was added.
"""

import hashlib
from dataclasses import dataclass

from protocols.ciphers.curve import ORDER, POINT_BYTES, NotAPointError, read_points, write_points
from protocols.ciphers.elgamal.point_table import GENERATOR, PointTable, table_of
from protocols.errors import InputError, PeerError

MODULUS_BITS = 3072


@dataclass(frozen=True, repr=False)
class CurvePublicKey:
    """The point `X`, as it crosses: 33 bytes. `check_peer_key` lets in a peer's."""

    point: bytes

    def __repr__(self) -> str:
        return "CurvePublicKey(secp256k1)"

    @property
    def table(self) -> PointTable:
        """The multiples of `X`."""
        return table_of(self.point)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the point in groups of four digits, for two people to compare."""
        digest = hashlib.sha256(self.point).hexdigest()
        return " ".join(digest[start : start + 4] for start in range(0, len(digest), 4))


class CurvePrivateKey:
    """The number `x`.

    Raises:
        InputError: It is not in `1 .. ORDER - 1`.
    """

    def __init__(self, secret: int) -> None:
        if not 0 < secret < ORDER:
            raise InputError("a private key of the curve must be above 0 and below the order of its group")
        self.secret = secret
        self.public_key = CurvePublicKey(write_points(table_of(GENERATOR).multiply([secret])))

    def __repr__(self) -> str:
        return "CurvePrivateKey(secp256k1)"


def check_peer_key(data: bytes, own: CurvePublicKey) -> CurvePublicKey:
    """Let in the peer's key, or refuse it.

    Raises:
        PeerError: It is not a point of the curve, or it is ours or the mirror image of ours.
    """
    try:
        points = len(read_points(data))
    except NotAPointError:
        points = 0
    if points != 1:
        raise PeerError(f"the peer's key must be a point of the curve secp256k1, in {POINT_BYTES} bytes")
    if data[1:] == own.point[1:]:
        raise PeerError("the peer's key is ours")
    return CurvePublicKey(data)
