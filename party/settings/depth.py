"""The most splits of a path in text: a number, or "any"."""

from party.settings.toml import Section
from protocols.errors import InputError
from protocols.terms import MOST_DEPTH

ANY = "any"
USUAL_DEPTH = 5  # of a job that reveals counts: dot products are paid per path
USUAL_TREE_DEPTH = 4  # of one that reveals the tree alone, which is an answer about people


def read_depth(section: Section, default: int | str = ANY) -> int | None:
    """Return the depth that a settings file asks for or allows; the default if it says none.

    Raises:
        ConfigError: The value is no depth.
    """
    value = section.raw("max_depth", default)
    if value == ANY:
        return None
    if type(value) is not int or not 1 <= value <= MOST_DEPTH:
        raise section.error("max_depth", f'must be an integer from 1 to {MOST_DEPTH}, or "{ANY}"')
    return value


def parse_depth(text: str) -> int | None:
    """Return the depth that a word names.

    Raises:
        InputError: It does not name one.

    >>> parse_depth("any"), parse_depth("3")
    (None, 3)
    """
    if text == ANY:
        return None
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST_DEPTH)) else 0
    if not 1 <= number <= MOST_DEPTH:
        raise InputError(f'must be an integer from 1 to {MOST_DEPTH}, or "{ANY}"', field="max_depth")
    return number


def depth_text(depth: int | None) -> str:
    """Return the depth as people write it.

    >>> depth_text(None), depth_text(3)
    ('any', '3')
    """
    return ANY if depth is None else str(depth)
