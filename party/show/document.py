"""What every report is made of, and how a screen shows it, by rich: sentences, pairs, tables, drawings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import ClassVar, Literal

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
    highlights = (r"^(?P<branches>[│├└─ ]+)", r"→ (?P<leaf>.+) \[[^][]*\]", r" (?P<counts>\[[^][]*\])(?: …| \(\?\))*$")


_SENTENCES, _TREES = _Sentences(), _Trees()


@dataclass(frozen=True)
class Sentence:
    """A text broken between words, lines after the first hanging; the blanks that it starts with indent all.

    With `cut` words too long for a line are broken: not for paths, which are copied.
    """

    text: str
    cut: bool = True
    hanging: int = _HANGING

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 run`, `1,200 runs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def laid_out(blocks: Iterable[Block], width: int | None = USUAL_WIDTH) -> list[str]:
    return rendered(blocks, width).split("\n")[:-1]


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines, broken between words alone and none set in; a word that no line can hold has its own.

    >>> wrapped("a sure 5% of them", 8)
    ['a sure', '5% of', 'them']
    """
    return laid_out([Sentence(text, cut=False, hanging=0)], width)


@dataclass(frozen=True)
class CutLines:
    """Lines of a drawing, whose places matter, cut where they are too long; a last line counts the cut ones."""

    lines: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from (_tree_line(line, options.max_width) for line in self.lines)
        if cut := sum(cell_len(line) > options.max_width for line in self.lines):
            yield Text(f"{counted(cut, 'line')} cut at the width of the screen")


def _tree_line(line: str, width: int) -> Text:
    text = Text(line, no_wrap=True, overflow="ignore")
    _TREES.highlight(text)
    text.truncate(width, overflow="ellipsis")
    return text


@dataclass(frozen=True)
class Branches:
    """The lines of a tree: those that are too long go on beside its branches; where these leave no room, they are cut.

    >>> laid_out([Branches(["├─ a: one two three four", "└─ b"])], 20)
    ['├─ a: one two', '│    three four', '└─ b']
    """

    lines: Iterable[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width
        for line in self.lines:
            branches = line[: len(line) - len(line.lstrip("│├└─ "))]
            below = branches.translate({ord("├"): "│", ord("└"): " ", ord("─"): " "}) + " " * _HANGING
            room = width - len(below)
            if cell_len(line) <= width or room < _LEAST_TEXT:
                yield _tree_line(line, width)
                continue
            whole = _tree_line(line, _UNLIMITED)
            head, body = whole[: len(branches)], whole[len(branches) :]
            for number, part in enumerate(body.wrap(Console(file=StringIO()), room, overflow="fold")):
                part.rstrip()
                start = Text(below, "show.branches") if number else head
                yield Text.assemble(start, part, no_wrap=True, overflow="ignore")


@dataclass(frozen=True)
class ScreenColumn:
    """A column of a table: of figures, or of texts, which stand left and may be cut at their end.

    Of columns that have no room, the one of the highest rank is left out first; one of rank 0 never is.
    """

    heading: str
    is_text: bool = False
    rank: int = 0

    @property
    def name(self) -> str:
        """The heading in one line."""
        return self.heading.replace("-\n", "-").replace("\n", " ")


def headed(*headings: str | ScreenColumn) -> list[ScreenColumn]:
    """Return columns: a heading with a `<` in front is of texts, one of a rank ends with `:` and the rank.

    A heading that holds a name from data must be given as a column, since a name may hold such marks too.

    >>> headed("<rule", "lift:1", ScreenColumn("is a:1"))[1:]
    [ScreenColumn(heading='lift', is_text=False, rank=1), ScreenColumn(heading='is a:1', is_text=False, rank=0)]
    """
    return [each if isinstance(each, ScreenColumn) else _marked(each) for each in headings]


def _marked(heading: str) -> ScreenColumn:
    name, _, rank = heading.partition(":")
    return ScreenColumn(name.removeprefix("<"), name.startswith("<"), int(rank or 0))


@dataclass(frozen=True)
class Grid:
    """A table, a line per row, each headed by its first cell; columns of texts are narrowed where it is too wide.

    On a page, columns of a rank above 2 are not for a phone, `bars` has the length of each row's bar, the longest 1,
    and a title stands above. `rule` draws a line below the headings. The names of columns that have no room are listed,
    with `left_out_suffix`, or if it `folds` they stand in a further table beside the first column again.
    """

    kind: ClassVar = "grid"
    columns: Sequence[ScreenColumn]
    rows: Sequence[Sequence[str]]
    bars: Sequence[float] = ()
    title: str = ""
    rule: bool = False
    left_out_suffix: str = ""
    folds: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        if self.folds:
            for first, last in self._groups(options.max_width):
                yield self._drawn([0, *range(first, last)])
            return
        left_out = self.left_out(options.max_width)
        yield self._drawn([k for k in range(len(self.columns)) if k not in left_out])
        if left_out:
            names = ", ".join(self.columns[k].name for k in left_out)
            yield Sentence(f"Left out, as the screen is too narrow: {names}{self.left_out_suffix}.")

    def left_out(self, width: int) -> list[int]:
        """Return the columns that have no room on a screen."""
        shown = list(range(len(self.columns)))
        while self._least_width(shown) > width and any(self.columns[k].rank for k in shown):
            shown.remove(max(shown, key=lambda k: self.columns[k].rank))
        return [k for k in range(len(self.columns)) if k not in shown]

    def _drawn(self, shown: Sequence[int]) -> Table:
        frame = box.SIMPLE_HEAD if self.rule else None  # whose dividers are a cell of the gap
        drawn = Table(box=frame, pad_edge=False, padding=(0, _GAP - self.rule, 0, 0), show_edge=False)
        drawn.header_style, drawn.border_style = "show.heading", "show.branches"
        for k in shown:
            is_text = self.columns[k].is_text
            side: Literal["left", "right"] = "left" if is_text else "right"
            head = Text(self.columns[k].heading, justify=side)
            drawn.add_column(head, justify=side, no_wrap=not is_text, vertical="bottom")
        for row in self.rows:
            drawn.add_row(*(Text(row[k], no_wrap=True, overflow="ellipsis") for k in shown))
        return drawn

    def _width(self, k: int) -> int:
        return max(map(cell_len, [*self.columns[k].heading.split("\n"), *(row[k] for row in self.rows)]))

    def _least_width(self, shown: Sequence[int]) -> int:
        """Return how wide the table is when its texts are cut."""
        wide = ((self._width(k), self.columns[k].is_text) for k in shown)
        return sum(min(w, _LEAST_TEXT) if is_text else w for w, is_text in wide) + _GAP * (len(shown) - 1)

    def _groups(self, width: int) -> Iterator[tuple[int, int]]:
        """Yield the columns, by the first and the one after the last, that have room beside the first of all."""
        left = min(self._width(0), width // 2)
        first, used = 1, left
        number = max((cell_len(cell) for row in self.rows for cell in row[1:]), default=0)
        for k in range(1, len(self.columns)):
            wide = max(cell_len(self.columns[k].heading), number) + _GAP
            if k > first and used + wide > width:
                yield first, k
                first, used = k, left
            used += wide
        yield first, len(self.columns)


@dataclass(frozen=True)
class Pairs:
    """Names with what is shown beside each; names of columns that table `of` leaves out are left out too."""

    kind: ClassVar = "pairs"
    rows: Sequence[tuple[str, str]]
    indent: int = 0
    of: Grid | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        gone = [] if self.of is None else [self.of.columns[k].name for k in self.of.left_out(options.max_width)]
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        grid.add_column(no_wrap=True, style="show.heading")
        grid.add_column(overflow="fold")
        for term, meaning in self.rows:
            if not any(name.startswith(term) for name in gone):
                grid.add_row(Text(" " * self.indent + term), Text(meaning))
        yield grid


@dataclass(frozen=True)
class Drawing:
    """A picture on a page, as wide as it needs, with a note; its lines on a screen, where no other part shows them."""

    kind: ClassVar = "drawing"
    label: str
    svg: str
    lines: Sequence[str] = ()
    note: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Branches]:
        yield Branches(self.lines)


ReportPart = str | Pairs | Grid | Drawing
"""Of a document: a string, indented by its blanks at the start (an empty one separates paragraphs), or one of these."""


@dataclass(frozen=True)
class PageSection:
    """Parts under one heading."""

    name: str
    heading: str
    parts: Sequence[ReportPart]


@dataclass(frozen=True)
class Document:
    """Sections under one title: as HTML or Markdown by `party.show.page.parts`, on a screen by its parts."""

    title: str
    sections: Sequence[PageSection]

    @property
    def parts(self) -> list[ReportPart]:
        """What a screen shows of it: each heading above what stands below it."""
        return [part for each in self.sections for part in ("", f"{each.heading}:", *each.parts)][1:]
