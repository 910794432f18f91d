"""Names and addresses: what they may be, what a misspelt one meant, and how names and odds stand in a sentence."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Final

from party.errors import IdentityError

DEFAULT_HOSTS: Final = ("localhost", "127.0.0.1")  # at which this machine reaches itself
LOOPBACK: Final = (*DEFAULT_HOSTS, "::1")

_SMALL = 100
_PARTY_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)


@dataclass(frozen=True)
class Address:
    """Host and port; an IPv6 host is kept without its brackets."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> "Address | None":
        """Read `host:port`, where an IPv6 host stands in brackets; None of anything else."""
        host, _, port = text.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            return None
        legal = host and port.isascii() and port.isdigit() and len(port) < 10 and int(port) < 65_536
        return cls(host, int(port)) if legal else None

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_party_name(name: str) -> bool:
    """Return whether a name fits in a file name and a certificate."""
    return bool(_PARTY_NAME.fullmatch(name))


def check_party_name(name: str) -> None:
    """Refuse a name that does not fit in a file name and a certificate."""
    if not is_party_name(name):
        raise IdentityError("a party's name must be 1 to 40 letters, digits, - or _")


def suggestion(word: str, options: Collection[str]) -> str:
    """Return the end of an error about an unknown word: the option that was probably meant, or all of them."""
    close = nearest(word, options)
    return f"; did you mean {close!r}?" if close else f"; known: {', '.join(options)}" if options else ""


def nearest(word: str, options: Collection[str]) -> str | None:
    """Return the option that a word was probably meant to be, whatever its case and the blanks around it.

    >>> nearest("AGE", ["id", "age"]), nearest("income", ["id", "age"]), nearest("q1", ["q17", "q01"])
    ('age', None, 'q01')
    """
    bare = {option.strip().casefold(): option for option in options}
    same = [text for text in bare if _numbered(text) == _numbered(word.strip().casefold())]
    close = same or get_close_matches(word.strip().casefold(), bare, n=1)
    return bare[close[0]] if close else None


def _numbered(text: str) -> str:
    """Return a text whose numbers have no leading zeros."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def printable(text: str) -> str:
    r"""Return a text whose unprintable characters are written as escapes.

    >>> printable("a\x1b[2J")
    'a\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def odds_words(truth: Fraction, other: Fraction) -> str:
    """Return odds as people say them, given the chance of a response where it is the truth, and where another value is.

    >>> odds_words(Fraction(9, 20), Fraction(11, 20)), odds_words(Fraction(1), Fraction(0))
    ('9 to 11', '1 to 0')
    >>> odds_words(Fraction(1001, 3000), Fraction(1999, 3000))
    '0.501 to 1'
    """
    if not other:
        return "1 to 0"
    ratio = truth / other
    if max(ratio.numerator, ratio.denominator) <= _SMALL:
        return f"{ratio.numerator} to {ratio.denominator}"
    return f"{float(ratio):.3g} to 1"
