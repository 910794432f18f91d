"""How `--help` is laid out: at most as wide as the terminal, and broken between words alone."""

import argparse
import textwrap
from itertools import groupby

from party.show.layout import wrapped
from party.show.screen import columns


class HelpFormatter(argparse.HelpFormatter):
    """Lays out the paragraphs of a command's docstring; lines that are indented there stay as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns())

    def format_help(self) -> str:
        """Return the help; what argparse leaves too long, an option's many choices, goes on in another line."""
        lines = super().format_help().split("\n")
        return "\n".join(part for line in lines for part in wrapped(line, self._width))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join("\n".join(_laid_out(paragraph, indent, width)) for paragraph in paragraphs)


def _laid_out(paragraph: str, indent: str, width: int) -> list[str]:
    laid: list[str] = []
    for is_kept, group in groupby(paragraph.split("\n"), lambda line: line.startswith(" ")):
        lines = list(group)
        laid += [indent + line for line in lines] if is_kept else wrapped(indent + " ".join(lines), width)
    return laid
