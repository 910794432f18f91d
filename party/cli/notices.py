"""What the user should know, on the standard error, a line each."""

import sys
from collections.abc import Iterable

from party.names import printable


def tell(notices: Iterable[str]) -> None:
    """Print notices; what cannot be printed of a name is written as escapes."""
    for notice in notices:
        print(f"cotally: note: {printable(notice)}", file=sys.stderr, flush=True)
