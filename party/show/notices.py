"""What the owner of a table should know of how it was read, in words: one table of sentences."""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from party.data import OTHER, Notice
from party.data.looks import ADVICE
from party.data.notices import About
from party.names import printable
from party.node.inputs import OwnerNotices, ReleasedBefore, Tell
from party.settings.job import balances_classes, unused_keys
from party.show.screen import hold, say
from protocols.identifiers import Spelling
from protocols.terms import Terms

LOUD: Final = 34
"""From this share on, in percent, what becomes "other" is warned of."""


def tell(notices: Iterable[Notice | ReleasedBefore]) -> None:
    """Print notices on the standard error, before what follows but an error."""
    for notice in notices:
        text = f"cotally: note: {notice_text(notice)}"
        if _is_loud(notice):
            say(text, sys.stderr)  # also to who wants results alone: it cannot be undone
        else:
            hold(text)


def _is_loud(notice: Notice | ReleasedBefore) -> bool:
    if isinstance(notice, ReleasedBefore):
        return True
    return any(each.values.get("share", 0) >= LOUD for each in notice.values.get("remarks", ()))


def notes_once() -> Tell:
    """Return what prints each notice the first time, and of columns that are binned or merged how many there are."""
    said: list[Notice | ReleasedBefore] = []

    def tell_new(notices: OwnerNotices) -> None:
        new = [notice for notice in notices if notice not in said]
        said.extend(new)
        treated = [each for each in new if is_minor(each)]
        tell(each for each in new if each not in treated)
        if treated:
            hold(f"cotally: note: {treated_text(len(treated))}: `cotally check` shows how")

    return tell_new


def is_minor(notice: Notice | ReleasedBefore) -> bool:
    """Return whether a notice says what became of a column that lost little."""
    return isinstance(notice, Notice) and notice.about is About.TREATED and not _is_loud(notice)


def treated_text(columns: int) -> str:
    return f"{'1 column is' if columns == 1 else f'{columns} columns are'} binned, merged or filled in"


def note_on_job(path: Path, terms: Terms) -> None:
    if balances_classes(path):
        weights = ", ".join(terms.weights) or "none, as no class is rarer"
        hold(f"cotally: note: {printable(f'{path}: weights: {weights}')}: the peer learns this ratio of the classes")
    if keys := unused_keys(path):
        hold(f"cotally: note: {printable(str(path))}: {', '.join(keys)}: not used on these terms, leave them out")


def notice_text(notice: Notice | ReleasedBefore) -> str:
    return printable(_released(notice) if isinstance(notice, ReleasedBefore) else _sentence(notice))


def _sentence(notice: Notice) -> str:
    words = _SENTENCES[notice.about]
    return words.format(**notice.values) if isinstance(words, str) else words(**notice.values)


def _ids_apart(few: int, ids: int, spelling: Spelling) -> str:
    apart = {
        Spelling.CASE: "are written in a different case from the others",
        Spelling.ZEROS: "lack the zeros that others begin with",
    }
    return (
        f"{few:,} of {ids:,} ids {apart[spelling]}: if they mean the same people at the peer, add "
        f'"{spelling.value}" to [data] id_alike on both sides, or these people are not found there'
    )


def _texts(different: int, kind: str) -> str:
    cure = f"if they are quantities, {ADVICE[kind]}; codes are right as texts" if kind == "numbers" else ADVICE[kind]
    return f"its {different} different {kind} are taken as texts: {cure}"


def _merged(kept: int, others: int, records: int, rare: int, smallest: int, share: int) -> str:
    given_up = ""
    if share >= LOUD:
        more = 'raise max_values, or write group = "class" where the class is ours'
        cure = "merge values in the file, or list it under ignore" if rare == others else more
        given_up = f": WARNING, {share}% of the column is given up; {cure}"
    if rare == others:
        return f"values that fewer than {smallest} records hold ({rare}) have become {OTHER!r}{given_up}"
    head = f"the {kept} commonest values are" if kept > 1 else "the commonest value is" if kept else "no value is"
    among = f", {rare} of which fewer than {smallest} records hold" if rare else ""
    return f"{head} kept; {others} others ({records:,} records, {share}%) are {OTHER!r}{among}{given_up}"


_ENCODING = "{path} is not UTF-8: read as Windows-1252 (Latin-1); if that is wrong, declare its encoding"
_INDEX = "is taken for an index of the program that wrote the file, and left out"
_MARKER = 'all others: if it means missing, add "{number}" to [data] missing'
_SENTENCES: Final[Mapping[About, str | Callable[..., str]]] = {
    About.ENCODING: _ENCODING,
    About.CENTRAL_ENCODING: _ENCODING
    + ", such as cp1250: some letters are other letters in Central Europe, and names would be sent wrongly",
    About.INDEX: f"{{path}}: column {{name!r}} {_INDEX}",
    About.UNNAMED_INDEX: f"{{path}}: column {{place}}, which has no name, {_INDEX}",
    About.NAMES_UNSEEN: "{path}: {names} names of columns hold invisible characters, which are left out",
    About.MARKERS: lambda columns: (
        "taken for missing cells: "
        + "; ".join(f"{marker!r} in {', '.join(map(repr, names))}" for marker, names in columns)
    ),
    About.SPELLED_ALIKE: (
        "column {column!r}: {values} values differ from others only by case, blanks, width or leading zeros, and are "
        "taken for different ({cells} cells); if they mean the same, spell them alike in the file before the first run"
    ),
    About.CELLS_UNSEEN: (
        "column {column!r}: {cells} cells hold invisible characters, such as a zero-width space or a no-break "
        "space: they are left out, or taken for plain blanks"
    ),
    About.WRITTEN_APART: (
        "column {column!r}: {cells} cells are taken for a number, a date or a truth value that most write differently "
        "(1.0 for 1, TRUE for True); if they are codes that differ, write them with a letter in front"
    ),
    About.POINTS: (
        "column {column!r}: {cells} cells have a point that groups no thousands: read as a decimal point, though "
        'decimal = ","'
    ),
    About.IDS_APART: _ids_apart,
    About.IDS_ROUNDED: (
        "all {ids:,} ids have only zeros after their 15th digit, as in a spreadsheet that has rounded them: if they "
        "should not, export the column as text from where the table is kept"
    ),
    About.ITEMS_LEFT_OUT: (
        "{left:,} items are left out, {kept:,} are columns: fewer than {smallest} persons have them, or lack them, and "
        "their names would show who"
    ),
    About.FOLDED: (
        "column {column!r}: left out, since too few records differ in it from the others, and its name would show who"
    ),
    About.IDENTIFIER: "column {column!r}: left out, since nearly all its cells differ, as in an identifier",
    About.CLASS_GIVEN: (
        "column {column!r} alone gives the class of every record: if it is the class under another name, or known only "
        "afterwards, list it under ignore before anything leaves"
    ),
    About.TREATED: lambda column, remarks: f"column {column!r}: {'; '.join(map(_sentence, remarks))}",
    About.BINNED: 'numbers that are not listed under [columns]: binned by bins = "{bins}"',
    About.TEXTS: _texts,
    About.MARKER_BELOW: "{number} occurs {cells} times below " + _MARKER,
    About.MARKER_ABOVE: "{number} occurs {cells} times above " + _MARKER,
    About.BINS_JOINED: "bins of fewer than {smallest} records have joined their neighbours",
    About.MISSING_ABSORBED: "too few cells are missing ({missing}) for a value of their own: taken as the commonest",
    About.MERGED: _merged,
    About.BY_CLASS: "the other party sees its values, and by them something of the class that most_bits does not count",
    About.ONE_VALUE: "only one value is left, so the column is useless",
}


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
