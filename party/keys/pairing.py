"""Pairing: a short code that two people read to each other stands for the fingerprints that they would compare.

Both sides run SPAKE2 (by the package `spake2`, whose points are not those of RFC 9382) on the code, and then prove
to each other that they have the same key, by digests keyed with it of everything that crossed: both points and *both
certificates*. Somebody between them who changes a certificate has to know the code. SPAKE2 lets nobody try codes at
home: an attacker has one guess at each side, of 10^8 codes, and each side makes one attempt per code. The caller proves
first.

Nothing secret crosses. Python's arithmetic takes a time that depends on the code; one attempt shows nobody enough.
"""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from spake2 import SPAKE2_A, SPAKE2_B, SPAKEError
from spake2.ed25519_basic import NotOnCurve

from party.keys.certificates import ODD
from protocols.errors import InputError, PeerError
from protocols.randomness import keyed_digest

CODE_DIGITS: Final = 8  # and one by which a slip of the tongue is found before it costs the only guess
_POINT_BYTES: Final = 33
_MOST_CERTIFICATE: Final = 8192
_CALLER, _LISTENER = b"cotally pairing, the caller", b"cotally pairing, the listener"


def new_code(draw: Callable[[int], int] = secrets.randbelow) -> str:
    """Draw a code, in groups that are easily said."""
    digits = f"{draw(10**CODE_DIGITS):0{CODE_DIGITS}}"
    digits += _check_digit(digits)
    return " ".join(digits[start : start + 3] for start in range(0, len(digits), 3))


def read_spoken_code(text: str) -> str:
    """Return the digits of a code as somebody typed it."""
    digits = "".join(text.replace("-", " ").split())
    if not (digits.isascii() and digits.isdigit() and len(digits) == CODE_DIGITS + 1):
        raise InputError(f"the code has {CODE_DIGITS + 1} digits, as the other side's screen shows them")
    if _check_digit(digits[:-1]) != digits[-1]:
        raise InputError("the code has a wrong digit, and was not tried: compare it with the other side's screen")
    return digits


def _check_digit(digits: str) -> str:
    """Return the check digit of ISO/IEC 7064, MOD 11,10."""
    rest = 10
    for digit in digits:
        rest = ((rest + int(digit)) % 10 or 10) * 2 % 11
    return str((11 - rest) % 10)


@dataclass(frozen=True, repr=False)
class Meeting:
    """One attempt after both beginnings have crossed; made by `Pairing.meet` alone."""

    calls: bool
    key: bytes
    transcript: tuple[bytes, ...]
    theirs: bytes

    @property
    def proof(self) -> bytes:
        """That we know the code."""
        return self._proof(_CALLER if self.calls else _LISTENER)

    def verify(self, proof: bytes) -> x509.Certificate:
        """Return the other side's certificate, if it knows the code."""
        if not hmac.compare_digest(proof, self._proof(_LISTENER if self.calls else _CALLER)):
            raise PeerError("the other side has another code, or somebody changes what is sent: nothing is pinned")
        try:
            return x509.load_der_x509_certificate(self.theirs)
        except ODD:
            raise PeerError("the other side sent no certificate: nothing is pinned") from None

    def _proof(self, side: bytes) -> bytes:
        return keyed_digest(self.key, side, *self.transcript)


class Pairing:
    """One side of one attempt."""

    def __init__(self, code: str, certificate: x509.Certificate, *, calls: bool) -> None:
        self.certificate = certificate.public_bytes(Encoding.DER)
        self._calls = calls
        self._spake = (SPAKE2_A if calls else SPAKE2_B)(code.encode(), idA=_CALLER, idB=_LISTENER)
        self.point: bytes = self._spake.start()

    def meet(self, point: bytes, certificate: bytes) -> Meeting:
        """Take what the other side begins with."""
        strange = PeerError("the other side does not begin as a pairing does: nothing is pinned")
        if len(point) != _POINT_BYTES or not 0 < len(certificate) <= _MOST_CERTIFICATE:
            raise strange
        try:
            key: bytes = self._spake.finish(point)
        except (SPAKEError, NotOnCurve, ValueError):
            raise strange from None
        own, other = (self.point, self.certificate), (point, certificate)
        return Meeting(self._calls, key, (*own, *other) if self._calls else (*other, *own), certificate)
