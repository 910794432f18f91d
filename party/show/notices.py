"""What the owner of a table should know of how it was read, in words."""

import sys
from collections.abc import Iterable

from party.data import OTHER, Notice
from party.data.looks import ADVICE
from party.data.notices import (
    Binned,
    BinsJoined,
    ClassTold,
    ColumnTreated,
    GuessedEncoding,
    IdentifierLeftOut,
    IdsRounded,
    IdsSpelledApart,
    IndexLeftOut,
    ItemsLeftOut,
    MarkerLike,
    MarkersTaken,
    MissingAbsorbed,
    NamesUnseen,
    OneValueLeft,
    PointsTaken,
    Remark,
    SpelledAlike,
    Spelt,
    TakenAsTexts,
    UnseenLeftOut,
    ValuesMerged,
    WrittenApart,
)
from party.names import printable
from party.node.inputs import OwnerNotices, ReleasedBefore, Tell
from party.show.screen import note, say
from protocols.identifiers import Spelling

_APART = {
    Spelling.CASE: "are written in capitals or small letters otherwise than the others",
    Spelling.ZEROS: "lack the zeros that others begin with",
}


def tell(notices: Iterable[Notice | ReleasedBefore]) -> None:
    """Print notices on the standard error."""
    for notice in notices:
        text = f"cotally: note: {notice_text(notice)}"
        if isinstance(notice, ReleasedBefore):
            say(text, sys.stderr)  # also to who wants results alone: it cannot be undone
        else:
            note(text)


def telling_once() -> Tell:
    """Return what prints each notice the first time: a table that is read again has nothing new to say."""
    said: list[Notice | ReleasedBefore] = []

    def tell_new(notices: OwnerNotices) -> None:
        new = [notice for notice in notices if notice not in said]
        said.extend(new)
        tell(new)

    return tell_new


def notice_text(notice: Notice | ReleasedBefore) -> str:
    """Return a notice as a sentence; what cannot be printed of a name is shown as escapes."""
    return printable(_released(notice) if isinstance(notice, ReleasedBefore) else _text(notice))


def _text(notice: Notice) -> str:
    match notice:
        case GuessedEncoding() | IndexLeftOut() | NamesUnseen():
            return f"{notice.path}{_of_file(notice)}"
        case MarkersTaken(columns):
            listed = "; ".join(f"{marker!r} in {', '.join(map(repr, names))}" for marker, names in columns)
            return f"taken for missing cells: {listed}"
        case SpelledAlike() | UnseenLeftOut() | WrittenApart() | PointsTaken():
            return f"column {notice.column!r}: {_spelt(notice)}"
        case IdsSpelledApart() | IdsRounded() | IdentifierLeftOut() | ItemsLeftOut():
            return _of_ids(notice)
        case ClassTold(column):
            return (
                f"column {column!r} alone gives the class of every record: if it is the class under another name, or "
                "known only afterwards, list it under ignore before anything leaves"
            )
        case ColumnTreated(column, remarks):
            return f"column {column!r}: {'; '.join(map(remark_text, remarks))}"


def _of_file(told: GuessedEncoding | IndexLeftOut | NamesUnseen) -> str:
    match told:
        case GuessedEncoding(_, central):
            other = ", such as cp1250: it has letters that are others in Central Europe, and names would cross so"
            guess = " is not UTF-8: read as Windows-1252 (Latin-1); if that is wrong, declare its encoding"
            return guess + (other if central else "")
        case IndexLeftOut(_, position, name):
            called = f"column {name!r}" if name else f"column {position + 1}, which has no name,"
            return f": {called} is taken for an index of the program that wrote the file, and left out"
        case NamesUnseen(_, names):
            return f": {names} names of columns hold characters that nobody sees, which are left out"


def _spelt(told: Spelt) -> str:
    match told:
        case SpelledAlike(_, values, cells):
            return (
                f"{values} values differ from others only by case, blanks, width or leading zeros, and are taken for "
                f"different ({cells} cells); if they mean the same, spell them alike in the file before the first run"
            )
        case UnseenLeftOut(_, cells):
            return (
                f"{cells} cells hold characters that nobody sees, such as a zero-width space or a no-break space: they "
                "are left out, or taken for plain blanks"
            )
        case WrittenApart(_, cells):
            return (
                f"{cells} cells are taken for a number, a date or a truth value that most write otherwise (1.0 for 1, "
                "TRUE for True); if they are codes that differ, write them with a letter in front"
            )
        case PointsTaken(_, cells):
            return f'{cells} cells have a point that groups no thousands: taken as a decimal one, though decimal = ","'


def _of_ids(told: IdsSpelledApart | IdsRounded | IdentifierLeftOut | ItemsLeftOut) -> str:
    if isinstance(told, IdsRounded):
        return (
            f"all {told.ids:,} ids have only zeros after their 15th digit, as in a spreadsheet that has rounded them: "
            "if they should not, export the column as text from where the table is kept"
        )
    if isinstance(told, ItemsLeftOut):
        return (
            f"{told.left:,} items are left out, {told.kept:,} are columns: fewer than {told.smallest} persons have "
            "them, or lack them, and their names would show who"
        )
    if isinstance(told, IdentifierLeftOut):
        return f"column {told.column!r}: left out, since nearly all its cells differ, as in an identifier"
    return (
        f"{told.few:,} of {told.ids:,} ids {_APART[told.spelling]}: if they mean the same people at the peer, add "
        f'"{told.spelling.value}" to [data] id_alike on both sides, or these people are not found there'
    )


def _released(notice: ReleasedBefore) -> str:
    before, columns = notice.before.dataset, notice.before.columns
    if columns:
        return (
            f"data set {before!r}, released before ({notice.file}), had {', '.join(columns)} too: a copy "
            f"under the new name {notice.now!r} has new coins, and of people in both the two releases show more than "
            "one: leave them out of this one; bounds of [agree] do not add up over names"
        )
    return (
        f"this table has already been released as data set {before!r} ({notice.file}): a copy under "
        f"the new name {notice.now!r} has new coins, and both releases together show more than one; bounds of [agree] "
        "do not add up over names"
    )


def remark_text(remark: Remark) -> str:
    """Return what became of a column as a part of a sentence."""
    match remark:
        case Binned(bins):
            return f'numbers that are not listed under [columns]: binned by bins = "{bins}"'
        case TakenAsTexts(different, kind):
            return f"its {different} different {kind} are taken as texts: {_way_out(kind)}"
        case BinsJoined(smallest):
            return f"bins of fewer than {smallest} records have joined their neighbours"
        case MissingAbsorbed(missing):
            return f"too few cells are missing ({missing}) for a value of their own: taken as the commonest"
        case ValuesMerged() | MarkerLike():
            return _merged(remark) if isinstance(remark, ValuesMerged) else _marker(remark)
        case OneValueLeft():
            return "one value is left, which says nothing"


def _marker(like: MarkerLike) -> str:
    where = "below" if like.below else "above"
    cure = f'if it means missing, add "{like.number}" to [data] missing'
    return f"{like.number} occurs {like.cells} times {where} all others: {cure}"


def _way_out(kind: str) -> str:
    if kind == "numbers":
        return f"if they are quantities, {ADVICE[kind]}; codes are right as texts"
    return ADVICE[kind]


def _merged(values: ValuesMerged) -> str:
    """Say how many values have become "other", and why."""
    kept, others, rare = values.kept, values.others, values.rare
    if rare == others:
        return f"values that fewer than {values.smallest} records hold ({rare}) have become {OTHER!r}"
    head = f"the {kept} commonest values are" if kept > 1 else "the commonest value is" if kept else "no value is"
    among = f", {rare} of which fewer than {values.smallest} records hold" if rare else ""
    return f"{head} kept; {others} others ({values.records} records) are {OTHER!r}{among}"
