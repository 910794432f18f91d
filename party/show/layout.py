"""What fits a screen, laid out by rich: sentences, meanings beside terms, tables, drawings; in colours where it may."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.highlighter import RegexHighlighter
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

USUAL_WIDTH = 80

Block = RenderableType
"""A part of what is shown: a sentence as a text of Python, else something that rich can draw."""

_HANGING = 2
_GAP = 2
_LEAST_TEXT = 12  # to which a column of texts may be narrowed before a column of figures is left out
_UNLIMITED = 1 << 20  # of what goes whole into a file
_THEME = Theme(
    {
        "show.command": "bold",
        "show.heading": "bold",
        "show.good": "bold green",
        "show.bad": "bold red",
        "show.branches": "bright_black",
        "show.counts": "bright_black",
        "show.leaf": "cyan",
    },
    inherit=False,
)


class _Sentences(RegexHighlighter):
    """Marks commands, what a sentence is about, and verdicts."""

    base_style = "show."
    highlights = (
        r"(?P<command>`[^`]+`)",
        r"^(?P<heading>cotally: note:|Next:|Fingerprint of [^:]+:|Worst attribute:|[Gg]roup [^:]+:)",
        r"^(?P<bad>cotally:)(?! note:)",
        r"^(?P<good>OK):",
        r"^(?P<bad>NOT as declared|NOT PROTECTED)",
    )


class _Trees(RegexHighlighter):
    """Sets branches and counts back, and classes off."""

    base_style = "show."
    highlights = (
        r"^(?P<branches>[│├└─ ]+)",
        r"→ (?P<leaf>.+) \[[^][]*\]",
        r" (?P<counts>\[[^][]*\])(?: …| \(\?\))*$",
    )


_SENTENCES, _TREES = _Sentences(), _Trees()


@dataclass(frozen=True)
class Sentence:
    """A text broken between words, lines after the first hanging; the blanks that it starts with indent all.

    Args:
        text: The sentence.
        cut: Whether a word that no line can hold is cut, or, as a path that somebody will copy, has a longer line.
        hanging: How far lines after the first are set in.
    """

    text: str
    cut: bool = True
    hanging: int = _HANGING

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Yield its lines."""
        bare = self.text.lstrip(" ")
        indent = len(self.text) - len(bare)
        body = Text(bare, overflow="fold" if self.cut else "ignore")
        _SENTENCES.highlight(body)
        room = max(options.max_width - indent, 1)
        lines = body.wrap(console, room if body.cell_len <= room else max(room - self.hanging, 1))
        for number, line in enumerate(lines):
            line.rstrip()
            line.no_wrap, line.overflow = True, "ignore"
            yield Text(" " * (indent + self.hanging * (number > 0)), no_wrap=True, overflow="ignore").append_text(line)


def rendered(blocks: Iterable[Block], width: int | None, *, styled: bool = False) -> str:
    """Return blocks as a terminal or a file gets them, each from a new line."""
    console = Console(
        file=StringIO(),
        width=_UNLIMITED if width is None else width,
        color_system="auto" if styled else None,
        force_terminal=styled,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        theme=_THEME,
        _environ={},
    )
    with console.capture() as drawn:
        for block in blocks:
            console.print(Sentence(block) if isinstance(block, str) else block, crop=False)
    text = drawn.get()
    return text if styled else "".join(f"{line.rstrip()}\n" for line in text.split("\n")[:-1])


def laid_out(blocks: Iterable[Block], width: int | None = USUAL_WIDTH) -> list[str]:
    """Return the lines of blocks, without colours."""
    return rendered(blocks, width).split("\n")[:-1]


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines, broken between words alone and none set in; a word that no line can hold has its own.

    >>> wrapped("a sure 5% of them", 8)
    ['a sure', '5% of', 'them']
    """
    return laid_out([Sentence(text, cut=False, hanging=0)], width)


def cut_lines(lines: Iterable[str], width: int) -> Iterator[Text]:
    """Yield lines of a drawing, whose places matter, cut where they are too long; at the end say how many were."""
    cut = 0
    for line in lines:
        cut += cell_len(line) > width
        yield _tree_line(line, width)
    if cut:
        yield Text(f"{cut} line{'s' * (cut > 1)} cut at the width of the screen")


def _tree_line(line: str, width: int) -> Text:
    text = Text(line, no_wrap=True, overflow="ignore")
    _TREES.highlight(text)
    text.truncate(width, overflow="ellipsis")
    return text


def branched(lines: Iterable[str], width: int | None) -> Iterator[Text]:
    """Yield the lines of a tree, those that are too long going on beside its branches; where these leave no room, cut.

    >>> [line.plain for line in branched(["├─ a: one two three four", "└─ b"], 20)]
    ['├─ a: one two', '│    three four', '└─ b']
    """
    for line in lines:
        branches = line[: len(line) - len(line.lstrip("│├└─ "))]
        below = branches.translate({ord("├"): "│", ord("└"): " ", ord("─"): " "}) + " " * _HANGING
        room = (_UNLIMITED if width is None else width) - len(below)
        if width is None or cell_len(line) <= width or room < _LEAST_TEXT:
            yield _tree_line(line, _UNLIMITED if width is None else width)
            continue
        whole = _tree_line(line, _UNLIMITED)
        head, body = whole[: len(branches)], whole[len(branches) :]
        for number, part in enumerate(body.wrap(Console(file=StringIO()), room, overflow="fold")):
            part.rstrip()
            yield Text.assemble(Text(below, "show.branches") if number else head, part, no_wrap=True, overflow="ignore")


def meanings(pairs: Iterable[tuple[str, str]], indent: int = 0) -> Table:
    """Return terms with their meanings beside them."""
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    grid.add_column(no_wrap=True, style="show.heading")
    grid.add_column(overflow="fold")
    for term, meaning in pairs:
        grid.add_row(Text(" " * indent + term), Text(meaning))
    return grid


@dataclass(frozen=True)
class ScreenColumn:
    """A column of a table.

    Args:
        heading: A line break in it starts its second line.
        is_text: Whether its cells are texts, which stand left and may be cut at their end, and no figures.
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
    """A table, and the names of the columns that had no room in it."""

    drawn: Table
    left_out: tuple[str, ...] = ()


def screen_table(
    columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], width: int | None, *, rule: bool = False
) -> ScreenTable:
    """Return a table, a line per row, as wide as it needs; rich narrows columns of texts where it is wider."""
    shown = list(range(len(columns)))
    while width is not None and _least(columns, rows, shown) > width and any(columns[k].rank for k in shown):
        shown.remove(max(shown, key=lambda k: columns[k].rank))
    frame = box.SIMPLE_HEAD if rule else None  # whose dividers are a cell of the gap
    drawn = Table(box=frame, pad_edge=False, padding=(0, _GAP - rule, 0, 0), show_edge=False)
    drawn.header_style, drawn.border_style = "show.heading", "show.branches"
    for k in shown:
        is_text = columns[k].is_text
        side: Literal["left", "right"] = "left" if is_text else "right"
        drawn.add_column(Text(columns[k].heading, justify=side), justify=side, no_wrap=not is_text, vertical="bottom")
    for row in rows:
        drawn.add_row(*(Text(row[k], no_wrap=True, overflow="ellipsis") for k in shown))
    return ScreenTable(drawn, tuple(columns[k].name for k in range(len(columns)) if k not in shown))


def _least(columns: Sequence[ScreenColumn], rows: Sequence[Sequence[str]], shown: Sequence[int]) -> int:
    """Return how wide a table is when its texts are cut."""
    wide = {k: max(map(cell_len, [*columns[k].heading.split("\n"), *(row[k] for row in rows)])) for k in shown}
    return sum(min(w, _LEAST_TEXT) if columns[k].is_text else w for k, w in wide.items()) + _GAP * (len(shown) - 1)
