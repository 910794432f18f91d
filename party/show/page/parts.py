"""What a page is made of, whatever it shows: sections of sentences, pairs, tables and drawings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt
from pathlib import Path
from typing import ClassVar

from jinja2 import Environment, FunctionLoader, StrictUndefined

from party.show.layout import ScreenColumn
from protocols.errors import InputError


@dataclass(frozen=True)
class Sentences:
    """Sentences, each from a new line; the blanks that one starts with set it in."""

    kind: ClassVar = "sentences"
    lines: Sequence[str]

    @property
    def indented(self) -> list[tuple[int, str]]:
        """How many blanks each starts with, and the rest."""
        return [(len(line) - len(line.lstrip()), line.strip()) for line in self.lines]


@dataclass(frozen=True)
class Pairs:
    """Names, and what is shown of each."""

    kind: ClassVar = "pairs"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Grid:
    """A table, each row headed by its first cell.

    Args:
        columns: What stands in each; those of a rank above 2 are not for a phone.
        rows: Of as many cells each.
        bars: Of each row how long a bar stands below its head, the longest has 1; none if not given.
        title: What it is of, where a section has several.
    """

    kind: ClassVar = "grid"
    columns: Sequence[ScreenColumn]
    rows: Sequence[Sequence[str]]
    bars: Sequence[float] = ()
    title: str = ""


@dataclass(frozen=True)
class Drawing:
    """A picture, as wide as it needs.

    Args:
        label: What it shows, for people who cannot see it.
        svg: The picture.
        lines: The same as text; none where another part of the section shows it.
    """

    kind: ClassVar = "drawing"
    label: str
    svg: str
    lines: Sequence[str] = ()


PagePart = Sentences | Pairs | Grid | Drawing


@dataclass(frozen=True)
class PageSection:
    """Parts under one heading."""

    name: str
    heading: str
    parts: Sequence[PagePart]


@dataclass(frozen=True)
class Document:
    """Sections under one title."""

    title: str
    sections: Sequence[PageSection]


_MARKED = re.compile(r"[\\`*_\[\]<>|#&~$@]|:(?=//)|(?<=www)\.")


def render(template: str, words: dict[str, object]) -> str:
    """Return a template of this room filled with words."""
    return _environment().get_template(template).render(words)


def render_markdown(template: str, words: dict[str, object]) -> str:
    """Return a Markdown template filled with words: none of them can make a link, a tag, a heading or a list."""
    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=False,  # noqa: S701  # what Markdown would read is escaped by `finalize`
        finalize=_plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(words)


def _plain(value: object) -> object:
    """Return a text with a backslash before whatever Markdown reads as its own; what is marked safe stays as it is."""
    return value if hasattr(value, "__html__") else _MARKED.sub(r"\\\g<0>", str(value))


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_file(name: str) -> str:
    """Return the text of a file of this room."""
    return files("party.show.page").joinpath("files", name).read_text("utf-8")


_MARKDOWN = (".md", ".markdown")
PAGES = (".html", ".htm", *_MARKDOWN)
"""How the names of pages may end."""


def as_html(page: Document) -> str:
    """Return a page as one HTML file."""
    return render("page.html", {"page": page, "style": page_file("page.css")})


def as_markdown(page: Document) -> str:
    """Return a page as Markdown, for a ticket or a wiki: drawings as text, names as plain text whatever they hold."""
    return render_markdown("page.md", {"page": page})


def is_markdown(path: Path) -> bool:
    """Tell whether a page's name asks for Markdown."""
    return path.suffix.lower() in _MARKDOWN


def written(page: Document, path: Path) -> str:
    """Return a page in the form that its file's name asks for."""
    return as_markdown(page) if is_markdown(path) else as_html(page)


def page_written(path: Path) -> str:
    """Say where a page is."""
    return f"Wrote {path}" if is_markdown(path) else f"Wrote {path}: any browser opens it"


_ZOOM, _LEAST_ZOOM = 2.0, 0.5
_MOST_PIXELS = 32_000_000  # four bytes each, while it is drawn


def png_of(svg: str) -> bytes:
    """Return a drawing in SVG as PNG on white, twice as large, as screens of many dots want it; a huge one smaller."""
    try:
        import resvg_py  # noqa: PLC0415  # an extra: only who wants images needs it
    except ImportError:
        raise InputError("images need resvg: pip install '.[png]' in cotally's clone, or draw by --svg") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white", zoom=_zoom(svg)))


def _zoom(svg: str) -> float:
    width, height = (int(number) for number in re.findall(r' (?:width|height)="(\d+)"', svg.partition(">")[0]))
    zoom = min(_ZOOM, sqrt(_MOST_PIXELS / (width * height)))
    if zoom < _LEAST_ZOOM:
        raise InputError(f"{width} x {height} is too large for an image: leave levels out (--levels), or use --svg")
    return zoom
