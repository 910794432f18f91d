"""What is told when two lists of people differ: how many each side holds, and whether only the spelling differs.

Ids that mean the same are often written apart: `007` and `7.0`, `Ann ` and `ANN`, composed and decomposed accents. The
lists are compared a second time in one spelling, as whole sets (`equality`), never id by id.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from protocols.identifiers import IdForm, Spelling
from protocols.randomness import canonical, keyed_digest

_LOOSER: Final = (*(frozenset({each}) for each in Spelling), frozenset(Spelling))
_WHOLE = re.compile(r"0*([0-9]+?)(\.0*)?", re.ASCII)


def one_spelling(record: str) -> str:
    """Return an id without what spellings differ in: outer blanks, case, Unicode form, leading zeros and `.0`.

    >>> [one_spelling(text) for text in ("007", "7.0", " ANN", "ann", "0")]
    ['7', '7', 'ann', 'ann', '0']
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", record).strip().casefold())
    whole = _WHOLE.fullmatch(folded)
    return whole[1] if whole else folded


def as_written(records: Iterable[str]) -> bytes:
    """Return all ids in their order, to be compared as a whole."""
    return canonical(*(record.encode() for record in records))


def as_spelt(records: Iterable[str]) -> bytes:
    """Return all ids in one spelling, in whatever order, to be compared as a whole."""
    return _as_set(one_spelling(record) for record in records)


def list_commitment(key: bytes, records: Iterable[str]) -> bytes:
    """Return what tells a list of ids, in whatever order, from all others, to who does not have its owner's key too."""
    return keyed_digest(key, b"id list", *sorted(record.encode() for record in records))


def list_spellings(records: Sequence[str], form: IdForm) -> list[bytes]:
    """Return the whole list for each way in which spellings may differ, left out, and for all.

    In whatever order. Two ids that become one count once.
    """
    plain = _as_set(records)
    return [plain if more <= form.alike else _looser(records, plain, form.with_more(more)) for more in _LOOSER]


def _looser(records: Sequence[str], plain: bytes, form: IdForm) -> bytes:
    columns = [records] if form.columns == 1 else list(zip(*map(form.parts, records), strict=True))
    spelled = form.all_joined(columns)
    return plain if spelled == list(records) else _as_set(set(spelled))


def _as_set(records: Iterable[str]) -> bytes:
    return canonical(*sorted(record.encode() for record in records))


def alike_by(same: Sequence[bool], form: IdForm) -> tuple[str, ...]:
    """Return what to leave out of spellings, beside what is left out already, so that both lists are the same.

    The first of the ways of `list_spellings` that does it; nothing where the lists are the same already or none does.
    """
    more = next((more for more, alike in zip(_LOOSER, same, strict=True) if alike), frozenset())
    return tuple(each.value for each in Spelling if each in more - form.alike)


def form_text(form: IdForm) -> str:
    """Say what a normal form is."""
    parts = "of one column" if form.columns == 1 else f"of {form.columns} columns"
    return f"{parts}, alike whatever their {', '.join(form.names)}" if form.names else f"{parts}, as they are written"


def tell_difference(own: int, other: int, there: str, same_spelling: bool, way_out: str) -> str:
    """Return how two lists of these lengths differ, and what to do.

    Args:
        own: Length of our list.
        other: Length of the other.
        there: Where the other list is.
        same_spelling: Whether it is of the same people in another spelling.
        way_out: What to do if it is of other people.
    """
    if same_spelling:
        return (
            f"{own} records here and {there}, of the same people in another spelling: "
            "write the ids alike (case, blanks, leading zeros, .0, accents)"
        )
    if own != other:
        return f"{own} records here, {other} {there}: {way_out}"
    return f"{own} records here and {there}, of other people: {way_out}"
