"""Coins, made once: a deterministic function of the owner's secret, data set, record and group (DESIGN 4.6, FAULTS B1).

Asking for the disguised copy again, in another run or after a restore, yields the same copy, so nothing can be averaged
away. Two data sets of one owner have unrelated coins.
"""

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from protocols.errors import InputError
from protocols.randomized_response.design import Draw
from protocols.randomized_response.related_question import MAX_ORDER
from protocols.randomness import canonical, keyed_digest, keyed_uniforms


def keyed_draw(secret: bytes, dataset: str, records: Sequence[str]) -> Draw:
    """Return draws that depend on these arguments and nothing else."""
    labels = [canonical(record.encode()) for record in records]

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally coin", dataset.encode(), purpose)
        uniforms = keyed_uniforms(key, labels, bound)
        return np.fromiter(uniforms, dtype=np.int64, count=len(records))

    return draw


def compared_draw(secret: bytes, dataset: str, records: int) -> Draw:
    """Return draws, in bulk, for a copy that never leaves: 64 bits modulo the bound, nearly uniform."""

    def draw(purpose: bytes, bound: int) -> NDArray[np.int64]:
        key = keyed_digest(secret, b"cotally compared copy", dataset.encode(), purpose)
        words = np.frombuffer(hashlib.shake_256(key).digest(8 * records), dtype="<u8")
        return (words % np.uint64(bound)).astype(np.int64)

    return draw


def default_groups(sizes: Sequence[int], groups: int, plain: Sequence[int] = ()) -> tuple[tuple[int, ...], ...]:
    """Spread columns over at most `groups` groups, equal domain sizes together (DESIGN 4.3).

    Starts with one group per domain size. While there are too many, joins the two that add the fewest coin patterns, if
    possible without passing the limit of offsets; while there are too few, halves the largest.
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
