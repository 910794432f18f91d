"""How much of a large claim is tried: by default a part, under `--all` as much as its test says."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

FULL = "full"
_PART = 8
_LEAST = 3
T = TypeVar("T")


def at_most(number: int, least: int = _LEAST) -> int:
    """Return how many of this number of examples of a property to try."""
    return max(least, number // _PART) if _in_part() else number


def few(cases: Sequence[T], every: int) -> Sequence[T]:
    """Return the first of every few of these cases, or under `--all` each of them."""
    return cases[::every] if _in_part() else cases


def _in_part() -> bool:
    return settings().max_examples < settings.get_profile(FULL).max_examples
