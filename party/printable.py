"""Names and values come from files: nothing unprintable of them may reach a terminal."""


def printable(text: str) -> str:
    r"""Return a text whose unprintable characters are written as escapes.

    >>> printable("a\x1b[2J")
    'a\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
