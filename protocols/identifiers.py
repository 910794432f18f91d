"""Record ids in their normal form: which spellings two parties take for one person (DESIGN 13).

`007` and `7.0`, `Ann ` and `ANN`, composed and decomposed accents may mean the same. Both parties declare which of them
do, and compare what they declared. An id of several columns (name and birth) is one text, from which each part can be
told. Characters that nobody sees, such as a byte order mark, are no part of an id; what looks like a blank is one.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from protocols.errors import InputError

MOST_ID_COLUMNS: Final = 16
_WHOLE: Final = re.compile(r"([0-9]+)\.0*", re.ASCII)
_CONTROLS: Final = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufff9-\ufffb"
_IGNORED: Final = (
    "\xad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point of Unicode 15 (DerivedCoreProperties.txt), but for two Hangul fillers that are wide."""
_FILLER: Final = "\U00016fe4"  # Khitan
_UNSEEN: Final = re.compile(f"[{_CONTROLS}{_IGNORED}{_FILLER}]")
_WIDE: Final = "\u2800\u3164\uffa0\U0001d159"  # no dots of Braille, fillers of Hangul, no head of a note
_ODD_BLANK: Final = re.compile(rf"[^\S ]|[{_WIDE}]")
_PADDED: Final = re.compile(r"0+([0-9]+)", re.ASCII)


class Spelling(StrEnum):
    """What two spellings of one id may differ in."""

    ACCENTS = "accents"  # composed or not: Unicode's canonical equivalence
    BLANKS = "blanks"  # around it, and how many between its words
    CASE = "case"
    NUMBERS = "numbers"  # 42.0 for 42
    ZEROS = "zeros"  # 0042 for 42


USUAL_SPELLINGS: Final = frozenset({Spelling.ACCENTS, Spelling.BLANKS, Spelling.NUMBERS})


@dataclass(frozen=True)
class IdForm:
    """The normal form of record ids: of how many columns one is made, and what spellings of it may differ in."""

    columns: int = 1
    alike: frozenset[Spelling] = USUAL_SPELLINGS

    def __post_init__(self) -> None:
        if not 1 <= self.columns <= MOST_ID_COLUMNS:
            raise InputError(f"must be of 1 to {MOST_ID_COLUMNS} columns", field="ids")

    @property
    def names(self) -> tuple[str, ...]:
        """What spellings may differ in, in one order."""
        return tuple(each.value for each in Spelling if each in self.alike)

    def joined(self, parts: Sequence[str]) -> str:
        """Return the normal form of an id, given the cells of its columns.

        >>> IdForm().joined([" 42.0"]), IdForm(2).joined(["Ann", "1980-01-02"])
        ('42', '3:Ann10:1980-01-02')
        """
        return self._of_parts([_normal(part, self.alike) for part in parts])

    def all_joined(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """Return the normal form of each of many ids, given the cells of each column.

        >>> IdForm(2).all_joined([["Ann", "Bob "], ["1980", "1981.0"]])
        ['3:Ann4:1980', '3:Bob4:1981']
        """
        normal = [_all_normal(cells, self.alike) for cells in columns]
        return list(normal[0]) if self.columns == 1 else list(map(self._of_parts, zip(*normal, strict=True)))

    def _of_parts(self, normal: Sequence[str]) -> str:
        return normal[0] if self.columns == 1 else "".join(f"{len(part)}:{part}" for part in normal)

    def parts(self, record: str) -> list[str]:
        """Return the parts of an id that `joined` has made.

        >>> IdForm(2).parts("3:Ann10:1980-01-02")
        ['Ann', '1980-01-02']
        """
        if self.columns == 1:
            return [record]
        found, rest = [], record
        while rest:
            length, _, rest = rest.partition(":")
            found.append(rest[: int(length)])
            rest = rest[int(length) :]
        return found

    def with_more(self, more: Iterable[Spelling]) -> "IdForm":
        """Return a form in which more spellings are alike."""
        return IdForm(self.columns, self.alike | frozenset(more))


USUAL_FORM: Final = IdForm()


def read_form(names: Sequence[str], columns: int) -> IdForm:
    """Return the form of these names and this many columns."""
    known = [each.value for each in Spelling]
    if len(set(names)) != len(names) or not set(names) <= set(known):
        raise InputError(f"must be a list of some of {', '.join(known)}, each once", field="ids")
    return IdForm(columns, frozenset(map(Spelling, names)))


def seen(text: str) -> str:
    r"""Return a text without characters that nobody sees, and with a plain blank for whatever looks like one.

    >>> seen("Zoe\u200b\u00a0Lee\ufeff")
    'Zoe Lee'
    """
    if text.isascii() and text.isprintable():
        return text
    return _ODD_BLANK.sub(" ", _UNSEEN.sub("", text))


def _all_normal(texts: Sequence[str], alike: frozenset[Spelling]) -> Sequence[str]:
    """Return the normal form of each; look at them one by one only where one may be spelled otherwise."""
    joined = "\n".join(texts)
    visible = joined.isascii() and joined.count("\n") == len(texts) - 1 and joined.replace("\n", "").isprintable()
    if not visible or " " in joined or "." in joined:
        return [_normal(text, alike) for text in texts]
    if Spelling.CASE in alike:
        texts = joined.casefold().split("\n")
    return [_unpadded(text) for text in texts] if Spelling.ZEROS in alike else texts


def _unpadded(text: str) -> str:
    padded = _PADDED.fullmatch(text) if text.startswith("0") else None
    return padded[1] if padded else text


def _normal(text: str, alike: frozenset[Spelling]) -> str:
    text = seen(text)
    if not text.isascii() and alike & {Spelling.ACCENTS, Spelling.CASE}:
        text = unicodedata.normalize("NFD", text)
    if Spelling.CASE in alike:
        text = text.casefold() if text.isascii() else unicodedata.normalize("NFD", text.casefold())
    if Spelling.ACCENTS in alike and not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if Spelling.BLANKS in alike:
        text = " ".join(text.split())
    if Spelling.NUMBERS in alike and (whole := _WHOLE.fullmatch(text)):
        text = whole[1]
    return _unpadded(text) if Spelling.ZEROS in alike else text
