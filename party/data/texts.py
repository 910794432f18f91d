"""One text for one value: the same table gives the same texts from CSV, from Parquet and from a data frame.

Each program writes a whole number, a truth value or a time in its own way (`2` or `2.0`, `true` or `True`, `T` or a
blank before the hour). Here a cell's text has no blanks around it. If all cells of a column are numbers, they have no
needless zeros; if all are truth values, they are `True` and `False`; if all are dates or times, they are ISO 8601,
without a time at midnight. A column with numbers that begin with `0` or `+` holds codes: they stay as they are.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from party.data.bins import NUMBERS, number

MISSING_MARKERS = (
    "?", "-", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "NULL", "Null", "null", "None",
)  # fmt: skip

_NUMBERS = re.compile(r"(?>-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?\n)*+", re.ASCII)
_TRUTHS = re.compile(r"(?>(?:true|false)\n)*+", re.IGNORECASE)
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-]\d\d):?(\d\d))?)?", re.ASCII
)
_TIMES = re.compile(rf"(?>{re.sub('[(](?![?])', '(?:', _TIME.pattern)}\n)*+", re.ASCII)
_WHOLE = re.compile(r"(?>-?\d+(?:\.0+)?\n)*+", re.ASCII)


@dataclass(frozen=True)
class Reading:
    """What the distinct texts of a column stand for.

    Args:
        text_of: None for a missing cell; only texts that do not stand for themselves.
        taken: The markers of a missing cell that occur.
        alike: How many values differ from another one by case, blanks or Unicode form alone.
    """

    text_of: dict[str, str | None]
    taken: tuple[str, ...] = ()
    alike: int = 0


def read_texts(texts: Collection[str], markers: Collection[str], keep: Collection[str] = ()) -> Reading:
    """Tell what the distinct texts of a column stand for.

    Args:
        texts: Each once.
        markers: Texts that mean a missing cell, except those in `keep`.
        keep: Texts that are values of this column.
    """
    missing = {*markers, ""} - set(keep)
    text_of = _trimmed(texts)
    taken = []
    for marker in sorted(_occurring(missing, texts) | (missing & {*text_of.values()})):
        text_of |= dict.fromkeys((*(t for t, plain in text_of.items() if plain == marker), marker))
        taken += [marker] if marker else []
    present: Collection[str] = texts
    if text_of:
        present = dict.fromkeys(stands for text in texts if (stands := text_of.get(text, text)) is not None)
    changed = _changed(present)
    if changed is None:
        return Reading(text_of, tuple(taken), _alike(present))
    text_of |= {text: changed[stands] for text, stands in text_of.items() if stands in changed}
    return Reading({**changed, **text_of}, tuple(taken))


def read_ids(texts: Collection[str]) -> Reading:
    """Tell what the distinct ids stand for: themselves, except that whole numbers are written as such."""
    joined = "\n".join((*texts, ""))
    if ".0" not in joined or joined.count("\n") != len(texts) or not _WHOLE.fullmatch(joined):
        return Reading({})
    return Reading({text: text.partition(".")[0] for text in texts if "." in text})


def _changed(texts: Collection[str]) -> dict[str, str] | None:
    """Return the texts that are written differently, where all of a column are of one kind; None where they are not."""
    joined = "\n".join((*texts, ""))
    if joined.count("\n") != len(texts):
        return None
    if _NUMBERS.fullmatch(joined):
        return _differing(_unusual_numbers(texts, joined), _plain_number)
    for kind, plain in ((_TRUTHS, str.capitalize), (_TIMES, _plain_time)):
        if kind.fullmatch(joined):
            return _differing(texts, plain)
    return None


def _trimmed(texts: Collection[str]) -> dict[str, str | None]:
    """Return texts that have blanks around them, and what they are without."""
    joined = "".join(texts)
    if joined.isascii() and len(joined.split(None, 1)) == 1 and not joined[:1].isspace() and not joined[-1:].isspace():
        return {}  # there is no blank in all of the column
    return {text: text.strip() for text in texts if text != text.strip()}


def _occurring(markers: Collection[str], texts: Collection[str]) -> set[str]:
    """Return the markers among the texts; look at the texts one by one only where one may be there."""
    joined = "\n".join(("", *texts, ""))
    return {*markers} & {*texts} if any(f"\n{marker}\n" in joined for marker in markers) else set()


def _unusual_numbers(texts: Iterable[str], joined: str) -> Iterable[str]:
    """Return the numbers that may be written differently: with an exponent, needless zeros or a bare point."""
    if "e" in joined or "E" in joined or "\n." in joined or "-." in joined or joined.startswith("."):
        return texts
    return [text for text in texts if text[-1] in "0." and ("." in text or text == "-0")]


def _differing(texts: Iterable[str], plain: Callable[[str], str]) -> dict[str, str]:
    return {text: other for text in texts if (other := plain(text)) != text}


def _plain_number(text: str) -> str:
    value = number(text)
    return text if value is None else NUMBERS.write(value)


def _plain_time(text: str) -> str:
    match = _TIME.fullmatch(text)
    if match is None or match[2] is None:
        return text
    day, minutes, seconds, fraction, hours_off, minutes_off = match.groups()
    fraction = (fraction or "").rstrip("0")
    clock = f"{minutes}:{seconds or '00'}" + (f".{fraction}" if fraction else "")
    zone = f"{hours_off}:{minutes_off}" if hours_off else "Z" if text.endswith("Z") else ""
    if zone in {"+00:00", "-00:00"}:
        zone = "Z"
    return day if clock == "00:00:00" and not zone else f"{day}T{clock}{zone}"


def plain_text(text: str) -> str:
    """Return the text of a value on its own, whatever else its column holds.

    >>> plain_text(" 2.0"), plain_text("TRUE"), plain_text("2024-05-31 00:00:00"), plain_text("007")
    ('2', 'True', '2024-05-31', '007')
    """
    text = text.strip()
    return (_changed([text]) or {}).get(text, text)


def value_of(values: tuple[str, ...], text: str) -> str | None:
    """Return the value that a text is, or the only one of the same meaning; None if there is none."""
    return text if text in values else _by_plain_text(values).get(plain_text(text))


@lru_cache(maxsize=1024)
def _by_plain_text(values: tuple[str, ...]) -> dict[str, str]:
    plain = [plain_text(value) for value in values]
    once = Counter(plain)
    return {text: value for text, value in zip(plain, values, strict=True) if once[text] == 1}


def _alike(texts: Iterable[str]) -> int:
    kinds = Counter("".join(unicodedata.normalize("NFC", text).casefold().split()) for text in texts)
    return sum(times for times in kinds.values() if times > 1)
