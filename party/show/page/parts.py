"""A document as HTML and as Markdown, and drawings as images."""

import base64
import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import groupby
from math import sqrt
from pathlib import Path

from jinja2 import Environment, FunctionLoader, StrictUndefined

from party.show.document import Document, ReportPart
from protocols.errors import InputError

_MARKED = re.compile(r"[\\`*_\[\]<>|#&~$@]|:(?=//)|(?<=www)\.")


def render(template: str, words: dict[str, object], *, markdown: bool = False) -> str:
    """Return a template filled with words; in Markdown none of them can make a link, a tag, a heading or a list."""
    return _environment(markdown).get_template(template).render(words)


def _plain(value: object) -> object:
    """Return a text with a backslash before whatever Markdown reads as its own; what is marked safe stays as it is."""
    return value if hasattr(value, "__html__") else _MARKED.sub(r"\\\g<0>", str(value))


@cache
def _environment(markdown: bool) -> Environment:
    return Environment(
        loader=FunctionLoader(page_file),
        autoescape=not markdown,  # noqa: S701  # what Markdown would read is escaped by `finalize`
        finalize=_plain if markdown else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=markdown,
    )


def page_file(name: str) -> str:
    return files("party.show.page").joinpath("files", name).read_text("utf-8")


_MARKDOWN = (".md", ".markdown")
_PAGES = (".html", ".htm", *_MARKDOWN)


def check_page_name(option: str, path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in _PAGES:
        raise InputError(f"{option} {path} must end in one of {', '.join(_PAGES)}")


def as_html(page: Document, refresh: int | None = None) -> str:
    """Return a page as one HTML file; a browser loads it again after this many seconds, if any are given."""
    return render(
        "page.html",
        {"page": page, "refresh": refresh, "paragraphs": _paragraphs, "style": _style(), "source": style_source()},
    )


@cache
def _style() -> str:
    return page_file("page.css")


@cache
def style_source() -> str:
    """Return what the policy of a page calls its one style: the hash of it."""
    return f"'sha256-{base64.b64encode(sha256(_style().encode()).digest()).decode()}'"


def as_markdown(page: Document) -> str:
    """Return a page as Markdown: drawings as text or else images, names as plain text whatever they hold."""
    return render("page.md", {"page": page, "paragraphs": _paragraphs, "image": _image}, markdown=True)


def _image(svg: str) -> str:
    alone = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return f"data:image/svg+xml;base64,{base64.b64encode(alone.encode()).decode()}"


def _paragraphs(parts: Sequence[ReportPart]) -> Iterator[ReportPart | list[tuple[int, str]]]:
    """Yield the parts of a section, sentences that follow each other as one: how far each is set in, and the rest."""
    for is_text, found in groupby(parts, lambda part: part if part == "" else isinstance(part, str)):
        if is_text is True:
            yield [(len(line) - len(line.lstrip()), line.strip()) for line in map(str, found)]
        elif is_text is False:
            yield from found


def is_markdown(path: Path) -> bool:
    return path.suffix.lower() in _MARKDOWN


def written(page: Document, path: Path) -> str:
    return as_markdown(page) if is_markdown(path) else as_html(page)


def page_written(path: Path) -> str:
    return f"Wrote {path}" if is_markdown(path) else f"Wrote {path}: any browser opens it"


_ZOOM, _LEAST_ZOOM = 2.0, 0.5
_MOST_PIXELS = 32_000_000  # four bytes each, while it is drawn


def png_of(svg: str) -> bytes:
    """Return a drawing in SVG as PNG on white, twice as large, as screens of many dots want it; a huge one smaller."""
    try:
        import resvg_py  # noqa: PLC0415  # an extra: only who wants images needs it
    except ImportError:
        raise InputError("images need resvg: pip install '.[png]' in cotally's clone, or draw by --svg") from None
    width, height = (int(number) for number in re.findall(r' (?:width|height)="(\d+)"', svg.partition(">")[0]))
    zoom = min(_ZOOM, sqrt(_MOST_PIXELS / (width * height)))
    if zoom < _LEAST_ZOOM:
        raise InputError(f"{width} x {height} is too large for an image: leave levels out (--levels), or use --svg")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, background="white", zoom=zoom))
