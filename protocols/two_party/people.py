"""What is told when two lists of people differ: how many each side holds, and whether only the spelling differs.

Ids that mean the same are often written apart: `007` and `7.0`, `Ann ` and `ANN`, composed and decomposed accents. The
lists are compared a second time in one spelling, as whole sets by one digest, never id by id.
"""

import re
import unicodedata
from collections.abc import Iterable

from protocols.randomness import keyed_digest

_WHOLE = re.compile(r"0*([0-9]+?)(\.0*)?", re.ASCII)


def one_spelling(record: str) -> str:
    """Return an id without what spellings differ in: outer blanks, case, Unicode form, leading zeros and `.0`.

    >>> [one_spelling(text) for text in ("007", "7.0", " ANN", "ann", "0")]
    ['7', '7', 'ann', 'ann', '0']
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", record).strip().casefold())
    whole = _WHOLE.fullmatch(folded)
    return whole[1] if whole else folded


def spelling_digest(nonces: bytes, records: Iterable[str]) -> bytes:
    """Return a digest of all ids in one spelling, in whatever order, keyed by the nonces of both parties."""
    return keyed_digest(nonces, b"spelling", *sorted(one_spelling(record).encode() for record in records))


def tell_difference(own: int, other: int, there: str, same_spelling: bool) -> str:
    """Return how two lists of these lengths differ, and what to do; `there` says where the other list is."""
    if same_spelling:
        return (
            f"{own} records here and {there}, of the same people in another spelling: "
            "write the ids alike (case, blanks, leading zeros, .0, accents)"
        )
    if own != other:
        return f"{own} records here, {other} {there}: both sides must list the same people"
    return f"{own} records here and {there}, of other people: both sides must list the same people"
