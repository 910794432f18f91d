"""Text that fits a terminal: wrapped sentences, tables, lists of names, and the names that they tell of."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from protocols.errors import InputError

WIDTH = 100

_KEPT = "\N{NO-BREAK SPACE}%"


@dataclass(frozen=True)
class Names:
    """What readers call the columns, their values and the groups of a design, each in its order."""

    columns: Sequence[str]
    values: Sequence[Sequence[str]]
    groups: Sequence[str]


def group_names(given: Sequence[str] | None, groups: int) -> tuple[str, ...]:
    """Return the names of groups, "group 1" and so on if none are given.

    Raises:
        InputError: They are not as many as the groups.
    """
    if given is None:
        return tuple(f"group {number + 1}" for number in range(groups))
    if len(given) != groups:
        raise InputError(f"the design has {groups} groups, but {len(given)} names for them")
    return tuple(given)


def titled(name: str) -> str:
    """Return a group's name as a sentence tells it.

    >>> titled("work"), titled("group 1")
    ('group work', 'group 1')
    """
    return name if name.startswith("group ") else f"group {name}"


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return a text in lines of at most `WIDTH` characters, those after the first two further in; "5 %" is one word."""
    lines = textwrap.wrap(
        text.replace(" %", _KEPT),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " %") for line in lines]


def table(rows: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Return rows as lines, the first being the headings; texts stand left, figures right.

    Args:
        rows: Cells; a line break in a heading starts its second line.
        widths: Of the leading columns, which hold texts, the width at which these go on in another line.
    """
    places = range(len(rows[0]))
    split = [[_split(cell, widths[k] if k < len(widths) else WIDTH) for k, cell in enumerate(row)] for row in rows]
    wide = [max(len(line) for row in split for line in row[k]) for k in places]
    lines = []
    for number, row in enumerate(split):
        height = max(map(len, row))
        for level in range(height):
            shown = [_line(part, level - (height - len(part) if number == 0 else 0)) for part in row]
            cells = [shown[k].ljust(wide[k]) if k < len(widths) else shown[k].rjust(wide[k]) for k in places]
            lines.append("  ".join(cells).rstrip())
    return lines


def _split(cell: str, width: int) -> list[str]:
    return [line for part in cell.split("\n") for line in textwrap.wrap(part, width, break_on_hyphens=False)]


def _line(lines: Sequence[str], level: int) -> str:
    return lines[level] if 0 <= level < len(lines) else ""
