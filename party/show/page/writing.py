"""A page written out: one HTML file, which asks for no other and runs no script, or the same as Markdown."""

from pathlib import Path

from party.show.page.parts import Document
from party.show.page.templates import page_file, render, render_markdown

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
