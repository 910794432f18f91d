"""What makes an id, under `[data]`: `id`, `id_alike`, `repeated`, `items`; what alignments may ask, under `[agree]`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from party.data.ids import REFUSE, REPEATED, IdColumns
from party.settings.toml import BLANKS, Section
from protocols.errors import InputError
from protocols.identifiers import USUAL_FORM, read_form

ID_KEYS: Final = ("id", "id_alike", "repeated", "items")
ALIGNMENT_KEYS: Final = ("least_overlap", "most_ids", "most_alignments")
_MOST: Final = 10**9


@dataclass(frozen=True)
class AlignmentBounds:
    """What a peer may ask about whom we list.

    Args:
        least_overlap: The least share of the peer's ids that must be ours, or it is not told which are.
        ids: The most ids that it may bring.
        alignments: The most alignments over the life of a data set, those of the same lists too.
    """

    least_overlap: Fraction = Fraction(1, 10)
    ids: int = 1_000_000
    alignments: int = 3


USUAL_ALIGNMENTS: Final = AlignmentBounds()


def read_id_columns(data: Section) -> IdColumns:
    """Read which columns make an id, in which form.

    Raises:
        ConfigError: One of the keys is out of range.
    """
    raw = data.raw("id", None)
    names = data.texts("id") if isinstance(raw, list) else (data.text("id", controls=BLANKS),)
    if not names:
        raise data.error("id", "must name a column, or a list of columns, each once")
    try:
        form = read_form(data.texts("id_alike", USUAL_FORM.names), len(names))
    except InputError as error:
        raise data.error("id_alike", error.problem) from None
    items = data.text("items", None, controls=BLANKS)
    if items in names:
        raise data.error("items", "is an id column: name another")
    if items is not None and "repeated" in data.names:
        raise data.error("repeated", "is not for rows of ids and items: take it out")
    return IdColumns(tuple(names), form, data.choice("repeated", REPEATED, REFUSE), items=items)


def read_alignment_bounds(agree: Section) -> AlignmentBounds:
    """Read what alignments may ask.

    Raises:
        ConfigError: One of the keys is out of range.
    """
    usual = USUAL_ALIGNMENTS
    least = agree.fraction("least_overlap", str(usual.least_overlap))
    if not 0 <= least <= 1:
        raise agree.error("least_overlap", 'must be a share from 0 to 1, such as "1/10"')
    return AlignmentBounds(
        least,
        agree.integer("most_ids", 1, _MOST, usual.ids),
        agree.integer("most_alignments", 0, _MOST, usual.alignments),
    )
