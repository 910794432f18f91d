"""How many examples a property has: by default a part, under `--all` as many as its test says."""

from hypothesis import settings

FULL = "full"
_PART = 4
_LEAST = 5


def at_most(number: int) -> int:
    """Return how many of this number of examples to try."""
    part = settings().max_examples < settings.get_profile(FULL).max_examples
    return max(_LEAST, number // _PART) if part else number
