"""Which columns share a coin where nobody says so (DESIGN 4.3)."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from protocols.errors import InputError
from protocols.randomized_response.related_question import MAX_ORDER


def default_groups(sizes: Sequence[int], groups: int, plain: Sequence[int] = ()) -> tuple[tuple[int, ...], ...]:
    """Spread columns over at most `groups` groups, equal domain sizes together (DESIGN 4.3).

    Starts with one group per domain size. While there are too many, joins the two that add the fewest coin patterns, if
    possible without passing the limit of offsets; while there are too few, halves the largest.

    Raises:
        InputError: `groups` is below 1.
    """
    if groups < 1:
        raise InputError("the number of groups must be 1 or more")
    columns = [c for c in range(len(sizes)) if c not in set(plain)]
    parts = [[c for c in columns if sizes[c] == size] for size in sorted({sizes[c] for c in columns})]
    while len(parts) > groups:
        _join_cheapest(parts, sizes)
    while len(parts) < groups and any(len(part) > 1 for part in parts):
        largest = max(parts, key=len)
        parts.remove(largest)
        half = (len(largest) + 1) // 2
        parts += [largest[:half], largest[half:]]
    return tuple(sorted(tuple(sorted(part)) for part in parts))


def _join_cheapest(parts: list[list[int]], sizes: Sequence[int]) -> None:
    def cost(pair: tuple[int, int]) -> tuple[bool, Fraction, int]:
        left, right = (lcm(*(sizes[c] for c in parts[i])) for i in pair)
        joint = lcm(left, right)
        return joint > MAX_ORDER, Fraction(joint, left * right), sum(len(parts[i]) for i in pair)

    pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    i, j = min(pairs, key=cost)
    parts[i] += parts.pop(j)
