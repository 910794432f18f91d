"""What sentences on a design name: columns, values, groups, and lists of them."""

from collections.abc import Sequence
from dataclasses import dataclass


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
