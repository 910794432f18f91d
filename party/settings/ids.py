"""What makes an id, under `[data]`: `id`, `id_alike`, `repeated`, `items`; what alignments may ask, under `[agree]`."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Final

from party.data.ids import REFUSE, REPEATED, IdColumns
from party.settings.toml import BLANKS, NAME, REQUIRED, TEXTS, Declared, Key, Read, Section
from protocols.errors import InputError
from protocols.identifiers import USUAL_FORM, read_form
from protocols.kinds import Between, Exact

_MOST: Final = 10**9
_SHARE: Final = Exact(Fraction(0), Fraction(1), 'must be a share from 0 to 1, such as "1/10"')


@dataclass(frozen=True)
class AlignmentBounds:
    """What a peer may ask about whom we list; `most_alignments` counts those of the same lists too."""

    least_overlap: Annotated[Fraction, _SHARE, "least share of the peer's ids that must be ours before it learns which"
        ] = Fraction(1, 10)  # fmt: skip
    most_ids: Annotated[int, Between(1, _MOST), "most ids that it may bring to find whom both list"] = 1_000_000
    most_alignments: Annotated[int, Between(0, _MOST), "most alignments over this data set; 0 allows none"] = 3


def _read_id(data: Section, key: str) -> tuple[str, ...]:
    names = data.texts(key) if isinstance(data.raw(key), list) else (data.text(key, controls=BLANKS),)
    if not names:
        raise data.error(key, "must name a column, or a list of columns, each once")
    return names


def _read_repeated(data: Section, key: str) -> str:
    return data.choice(key, REPEATED)


ID_KEYS: Final[Declared] = {
    "id": Key(Read(_read_id, "text, or a list of texts"), REQUIRED, "column that says which record is whose, or "
        'columns: ["name", "birth"]', '"id"'),
    "id_alike": Key(TEXTS, USUAL_FORM.names, "what spellings of one id may differ in, the same at both parties "
        '(42.0 is 42); also "case", and "zeros" (0042 is 42)'),
    "repeated": Key(Read(_read_repeated, ", ".join(f'"{each}"' for each in REPEATED)), REFUSE, "where an id "
        'occurs again: refuse the table, or keep the "first" or the "last" row of it'),
    "items": Key(NAME, None, "rows of ids and items: a column of 0 and 1 for each item", '"product"'),
}  # fmt: skip


def read_id_columns(data: Section) -> IdColumns:
    """Read which columns make an id, in which form."""
    values = data.values(ID_KEYS)
    names, items = values["id"], values["items"]
    try:
        form = read_form(values["id_alike"], len(names))
    except InputError as error:
        raise data.error("id_alike", error.problem) from None
    if items in names:
        raise data.error("items", "is an id column: name another")
    if items is not None and "repeated" in data.names:
        raise data.error("repeated", "is not for rows of ids and items: take it out")
    return IdColumns(names, form, values["repeated"], items=items)
