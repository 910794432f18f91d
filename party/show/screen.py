"""What people read on a terminal, at most as wide as it is; a file or a program gets each sentence in one line."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from party.records.json_codec import to_json
from party.show.document import USUAL_WIDTH, Block, Sentence, rendered

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


def has_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in {None, "", "dumb"}


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Let nothing be noted for as long as the context lasts."""
    token = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(token)


def is_quiet() -> bool:
    return _QUIET.get()


_HELD: list[Block] = []


def hold(block: Block) -> None:
    """Note it before the next thing that is said, unless that is an error: one stands alone."""
    if not is_quiet():
        _HELD.append(block)


def release(*, drop: bool = False) -> None:
    held = _HELD.copy()
    _HELD.clear()
    note_all([] if drop else held)


def say(block: Block, stream: TextIO | None = None) -> None:
    """Print a sentence, on a terminal laid out by words and elsewhere in one line, or what is laid out anyway."""
    release()
    out = sys.stdout if stream is None else stream
    if isinstance(block, str):
        width = drawing_width(out)
        text = f"{block}\n" if width is None else _for(out, [Sentence(block, cut=False)], width)
    else:
        text = _for(out, [block], columns(out))
    out.write(text)
    out.flush()


def say_all(blocks: Iterable[Block], stream: TextIO | None = None) -> None:
    for block in blocks:
        say(block, stream)


def note(block: Block) -> None:
    """Say what is no result, on the standard error."""
    if not is_quiet():
        say(block, sys.stderr)


def note_all(blocks: Iterable[Block]) -> None:
    for block in blocks:
        note(block)


def lay_out(blocks: Iterable[Block], width: int | None) -> None:
    """Print a report, whose sentences are laid out in files too; None for lines as wide as they need."""
    release()
    for block in blocks:
        text = _for(sys.stdout, [block], width)
        sys.stdout.writelines(text.splitlines(keepends=True))  # Python misses a reader that leaves within one write


def put(text: str) -> None:
    release()
    sys.stdout.write(f"{text}\n")


def put_json(content: Mapping[str, object]) -> None:
    """Print a result for programs, whose `format` says what it is: every command does it this way (`--json`)."""
    put(json_text(content))


def json_text(content: Mapping[str, object]) -> str:
    return json.dumps(to_json(content), indent=1, ensure_ascii=False, allow_nan=False)


def _for(stream: TextIO, blocks: Iterable[Block], width: int | None) -> str:
    return rendered(blocks, width, styled=has_colours(stream))
