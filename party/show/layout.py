"""Text that fits a screen: sentences laid out by words, definitions, and tables that leave out what has no room."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

USUAL_WIDTH = 80

_KEPT = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=%)")
_QUOTED = re.compile(r"`[^`]*`")
_GAP = 2
_LEAST_TEXT = 12  # to which a column of texts may be narrowed before a column of figures is left out


def wrapped(text: str, width: int, hanging: int = 2, *, cut: bool = True) -> list[str]:
    """Return a text in lines of at most `width` characters, broken between words alone.

    The blanks that it starts with indent all lines, those after the first by `hanging` more. "5 %" is one word, and so
    is what stands in backquotes where a line can hold it. A word that no line can hold is cut, or, if it may not be,
    such as a path that somebody will copy, has a longer line to itself.

    >>> wrapped("a sure 5 % of them", 8)
    ['a sure', '  5 % of', '  them']
    """
    if len(text) <= width:
        return [text]
    indent = " " * (len(text) - len(text.lstrip(" ")))
    rest = indent + " " * hanging
    kept = _QUOTED.sub(lambda quoted: _whole(quoted[0], width - len(rest)), _UNIT.sub(_KEPT, text))
    lines = textwrap.wrap(
        kept.lstrip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=rest,
        break_long_words=cut,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " ") for line in lines] or [""]


def _whole(quoted: str, room: int) -> str:
    return quoted.replace(" ", _KEPT) if len(quoted) <= room else quoted


def shortened(text: str, width: int) -> str:
    """Return a text whose middle is left out where it is too long.

    >>> shortened("marital_status", 9), shortened("age", 9)
    ('mari…atus', 'age')
    """
    if len(text) <= width:
        return text
    kept = max(width - 1, 0)
    return text[: kept - kept // 2] + "…" + text[len(text) - kept // 2 :]


def cut_lines(lines: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines of a drawing, whose places matter, cut where they are too long; at the end say how many were."""
    cut = 0
    for line in lines:
        cut += len(line) > width
        yield line if len(line) <= width else line[: width - 1] + "…"
    if cut:
        yield f"{cut} line{'s' * (cut > 1)} cut at the width of the screen"


def branched(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """Yield the lines of a tree, those that are too long going on beside its branches; where these leave no room, cut.

    >>> list(branched(["├─ a: one two", "└─ b"], 9))
    ['├─ a: one', '│    two', '└─ b']
    """
    if width is None:
        yield from lines
        return
    for line in lines:
        branches = line[: len(line) - len(line.lstrip("│├└─ "))]
        below = branches.translate({ord("├"): "│", ord("└"): " ", ord("─"): " "}) + "  "
        room = width - len(below)
        if len(line) > width and room < _LEAST_TEXT:
            yield line[: width - 1] + "…"
            continue
        first, *rest = wrapped(line[len(branches) :], width - len(branches), 0)
        yield branches + first
        for more in wrapped(" ".join(rest), room, 0) if rest else ():
            yield below + more


def definitions(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return terms with their meanings in a column beside them; below them where the screen is narrow."""
    left = max(len(term) for term, _ in pairs) + _GAP
    if left > width // 2:
        return [line for term, meaning in pairs for line in (term, *wrapped(f"  {meaning}", width, 0))]
    return [
        (term if number == 0 else "").ljust(left) + line
        for term, meaning in pairs
        for number, line in enumerate(wrapped(meaning, width - left, 0))
    ]


@dataclass(frozen=True)
class ScreenColumn:
    """A column of a table.

    Args:
        heading: A line break in it starts its second line.
        is_text: Whether its cells are texts, which stand left and may be shortened, and no figures.
        rank: Of columns that have no room, the one of the highest rank is left out first; one of rank 0 never is.
    """

    heading: str
    is_text: bool = False
    rank: int = 0

    @property
    def name(self) -> str:
        """The heading in one line."""
        return self.heading.replace("-\n", "-").replace("\n", " ")


@dataclass(frozen=True)
class ScreenTable:
    """The lines of a table, the headings first, and the names of the columns that had no room."""

    lines: tuple[str, ...]
    left_out: tuple[str, ...]
    headings: int


def screen_table(columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], width: int) -> ScreenTable:
    """Lay out rows, one line each, as wide as they need and no wider than the screen.

    Args:
        columns: What stands in each.
        rows: Of as many cells each.
        width: Of the screen. Where even the columns that must stay are wider, so is the table.
    """
    shown = list(range(len(columns)))
    while _least(columns, rows, shown) > width and any(columns[k].rank for k in shown):
        shown.remove(max(shown, key=lambda k: columns[k].rank))
    widths = _widths(columns, rows, shown, width)
    laid = RichTable(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_edge=False)
    for k in shown:
        side: Literal["left", "right"] = "left" if columns[k].is_text else "right"
        laid.add_column(Text(columns[k].heading), justify=side, width=widths[k], no_wrap=True, vertical="bottom")
    for row in rows:
        laid.add_row(*(Text(shortened(row[k], widths[k])) for k in shown))
    console = Console(file=StringIO(), color_system=None, width=sum(widths.values()) + _GAP * len(shown))
    with console.capture() as drawn:
        console.print(laid)
    height = max(columns[k].heading.count("\n") + 1 for k in shown)
    lines = tuple(line.rstrip() for line in drawn.get().rstrip("\n").split("\n"))
    return ScreenTable(lines, tuple(columns[k].name for k in range(len(columns)) if k not in shown), height)


def _natural(columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], k: int) -> int:
    return max(map(len, [*columns[k].heading.split("\n"), *(row[k] for row in rows)]))


def _least(columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], shown: Sequence[int]) -> int:
    """Return how wide a table is when its texts are shortened."""
    wide = [_natural(columns, rows, k) for k in shown]
    least = [min(w, _LEAST_TEXT) if columns[k].is_text else w for k, w in zip(shown, wide, strict=True)]
    return sum(least) + _GAP * (len(shown) - 1)


def _widths(
    columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], shown: Sequence[int], width: int
) -> dict[int, int]:
    """Return the width of each column: texts share what figures leave, the shorter ones getting all that they need."""
    widths = {k: _natural(columns, rows, k) for k in shown}
    room = width - _GAP * (len(shown) - 1) - sum(widths[k] for k in shown if not columns[k].is_text)
    texts = sorted((k for k in shown if columns[k].is_text), key=lambda k: widths[k])
    for left, k in zip(range(len(texts), 0, -1), texts, strict=True):
        widths[k] = min(widths[k], max(room // left, min(widths[k], _LEAST_TEXT)))
        room -= widths[k]
    return widths
