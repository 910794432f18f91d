"""What a table's owner should know, as values (words: `show.notices`): no cell but missing markers (FAULTS 95)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


@dataclass(frozen=True)
class Notice:
    """One thing to know, and what its sentence is about."""

    about: "About"
    values: Mapping[str, Any]


class About(Enum):
    """What there can be to know; a member, called with the values that its sentence names, makes the notice."""

    ENCODING = auto()  # of a file that is not UTF-8 and was read as Windows-1252
    CENTRAL_ENCODING = auto()  # likewise; some of its bytes may be other letters in Windows-1250
    INDEX = auto()  # a column is the index of the program that wrote the file
    UNNAMED_INDEX = auto()
    NAMES_UNSEEN = auto()  # names of columns hold characters that nobody sees, or several blanks together
    MARKERS = auto()  # texts that were taken for missing cells, each with the columns that hold it
    SPELLED_ALIKE = auto()  # values differ from others in spelling alone; the number of cells without the commonest one
    CELLS_UNSEEN = auto()  # cells hold characters that nobody sees, which were left out
    WRITTEN_APART = auto()  # cells are a number, a date or a truth value that most write otherwise
    POINTS = auto()  # cells have a decimal point where a comma is declared to begin a fraction
    IDS_APART = auto()  # few ids are spelled otherwise than the others, in what the normal form keeps apart
    IDS_ROUNDED = auto()  # ids are numbers of more than 15 digits, whose further digits are all 0
    ITEMS_LEFT_OUT = auto()  # fewer than `smallest` persons have these items, or lack them
    FOLDED = auto()  # a column was left out, since all but one of its values are held by too few
    IDENTIFIER = auto()  # a column was left out, since its cells nearly all differ
    CLASS_GIVEN = auto()  # a column gives the class of every record
    TREATED = auto()  # what became of a column; its remarks are notices of the kinds below
    BINNED = auto()  # numbers that the owner has not listed
    TEXTS = auto()  # cells of a kind, as `Looks.kind` names it, were taken as texts; they may be measurements
    MARKER_BELOW = auto()  # a number that many cells have lies below all others, as a marker does
    MARKER_ABOVE = auto()
    BINS_JOINED = auto()  # bins that too few records hold have joined their neighbours
    MISSING_ABSORBED = auto()  # too few cells are missing for a value of their own
    MERGED = auto()  # values became "other": `rare` of the `others` since fewer than `smallest` records hold them;
    # `share` is how many of all records have one, in percent
    ONE_VALUE = auto()
    BY_CLASS = auto()  # values follow from the class

    def __call__(self, **values: object) -> Notice:
        """Return a notice of this."""
        return Notice(self, values)
