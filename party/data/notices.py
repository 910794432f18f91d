"""What the owner of a table should know of how it was read, as values; `party.show.notices` has the words.

None of them holds the content of a cell, except the markers of missing ones (FAULTS 95).
"""

from dataclasses import dataclass
from pathlib import Path

from protocols.identifiers import Spelling


@dataclass(frozen=True)
class GuessedEncoding:
    """A file is not UTF-8 and was read as Windows-1252; some of its bytes may be other letters in Windows-1250."""

    path: Path
    central: bool = False


@dataclass(frozen=True)
class IndexLeftOut:
    """A column, counted from 0, is the index of the program that wrote the file; its name may be empty."""

    path: Path
    position: int
    name: str


@dataclass(frozen=True)
class NamesUnseen:
    """How many names of columns hold characters that nobody sees, or several blanks together."""

    path: Path
    names: int


@dataclass(frozen=True)
class MarkersTaken:
    """Texts that were taken for missing cells, each with the columns that hold it."""

    columns: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class SpelledAlike:
    """How many values of a column differ from others in spelling alone, and how many cells have not the commonest."""

    column: str
    values: int
    cells: int


@dataclass(frozen=True)
class UnseenLeftOut:
    """How many cells of a column hold characters that nobody sees, which were left out."""

    column: str
    cells: int


@dataclass(frozen=True)
class WrittenApart:
    """How many cells of a column are taken for a number, a date or a truth value that most write otherwise."""

    column: str
    cells: int


@dataclass(frozen=True)
class PointsTaken:
    """How many cells of a column have a decimal point where a comma is declared to begin a fraction."""

    column: str
    cells: int


@dataclass(frozen=True)
class IdsSpelledApart:
    """How many of that many ids are spelled otherwise than nearly all others, in what the normal form keeps apart."""

    few: int
    ids: int
    spelling: Spelling


@dataclass(frozen=True)
class IdsRounded:
    """This many ids are numbers of more than 15 digits, whose further digits are all 0."""

    ids: int


@dataclass(frozen=True)
class ItemsLeftOut:
    """This many items are no columns, beside those that are: fewer than `smallest` persons have them, or lack them."""

    left: int
    kept: int
    smallest: int


@dataclass(frozen=True)
class IdentifierLeftOut:
    """A column was left out, since its cells nearly all differ."""

    column: str


@dataclass(frozen=True)
class Binned:
    """SortedNumbers that the owner has not listed were binned, as `bins` would say it."""

    bins: str


@dataclass(frozen=True)
class TakenAsTexts:
    """How many distinct cells of a kind, as `Looks.kind` names it, were taken as texts; they may be measurements."""

    different: int
    kind: str


@dataclass(frozen=True)
class MarkerLike:
    """A number that is taken as one, as this many cells have it, lies below all others or above, as a marker does."""

    number: str
    cells: int
    below: bool


@dataclass(frozen=True)
class BinsJoined:
    """Bins that too few records hold have joined their neighbours."""

    smallest: int


@dataclass(frozen=True)
class MissingAbsorbed:
    """Missing cells are too few for a value of their own, and count as the most common value."""

    missing: int


@dataclass(frozen=True)
class ValuesMerged:
    """Values became "other".

    Args:
        kept: How many values stay by name.
        others: How many became "other".
        records: How many records hold those.
        rare: How many of those fewer than `smallest` records hold; the rest were more than `max_values` allows.
        smallest: The fewest records of a value that is named.
    """

    kept: int
    others: int
    records: int
    rare: int
    smallest: int


@dataclass(frozen=True)
class ClassTold:
    """A column tells the class of every record."""

    column: str


@dataclass(frozen=True)
class OneValueLeft:
    """A column has one value and tells nothing."""


Remark = Binned | TakenAsTexts | MarkerLike | BinsJoined | MissingAbsorbed | ValuesMerged | OneValueLeft


@dataclass(frozen=True)
class ColumnTreated:
    """What became of one column."""

    column: str
    remarks: tuple[Remark, ...]


Spelt = SpelledAlike | UnseenLeftOut | WrittenApart | PointsTaken

Notice = (
    GuessedEncoding
    | IndexLeftOut
    | NamesUnseen
    | MarkersTaken
    | Spelt
    | IdsSpelledApart
    | IdsRounded
    | IdentifierLeftOut
    | ItemsLeftOut
    | ColumnTreated
    | ClassTold
)
