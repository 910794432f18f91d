"""What the data sets are called."""

from typing import Final

NAMES: Final = ("tic-tac-toe", "votes", "breast-cancer", "mushroom", "adult")
