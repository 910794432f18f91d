"""Codes of links: each has one answer, which a later one replaces. The store knows a code by its digest alone."""

import base64
from collections.abc import Iterable
from hashlib import sha256

from protocols.randomness import canonical

CODE_BYTES = 15
CODE_LENGTH = 24
_ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_BREAKS = str.maketrans("", "", " -\t")


def code_of(secret: bytes) -> str:
    """Return the code that 120 secret bits make: 24 letters and digits, none of which is taken for another.

    >>> code_of(bytes(15))
    'AAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.b32encode(secret).decode()


def typed_code(text: str) -> str | None:
    """Return a code as people type it, without blanks and hyphens, in capitals; None if it is none."""
    bare = text[: 4 * CODE_LENGTH].translate(_BREAKS).upper()
    return bare if len(bare) == CODE_LENGTH and _ALPHABET.issuperset(bare) else None


def code_digest(code: str) -> bytes:
    """Return what the store keeps of a code."""
    return sha256(canonical(b"cotally code", code.encode())).digest()


def spaced(code: str) -> str:
    """Return a code as it is printed, in blocks of four."""
    return "-".join(code[start : start + 4] for start in range(0, CODE_LENGTH, 4))


def link_rows(address: str, codes: Iterable[str]) -> list[list[str]]:
    """Return of each code the link and the code as printed.

    The code stands behind a `#`: a browser keeps that to itself, so the page is served before anyone knows for whom.
    """
    return [[f"{address}#{code}", spaced(code)] for code in codes]
