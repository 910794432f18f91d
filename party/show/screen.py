"""What people read on a terminal, at most as wide as it is; a file or a program gets each sentence in one line."""

import os
import sys
from collections.abc import Iterable
from typing import TextIO

from party.show.layout import USUAL_WIDTH, wrapped

_NARROWEST = 20


def columns(stream: TextIO | None = None) -> int:
    """Return the width for what is laid out on a stream: that of its terminal, as `COLUMNS` says, or the usual one."""
    wish = os.environ.get("COLUMNS", "")
    if wish.isascii() and wish.isdigit() and 0 < len(wish) < 6 and int(wish):
        return max(int(wish), _NARROWEST)
    try:
        found = os.get_terminal_size((sys.stdout if stream is None else stream).fileno()).columns
    except (OSError, ValueError):
        found = 0
    return max(found or USUAL_WIDTH, _NARROWEST)


def drawing_width(stream: TextIO | None = None) -> int | None:
    """Return the width of a drawing, whose lines go whole into a file or to a program: that of a terminal, or None."""
    out = sys.stdout if stream is None else stream
    return columns(out) if out.isatty() else None


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a sentence: on a terminal laid out by words."""
    out = sys.stdout if stream is None else stream
    lines = wrapped(text, columns(out), cut=False) if out.isatty() else [text]
    print("\n".join(lines), file=out, flush=True)


def put(lines: Iterable[str]) -> None:
    """Print lines that are laid out already."""
    for line in lines:
        print(line, file=sys.stdout)


def say_all(sentences: Iterable[str], stream: TextIO | None = None) -> None:
    """Print sentences, each from a new line."""
    for sentence in sentences:
        say(sentence, stream)
