"""What sentences on a design name: columns, values, groups, and lists of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_YEARS = re.compile(
    r"<= (?P<upto>\d{4})-12-31|> (?P<after>\d{4})-12-31|\((?P<before>\d{4})-12-31, (?P<last>\d{4})-12-31\]", re.ASCII
)


@dataclass(frozen=True)
class Names:
    """What readers call the columns, their values and the groups of a design, each in its order."""

    columns: Sequence[str]
    values: Sequence[Sequence[str]]
    groups: Sequence[str]


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


def years_text(value: str) -> str:
    """Write a bin of whole years as people do, and any other value as it is.

    >>> years_text("(1990-12-31, 1991-12-31]"), years_text("(1990-12-31, 1993-12-31]")
    ('1991', '1991 to 1993')
    >>> years_text("<= 1990-12-31"), years_text("> 1998-12-31"), years_text("> 40")
    ('up to 1990', 'from 1999', '> 40')
    """
    match = _YEARS.fullmatch(value)
    if match is None:
        return value
    last, first = match["upto"] or match["last"], str(int(match["after"] or match["before"] or 0) + 1)
    if match["upto"]:
        return f"up to {last}"
    return f"from {first}" if match["after"] else first if first == last else f"{first} to {last}"
