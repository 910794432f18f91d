"""The window in text: a number of candidates, or "all"."""

from party.settings.toml import Section
from protocols.errors import InputError
from protocols.terms import ALL, MOST_WINDOW, WINDOWS, Window, is_window

_ALL_TEXT = "all"


def read_window(section: Section, default: int | str) -> Window:
    """Return the window that a settings file asks for.

    Raises:
        ConfigError: The value is not a window.
    """
    value = section.raw("omega", default)
    if value == _ALL_TEXT:
        return ALL
    if not is_window(value):
        raise section.error("omega", f"must be {WINDOWS}")
    return int(value)


def parse_window(text: str) -> Window:
    """Return the window that a word names.

    Raises:
        InputError: It does not name one.

    >>> parse_window("all"), parse_window("3")
    (None, 3)
    """
    if text == _ALL_TEXT:
        return ALL
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST_WINDOW)) else 0
    if not is_window(number):
        raise InputError(f"must be {WINDOWS}", field="omega")
    return number


def window_text(window: Window) -> str:
    """Return the window as people write it.

    >>> window_text(ALL), window_text(3)
    ('all', '3')
    """
    return _ALL_TEXT if window is ALL else str(window)
