"""One text for one value: the same table gives the same texts from CSV, from Parquet and from a data frame.

Each program writes a number, a truth value or a time in its own way (`2` or `2.0`, `true` or `True`, `T` or a blank
before the hour). A cell's text is made of the cell alone, whatever else its column holds, before anything else looks
at it: markers of missing cells, bins, `other`. It has no characters that nobody sees, single blanks between its words
and none around it, and composed accents. A number has no needless zeros, a truth value is `True` or `False`; days,
times and durations are as `party.data.moments` writes them. What begins with a needless `0` or a `+` is a code and
stays as it is; so does `1E5`, since a program that writes a number puts a point before the `E` or a sign behind it.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from party.data.bins import NUMBERS, number
from party.data.moments import plain_moment
from protocols.identifiers import seen

MISSING_MARKERS = (
    "?", "-", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "NULL", "Null", "null", "None",
)  # fmt: skip
POINT, COMMA = ".", ","

_UNSIGNED = r"(?:0|[1-9]\d*)"
_NUMBER = re.compile(
    rf"-?(?:{_UNSIGNED}(?:[eE][+-]\d{{1,2}})?|(?:{_UNSIGNED}\.\d*|\.\d+)(?:[eE][+-]?\d{{1,2}})?)", re.ASCII
)
_TRUTH = re.compile(r"true|false", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"(-?\d+)\.0+", re.ASCII)
_ORDINARY = re.compile(r"(?![-.+\dP]|true$|false$).*|-?[1-9]\d*|0", re.IGNORECASE | re.ASCII)
_GROUPED = {
    POINT: re.compile(r"([+-]?)(\d{1,3}(?:[,'\u2019 ]\d{3})+)(?:\.(\d+))?", re.ASCII),
    COMMA: re.compile(r"([+-]?)(\d{1,3}(?:[.'\u2019 ]\d{3})+|\d+(?=,))(?:,(\d+))?", re.ASCII),
}
_WHOLE_DOUBLE = 15 + len(".0")  # a longer number with a point has lost digits
_BEGINNINGS = frozenset("0123456789.+-P")  # of numbers, times and durations
_ZEROS = re.compile(r"\+?0*(\d+)", re.ASCII)


@dataclass(frozen=True)
class Reading:
    """What the texts of a column stand for, but for those that stand for themselves, and what its owner may not expect.

    `taken` are the markers of a missing cell that occur. Cells are `unseen` if they hold characters that nobody sees,
    `apart` if written otherwise than most of their value, in a column that is not all of one kind; in `points` a point
    groups no thousands and would not begin a fraction. `alike` are the values that differ from another one by case,
    blanks, width or zeros alone, and their cells without those of the commonest of each.
    """

    text_of: Mapping[str, str | None]
    taken: tuple[str, ...] = ()
    unseen: int = 0
    apart: int = 0
    points: int = 0
    alike: tuple[int, int] = (0, 0)


def read_texts(
    cells: Mapping[str, int], markers: Collection[str], keep: Collection[str] = (), decimal: str | None = None
) -> Reading:
    """Say what the distinct texts of a column stand for."""
    plain = _spelled(cells, decimal)
    values = {plain_text(text, decimal) for text in keep}
    missing = {marker: text for marker in markers if (text := plain_text(marker, decimal)) not in values}
    gone = {*missing.values(), ""} - values
    text_of: dict[str, str | None] = {text: None if stands in gone else stands for text, stands in plain.items()}
    text_of |= dict.fromkeys(cells.keys() & gone - plain.keys())
    absent = {plain.get(text, text) for text, stands in text_of.items() if stands is None}
    present = Counter[str]()
    for text, held in cells.items():
        if text_of.get(text, text) is not None:
            present[plain.get(text, text)] += held
    return Reading(
        text_of,
        tuple(sorted(marker for marker, text in missing.items() if text in absent)),
        _held(cells, plain, _is_unseen),
        _apart(cells, plain, present),
        _held(cells, cells, _is_fraction) if decimal == COMMA else 0,
        _alike(present),
    )


def read_ids(cells: Mapping[str, int]) -> Reading:
    """Say what the distinct ids stand for: themselves as they are seen, except that whole numbers have no point."""
    changed = {}
    for text in cells:
        plain = seen(text)
        whole = _WHOLE.fullmatch(plain) if ".0" in plain and len(plain) <= _WHOLE_DOUBLE else None
        plain = whole[1] if whole else plain
        if plain != text:
            changed[text] = plain or None
    return Reading(changed, unseen=_held(cells, changed, _is_unseen))


def plain_text(text: str, decimal: str | None = None) -> str:
    """Return the text of a value.

    >>> plain_text(" 2.0"), plain_text("TRUE"), plain_text("2024-05-31 00:00:00"), plain_text("007"), plain_text("1E5")
    ('2', 'True', '2024-05-31', '007', '1E5')
    >>> plain_text("1.234,50", ","), plain_text("1,234.50", "."), plain_text("1,234.50")
    ('1234.5', '1234.5', '1,234.50')
    """
    text = " ".join(seen(text).split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if decimal is not None and (grouped := _GROUPED[decimal].fullmatch(text)):
        sign, whole, fraction = grouped.groups()
        text = f"{sign}{re.sub('[^0-9]', '', whole)}" + (f".{fraction}" if fraction else "")
    if _TRUTH.fullmatch(text):
        return text.capitalize()
    if text[:1] not in _BEGINNINGS:
        return text
    if _NUMBER.fullmatch(text):
        value = number(text)
        return text if value is None else NUMBERS.write(value)
    return plain_moment(text) or text


def decimal_signs(cells: Mapping[str, int]) -> dict[str, int]:
    """Return how many more cells would be numbers if a sign began a fraction: of the sign that makes more."""
    texts = [(text, held) for text, held in cells.items() if number(text) is None]
    made = {
        sign: sum(held for text, held in texts if number(plain_text(text, sign)) is not None) for sign in (POINT, COMMA)
    }
    return {sign: held for sign, held in made.items() if held == max(made.values()) > 0}


def value_of(values: tuple[str, ...], text: str) -> str | None:
    """Return the value that a text is, or the only one of the same meaning; None if there is none."""
    return text if text in values else _by_plain_text(values).get(plain_text(text))


@lru_cache(maxsize=1024)
def _by_plain_text(values: tuple[str, ...]) -> dict[str, str]:
    plain = list(map(plain_text, values))
    once = Counter(plain)
    return {text: value for text, value in zip(plain, values, strict=True) if once[text] == 1}


def _spelled(cells: Collection[str], decimal: str | None) -> dict[str, str]:
    """Return the texts that are not written as their values are, with what these are."""
    joined = "".join(cells)
    if joined.isascii() and joined.isprintable() and " " not in joined:
        unsure: Iterable[str] = (text for text in cells if not _ORDINARY.fullmatch(text))
    else:
        unsure = cells
    return {text: plain for text in unsure if (plain := plain_text(text, decimal)) != text}


def _held(cells: Mapping[str, int], texts: Collection[str], holds: Callable[[str], bool]) -> int:
    return sum(cells[text] for text in texts if holds(text))


def _is_unseen(text: str) -> bool:
    """Return whether a text holds what nobody sees: within it, since blanks and ends of line around it are common."""
    bare = text.strip(" \t\r\n")
    return bare != seen(bare)


def _is_fraction(text: str) -> bool:
    """Return whether a text is a number with a decimal point, and not with points that group thousands."""
    bare = text.strip()
    return "." in bare and not _GROUPED[COMMA].fullmatch(bare) and _NUMBER.fullmatch(bare) is not None


def _apart(cells: Mapping[str, int], plain: Mapping[str, str], present: Collection[str]) -> int:
    """Count the cells that are written otherwise than most of their value; none where all values are of one kind."""
    times = Counter(plain.values())
    several = {value for value, spellings in times.items() if spellings > 1 or (value in cells and value not in plain)}
    written: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in (text for text in cells if plain.get(text, text) in several):
        bare = " ".join(seen(text).split())
        written[plain.get(text, text)][unicodedata.normalize("NFC", bare)] += cells[text]
    few = sum(each.total() - max(each.values()) for value, each in written.items() if value in present)
    return few if few and len({*map(_kind, present)}) > 1 else 0


def _kind(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return "number"
    return "truth" if _TRUTH.fullmatch(text) else "text" if plain_moment(text) is None else "moment"


def _alike(present: Mapping[str, int]) -> tuple[int, int]:
    kinds: defaultdict[Hashable, list[int]] = defaultdict(list)
    for text, held in present.items():
        wide = text if text.isascii() else unicodedata.normalize("NFKC", text)
        bare = "".join(wide.casefold().split())
        padded = _ZEROS.fullmatch(bare)
        kinds[(padded[1] if padded else bare)].append(held)
    several = [held for held in kinds.values() if len(held) > 1]
    return sum(map(len, several)), sum(sum(held) - max(held) for held in several)
