"""Five public data sets, for a first run without data of one's own; their sources are in `ATTRIBUTION.md`."""

from typing import Final

NAMES: Final = ("tic-tac-toe", "votes", "breast-cancer", "mushroom", "adult")
"""What they are called."""
