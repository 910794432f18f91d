"""What a page is made of, whatever it tells of: sections of sentences, pairs, tables and drawings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from party.show.layout import ScreenColumn


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
    """Names, and what is to be told of each."""

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
        label: What it shows, for whoever cannot see it.
        svg: The picture.
        lines: The same as text; none where another part of the section tells it.
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
