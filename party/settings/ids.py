"""What makes an id, under `[data]`: `id`, `id_alike`, `repeated`, `items`; what alignments may ask, under `[agree]`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

from party.data.ids import REFUSE, REPEATED, IdColumns
from party.settings.toml import BLANKS, Section
from protocols.errors import InputError
from protocols.identifiers import USUAL_FORM, read_form
from protocols.kinds import Between, Exact

ID_KEYS: Final = ("id", "id_alike", "repeated", "items")
_MOST: Final = 10**9


@dataclass(frozen=True)
class AlignmentBounds:
    """What a peer may ask about whom we list.

    Args:
        least_overlap: The least share of the peer's ids that must be ours before we reveal which are.
        most_ids: The most ids that it may bring.
        most_alignments: The most alignments over the life of a data set, those of the same lists too.
    """

    least_overlap: Annotated[
        Fraction, Exact(Fraction(0), Fraction(1), 'must be a share from 0 to 1, such as "1/10"')
    ] = Fraction(1, 10)
    most_ids: Annotated[int, Between(1, _MOST)] = 1_000_000
    most_alignments: Annotated[int, Between(0, _MOST)] = 3


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
